/* SPDX-License-Identifier: GPL-2.0 */
/* How the two ends agree on who leases which pooled QP. */
#ifndef RCL_LEASE_H
#define RCL_LEASE_H

#include <linux/types.h>

struct list_head;
struct rcl_call;
struct rcl_epoch;
struct rcl_msg;

void rcl_lease_call(struct rcl_epoch *ep, struct rcl_call *call);
int rcl_lease_continue(struct rcl_epoch *ep);
int rcl_lease_question(struct rcl_epoch *ep, const struct rcl_msg *msg);
int rcl_lease_answer(struct rcl_epoch *ep, const struct rcl_msg *msg);
void rcl_lease_detach_all(struct rcl_epoch *ep, int why,
			  struct list_head *suspended, struct list_head *calls);
void rcl_lease_stopped_all(struct rcl_epoch *ep);
void rcl_lease_gone_all(struct rcl_epoch *ep);

#endif /* RCL_LEASE_H */
