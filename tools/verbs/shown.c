// SPDX-License-Identifier: GPL-2.0
#include "shown.h"

#include <errno.h>

#include "../../kmod/msg.h"
#include "lease.h"

#define HEAD_LEN	24	/* before the keys */
#define KEY_LEN		4
#define KEYS_MAX	109
#define EXTENTS_MAX	4096
#define SHIFT_MIN	12
#define SHIFT_MAX	30

void rcv_shown_put(const struct rcv_shown *shown, uint32_t first,
		   uint8_t *data, struct rcl_msg *answer)
{
	rcl_msg_put(data, shown->addr, 8);
	rcl_msg_put(data + 8, shown->len, 8);
	rcl_msg_put(data + 16, SHIFT_MAX, 4);
	rcl_msg_put(data + 20, shown->rights, 4);
	rcl_msg_put(data + HEAD_LEN, shown->rkey, KEY_LEN);
	answer->len = first ? HEAD_LEN : HEAD_LEN + KEY_LEN;
	answer->data = data;
}

int rcv_shown_get(const struct rcl_msg *msg, struct rcv_shown *shown)
{
	uint64_t extents, rest;
	uint32_t shift;

	if (msg->len < HEAD_LEN + KEY_LEN)
		return -EPROTO;
	shown->addr = rcl_msg_get(msg->data, 8);
	shown->len = rcl_msg_get(msg->data + 8, 8);
	shift = rcl_msg_get(msg->data + 16, 4);
	shown->rights = rcl_msg_get(msg->data + 20, 4);
	shown->rkey = rcl_msg_get(msg->data + HEAD_LEN, KEY_LEN);
	if (!shown->len || shown->addr + shown->len < shown->addr ||
	    shift < SHIFT_MIN || shift > SHIFT_MAX)
		return -EPROTO;
	rest = (1ULL << shift) - (shown->addr & ((1ULL << shift) - 1));
	shown->first = shown->len < rest ? shown->len : rest;
	extents = ((shown->addr + shown->len - 1) >> shift) -
		  (shown->addr >> shift) + 1;
	if (extents > EXTENTS_MAX)
		return -EPROTO;
	if (extents > KEYS_MAX)
		extents = KEYS_MAX;
	return msg->len == HEAD_LEN + extents * KEY_LEN ? 0 : -EPROTO;
}
