/* SPDX-License-Identifier: GPL-2.0 */
/* How one end learns which memory the peer exports under a name. */
#ifndef RCL_IMPORT_H
#define RCL_IMPORT_H

struct rcl_call;
struct rcl_epoch;
struct rcl_msg;

int rcl_import_ask(struct rcl_epoch *ep, struct rcl_call *call);
int rcl_import_question(struct rcl_epoch *ep, const struct rcl_msg *msg);
int rcl_import_answer(struct rcl_epoch *ep, const struct rcl_msg *msg);

#endif /* RCL_IMPORT_H */
