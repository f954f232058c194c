/* SPDX-License-Identifier: GPL-2.0 */
/* Keys of groups that this host keeps, and the links that they are for. */
#ifndef RCL_KEEPER_H
#define RCL_KEEPER_H

#include <linux/list.h>

#include "group-seal.h"

#define RCL_KEEPER_LINKS	32	/* of a group */

/**
 * struct rcl_keeper_links - who may have the key of a group
 * @n: how many
 * @name: of the links
 */
struct rcl_keeper_links {
	u32 n;
	char name[RCL_KEEPER_LINKS][RCLINK_NAME_MAX + 1];
};

/**
 * struct rcl_keeper - the key of a group; embedded in its owner
 * @name: of the group
 * @links: that it is for; constant
 * @rekeyed: there is a key, the first or another one: @grant is the owner's.
 *	The table is locked; must not call back
 * @node: private
 * @grant: the owner's part of the key; @grant.qkey is constant
 * @next: number of the next sender
 * @again: when a link may have another number, in jiffies
 */
struct rcl_keeper {
	const char *name;
	const struct rcl_keeper_links *links;
	void (*rekeyed)(struct rcl_keeper *keeper);
	struct list_head node;
	struct rcl_group_grant grant;
	u32 next;
	u64 again[RCL_KEEPER_LINKS];
};

void rcl_keeper_start(struct rcl_keeper *keeper, u32 qkey);
void rcl_keeper_stop(struct rcl_keeper *keeper);
int rcl_keeper_ask(const char *link, const char *name, u64 has,
		   struct rcl_group_grant *grant);

#endif /* RCL_KEEPER_H */
