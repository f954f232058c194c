/* SPDX-License-Identifier: GPL-2.0 */
/* What is told of a group. */
#ifndef RCL_GROUP_TELL_H
#define RCL_GROUP_TELL_H

#include <linux/types.h>

struct rcl_group;
struct rcl_group_info;

void rcl_group_tell(struct rcl_group *group, u32 kind);
void rcl_group_tell_key(struct rcl_group *group);
void rcl_group_read(struct rcl_group *group, struct rcl_group_info *info);

#endif /* RCL_GROUP_TELL_H */
