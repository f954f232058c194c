/* SPDX-License-Identifier: GPL-2.0 */
/* Keys of groups that this host keeps, and the links that they are for. */
#ifndef RCL_KEEPER_H
#define RCL_KEEPER_H

#include <linux/list.h>

#include "group-seal.h"

/**
 * struct rcl_keeper_links - who may have the key of a group
 * @n: how many
 * @name: of the links
 */
struct rcl_keeper_links {
	u32 n;
	char name[RCLINK_GROUP_LINKS_MAX][RCLINK_NAME_MAX + 1];
};

/**
 * struct rcl_keeper - the key of a group; embedded in its owner
 * @name: of the group
 * @rekeyed: called when there is a key, the first or another one: @grant is the
 *	owner's, and if @now, no other key is good any more. The table is
 *	locked; must neither call back nor sleep
 * @node: private; the table's lock protects this and the rest
 * @grant: the owner's part of the key; @grant.qkey is constant, @grant.id 0
 *	while there is none
 * @next: number of the next sender
 * @links: that the key is for
 * @again: when each link may have another number, in jiffies
 */
struct rcl_keeper {
	const char *name;
	void (*rekeyed)(struct rcl_keeper *keeper, bool now);
	struct list_head node;
	struct rcl_group_grant grant;
	u32 next;
	struct rcl_keeper_links links;
	u64 again[RCLINK_GROUP_LINKS_MAX];
};

/**
 * struct rcl_keeper_change - what an operator changes
 * @on: links that may have the key from now on
 * @off: links that may not have it any more
 * @rekey: make another key, as if @off were not empty
 */
struct rcl_keeper_change {
	struct rcl_keeper_links on;
	struct rcl_keeper_links off;
	bool rekey;
};

u32 rcl_keeper_find(const struct rcl_keeper_links *links, const char *name);
void rcl_keeper_start(struct rcl_keeper *keeper, u32 qkey,
		      const struct rcl_keeper_links *links);
void rcl_keeper_stop(struct rcl_keeper *keeper);
int rcl_keeper_set(struct rcl_keeper *keeper,
		   const struct rcl_keeper_change *change, const char **why);
void rcl_keeper_read(struct rcl_keeper *keeper, struct rcl_keeper_links *links);
void rcl_keeper_sleep(void);
void rcl_keeper_wake(void);
int rcl_keeper_ask(const char *link, const char *name, u64 has,
		   struct rcl_group_grant *grant);

#endif /* RCL_KEEPER_H */
