/* SPDX-License-Identifier: GPL-2.0 */
/* How an epoch comes up, as far as this end does it. */
#ifndef RCL_BRINGUP_H
#define RCL_BRINGUP_H

struct rcl_request;
struct rcl_slot;

int rcl_bringup_prepare(struct rcl_slot *slot, struct rcl_request *req);
int rcl_bringup_connect(struct rcl_slot *slot, struct rcl_request *req);
int rcl_bringup_activate(struct rcl_slot *slot, struct rcl_request *req);

#endif /* RCL_BRINGUP_H */
