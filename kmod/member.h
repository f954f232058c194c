/* SPDX-License-Identifier: GPL-2.0 */
/* How a member of a group gets its key from the peer that keeps it. */
#ifndef RCL_MEMBER_H
#define RCL_MEMBER_H

struct rcl_call;
struct rcl_epoch;
struct rcl_msg;

int rcl_member_ask(struct rcl_epoch *ep, struct rcl_call *call);
int rcl_member_question(struct rcl_epoch *ep, const struct rcl_msg *msg);
int rcl_member_answer(struct rcl_epoch *ep, const struct rcl_msg *msg);

#endif /* RCL_MEMBER_H */
