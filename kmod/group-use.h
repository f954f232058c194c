/* SPDX-License-Identifier: GPL-2.0 */
/* A group as used by those who send to it and hear it. */
#ifndef RCL_GROUP_USE_H
#define RCL_GROUP_USE_H

#include <linux/types.h>

#include "group-hear.h"

struct cred;
struct rcl_group;

int rcl_group_use(const char *name, const struct cred *cred,
		  struct rcl_group_listener *listener,
		  struct rcl_group **group);
void rcl_group_unuse(struct rcl_group *group,
		     struct rcl_group_listener *listener);
u32 rcl_group_max(const struct rcl_group *group, const char *service);
int rcl_group_send(struct rcl_group *group, const char *service,
		   const u8 *data, u32 len);

#endif /* RCL_GROUP_USE_H */
