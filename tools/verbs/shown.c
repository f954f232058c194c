// SPDX-License-Identifier: GPL-2.0
#include "shown.h"

#include <errno.h>

#include "../../kmod/msg.h"
#include "lease.h"

void rcv_shown_put(const struct rcv_shown *shown, uint32_t first,
		   uint8_t *data, struct rcl_msg *answer)
{
	rcl_msg_put(data, shown->addr, 8);
	rcl_msg_put(data + 8, shown->len, 8);
	rcl_msg_put(data + 16, RCL_EXTENT_SHIFT_MAX, 4);
	rcl_msg_put(data + 20, shown->rights, 4);
	rcl_msg_put(data + RCL_WINDOW_LEN, shown->rkey, RCL_RKEY_LEN);
	answer->len = RCL_WINDOW_LEN + (first ? 0 : RCL_RKEY_LEN);
	answer->data = data;
}

int rcv_shown_get(const struct rcl_msg *msg, struct rcv_shown *shown)
{
	uint64_t extents, rest;
	uint32_t shift;

	if (msg->len < RCL_WINDOW_LEN + RCL_RKEY_LEN)
		return -EPROTO;
	shown->addr = rcl_msg_get(msg->data, 8);
	shown->len = rcl_msg_get(msg->data + 8, 8);
	shift = rcl_msg_get(msg->data + 16, 4);
	shown->rights = rcl_msg_get(msg->data + 20, 4);
	shown->rkey = rcl_msg_get(msg->data + RCL_WINDOW_LEN, RCL_RKEY_LEN);
	if (!shown->len || shown->addr + shown->len < shown->addr ||
	    shift < RCL_EXTENT_SHIFT_MIN || shift > RCL_EXTENT_SHIFT_MAX ||
	    shown->rights & ~(uint32_t)RCV_RIGHTS)
		return -EPROTO;
	rest = (1ULL << shift) - (shown->addr & ((1ULL << shift) - 1));
	shown->first = shown->len < rest ? shown->len : rest;
	extents = ((shown->addr + shown->len - 1) >> shift) -
		  (shown->addr >> shift) + 1;
	if (extents > RCL_EXTENTS_MAX)
		return -EPROTO;
	if (extents > RCL_WINDOW_RKEYS)
		extents = RCL_WINDOW_RKEYS;
	return msg->len == RCL_WINDOW_LEN + extents * RCL_RKEY_LEN ? 0 :
								     -EPROTO;
}
