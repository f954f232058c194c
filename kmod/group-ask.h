/* SPDX-License-Identifier: GPL-2.0 */
/* A member asks for the key of its group. */
#ifndef RCL_GROUP_ASK_H
#define RCL_GROUP_ASK_H

struct rcl_group;

#define RCL_GROUP_TICK_MS	1000	/* between two messages */

void rcl_group_ask(struct rcl_group *group);
void rcl_group_ask_no_more(struct rcl_group *group);

#endif /* RCL_GROUP_ASK_H */
