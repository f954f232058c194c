/* SPDX-License-Identifier: GPL-2.0 */
/* What becomes of an operation whose epoch has ended: pure functions. */
#ifndef RCL_FATE_H
#define RCL_FATE_H

#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

/**
 * enum rcl_fate - what becomes of it
 * @RCL_FATE_DONE: it was carried out
 * @RCL_FATE_AGAIN: it is to be posted again
 * @RCL_FATE_UNKNOWN: it may have been carried out, or not
 * @RCL_FATE_FLUSHED: it has yielded nothing
 */
enum rcl_fate {
	RCL_FATE_DONE,
	RCL_FATE_AGAIN,
	RCL_FATE_UNKNOWN,
	RCL_FATE_FLUSHED,
};

/**
 * rcl_fate_counts - does the peer count that operation?
 * @op: enum rclink_dev_op
 *
 * Return: true for one that consumes a receive of the peer.
 */
static inline bool rcl_fate_counts(u8 op)
{
	return op == RCLINK_OP_SEND || op == RCLINK_OP_SEND_IMM ||
	       op == RCLINK_OP_WRITE_IMM || op == RCLINK_OP_SEND_INV;
}

enum rcl_fate rcl_fate_of(u8 op, u32 counted, u32 had, bool replay);

#endif /* RCL_FATE_H */
