/* SPDX-License-Identifier: GPL-2.0 */
/* How this end does its part in bringing an epoch up. */
#ifndef RCL_BRINGUP_H
#define RCL_BRINGUP_H

struct rcl_request;
struct rcl_slot;
struct work_struct;

void rcl_bringup_chore(struct work_struct *work);
int rcl_bringup_begin(struct rcl_slot *slot, struct rcl_request *req);
int rcl_bringup_end(struct rcl_slot *slot, struct rcl_request *req);

#endif /* RCL_BRINGUP_H */
