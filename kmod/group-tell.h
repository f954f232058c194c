/* SPDX-License-Identifier: GPL-2.0 */
/* What listeners are told about a group. */
#ifndef RCL_GROUP_TELL_H
#define RCL_GROUP_TELL_H

#include <linux/types.h>

struct rcl_group;

void rcl_group_tell(struct rcl_group *group, u32 kind);
void rcl_group_tell_key(struct rcl_group *group);

#endif /* RCL_GROUP_TELL_H */
