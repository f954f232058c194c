// SPDX-License-Identifier: GPL-2.0
#include "text.h"

#include <linux/errno.h>

#define RCL_TEXT_VERSION	2

/**
 * rcl_text_begin - begin a text
 * @buf: RCL_TEXT_HEAD bytes are set
 * @kind: RCL_TEXT_*
 */
void rcl_text_begin(u8 *buf, u8 kind)
{
	buf[0] = RCL_TEXT_VERSION;
	buf[1] = kind;
	buf[2] = 0;
	buf[3] = 0;
}

/**
 * rcl_text_kind - of what kind is a text whose seal was opened?
 * @buf: the text
 * @len: its bytes
 *
 * Return: RCL_TEXT_*, or -EBADMSG when its head is not as it must be.
 */
int rcl_text_kind(const u8 *buf, u32 len)
{
	if (len < RCL_TEXT_HEAD || buf[0] != RCL_TEXT_VERSION || buf[2] ||
	    buf[3] || (buf[1] != RCL_TEXT_HERE && buf[1] != RCL_TEXT_DATA))
		return -EBADMSG;
	return buf[1];
}
