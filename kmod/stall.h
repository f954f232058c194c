/* SPDX-License-Identifier: GPL-2.0 */
/* Leases whose QP has failed, and how they go on. */
#ifndef RCL_STALL_H
#define RCL_STALL_H

#include <linux/types.h>

struct rcl_epoch;
struct rcl_lease;
struct rcl_msg;

u8 rcl_stall_heard(struct rcl_epoch *ep, struct rcl_lease *lease,
		   const struct rcl_msg *msg);
int rcl_stall_ask(struct rcl_epoch *ep, struct rcl_lease *lease);
void rcl_stall_answered(struct rcl_epoch *ep, struct rcl_lease *lease,
			const struct rcl_msg *msg);
void rcl_stall_look(struct rcl_epoch *ep);
u64 rcl_stall_due(const struct rcl_epoch *ep);

#endif /* RCL_STALL_H */
