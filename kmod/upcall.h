/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How news travels upward: whoever creates an object of a lower layer embeds a
 * struct rcl_upcall and hands it down. All functions may be called in any
 * context, also with interrupts off; they only note and queue.
 */
#ifndef RCL_UPCALL_H
#define RCL_UPCALL_H

#include <linux/types.h>

/* For what concerns no QP, or one that belongs to no lease. */
#define RCL_QP_NONE	(~0U)

/* A QP is named by its index: 0 is the control QP, the pool follows. */
struct rcl_upcall {
	/* There is something to do: a message or a completion came in. */
	void (*kick)(struct rcl_upcall *up);
	/* The epoch is lost: enum rclink_down_reason, enum ib_wc_status. */
	void (*fail)(struct rcl_upcall *up, u32 reason, u32 wc_status,
		     u32 vendor_err, u32 qp);
	/* It concerns a lessee, or a registration: the epoch goes on. */
	void (*fault)(struct rcl_upcall *up, u32 reason, u32 wc_status,
		      u32 vendor_err, u32 qp);
};

#endif /* RCL_UPCALL_H */
