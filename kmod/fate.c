// SPDX-License-Identifier: GPL-2.0
/*
 * The peer says how many messages it has received. A responder carries out
 * requests in the order of their PSNs (IBA 9.5), so whatever was posted before
 * a message that it has received was carried out, too. Its answer to a READ or
 * an atomic did not arrive here, though.
 */
#include "fate.h"

#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

/**
 * rcl_fate_of - what becomes of an operation that has not completed?
 * @op: enum rclink_dev_op, not a receive
 * @counted: counted operations up to and including this one
 * @had: counted operations that the peer has received; both may have wrapped
 * @replay: READs and WRITEs may be carried out twice
 *
 * Return: its fate.
 */
enum rcl_fate rcl_fate_of(u8 op, u32 counted, u32 had, bool replay)
{
	s32 later = had - counted;

	if (rcl_fate_counts(op))
		return later >= 0 ? RCL_FATE_DONE : RCL_FATE_AGAIN;
	switch (op) {
	case RCLINK_OP_WRITE:
		if (later > 0)
			return RCL_FATE_DONE;
		return replay ? RCL_FATE_AGAIN : RCL_FATE_UNKNOWN;
	case RCLINK_OP_READ:
		/* After a later message the memory may hold something else. */
		return replay && later <= 0 ? RCL_FATE_AGAIN : RCL_FATE_FLUSHED;
	default:
		return RCL_FATE_UNKNOWN;
	}
}
