/* SPDX-License-Identifier: GPL-2.0 */
/* How a group joins, on a port and maybe by a subnet manager, and leaves. */
#ifndef RCL_GROUP_JOIN_H
#define RCL_GROUP_JOIN_H

struct rcl_group;

int rcl_group_attach(struct rcl_group *group, const char **why);
int rcl_group_join(struct rcl_group *group, const char **why);
void rcl_group_check_mtu(struct rcl_group *group);
void rcl_group_leave(struct rcl_group *group);

#endif /* RCL_GROUP_JOIN_H */
