// SPDX-License-Identifier: GPL-2.0
#include "here.h"

#include <linux/errno.h>
#include <linux/string.h>

#include "msg.h"
#include "text.h"

/**
 * rcl_here_room - how many regions does a message have room for?
 * @bytes: of the message
 *
 * Return: the number.
 */
u32 rcl_here_room(u32 bytes)
{
	u32 n = bytes < RCL_HERE_HEAD ? 0 :
		(bytes - RCL_HERE_HEAD) / RCL_HERE_REGION;

	return n < RCL_HERE_REGIONS ? n : RCL_HERE_REGIONS;
}

/**
 * rcl_here_encode - write a message before it is sealed
 * @buf: has room for it
 * @here: what is said
 *
 * Return: the length in bytes.
 */
u32 rcl_here_encode(u8 *buf, const struct rcl_here *here)
{
	u8 *p = buf + RCL_HERE_HEAD;
	u32 i;

	rcl_text_begin(buf, RCL_TEXT_HERE);
	rcl_msg_put(buf + 4, here->total, 2);
	rcl_msg_put(buf + 6, here->n, 2);
	for (i = 0; i < here->n; i++, p += RCL_HERE_REGION) {
		rcl_msg_put(p, here->region[i].len, 8);
		rcl_msg_put(p + 8, here->region[i].rights, 4);
		memcpy(p + 12, here->region[i].name, RCLINK_DEV_REGION_LEN);
	}
	return p - buf;
}

/**
 * rcl_here_is_name - may a region of this name be told of?
 * @name: RCLINK_DEV_REGION_LEN bytes, of whoever
 *
 * Return: true if it ends, has nothing behind its end, and may be shown on a
 * terminal.
 */
bool rcl_here_is_name(const char *name)
{
	u32 len = strnlen(name, RCLINK_DEV_REGION_LEN);
	u32 i;

	if (!len || len == RCLINK_DEV_REGION_LEN)
		return false;
	for (i = 0; i < RCLINK_DEV_REGION_LEN; i++)
		if (i < len ? name[i] < 0x20 || name[i] >= 0x7f : name[i])
			return false;
	return true;
}

/**
 * rcl_here_decode - read a message after its seal was opened
 * @buf: the message
 * @len: its bytes
 * @here: set
 *
 * Return: 0, or -EBADMSG when anything in it is not as it must be.
 */
int rcl_here_decode(const u8 *buf, u32 len, struct rcl_here *here)
{
	const u8 *p = buf + RCL_HERE_HEAD;
	u32 i;

	if (len < RCL_HERE_HEAD || rcl_text_kind(buf, len) != RCL_TEXT_HERE)
		return -EBADMSG;
	here->total = rcl_msg_get(buf + 4, 2);
	here->n = rcl_msg_get(buf + 6, 2);
	if (here->n > RCL_HERE_REGIONS || here->n > here->total ||
	    len != RCL_HERE_HEAD + here->n * RCL_HERE_REGION)
		return -EBADMSG;
	for (i = 0; i < here->n; i++, p += RCL_HERE_REGION) {
		if (!rcl_here_is_name((const char *)p + 12))
			return -EBADMSG;
		here->region[i].len = rcl_msg_get(p, 8);
		here->region[i].rights = rcl_msg_get(p + 8, 4);
		memcpy(here->region[i].name, p + 12, RCLINK_DEV_REGION_LEN);
	}
	return 0;
}
