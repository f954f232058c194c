/* SPDX-License-Identifier: GPL-2.0 */
/* How an epoch comes up, as far as this end does it. */
#ifndef RCL_BRINGUP_H
#define RCL_BRINGUP_H

struct rcl_request;
struct rcl_slot;
struct work_struct;

void rcl_bringup_chore(struct work_struct *work);
int rcl_bringup_begin(struct rcl_slot *slot, struct rcl_request *req);
int rcl_bringup_end(struct rcl_slot *slot, struct rcl_request *req);

#endif /* RCL_BRINGUP_H */
