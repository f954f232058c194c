/* SPDX-License-Identifier: GPL-2.0 */
/* Groups of this host, by name: one to many, over multicast. */
#ifndef RCL_GROUP_H
#define RCL_GROUP_H

#include "group-conf.h"

/**
 * struct rcl_group_change - what an operator changes
 * @key: changes to who may have the key
 * @owner: set the owner to @access.owner
 * @group: likewise for the group
 * @mode: likewise for the mode
 * @access: the rights; those who already use the group keep using it
 */
struct rcl_group_change {
	struct rcl_keeper_change key;
	bool owner;
	bool group;
	bool mode;
	struct rcl_access access;
};

int rcl_group_create(const struct rcl_group_conf *conf,
		     const struct rcl_keeper_links *links, const char **why);
int rcl_group_set(const char *name, const struct rcl_group_change *change,
		  const char **why);
int rcl_group_delete(const char *name);
unsigned int rcl_group_generation(void);
void rcl_group_exit(void);

#endif /* RCL_GROUP_H */
