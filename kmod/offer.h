/* SPDX-License-Identifier: GPL-2.0 */
/* Regions that this host offers to the peers of all links, by name. */
#ifndef RCL_OFFER_H
#define RCL_OFFER_H

#include <linux/list.h>
#include <linux/types.h>

#include "lessee.h"

struct cred;
struct rcl_epoch;
struct rcl_announce_list;
struct rcl_keeper_links;
struct rcl_memory;
struct rcl_pool;
struct rcl_window;

/**
 * struct rcl_offer - a region for all links; embedded in its owner
 * @node: in the table
 * @name: of the region
 * @rights: RCLINK_REGION_*, of the peers
 * @memory: what it is made of
 * @cred: of the user that offers it, NULL for the kernel; outlives it
 * @may: may that user use that link now? May sleep
 * @addr: first address for all peers
 * @wanted: false when it is taken back; registering gives up then
 * @stuck: a device did not end a registration: the memory stays
 * @taken: where it was imported: struct rcl_taken
 * @users: counts those, and one more until rcl_offer_del()
 */
struct rcl_offer {
	struct list_head node;
	char name[RCLINK_DEV_REGION_LEN];
	u32 rights;
	struct rcl_memory *memory;
	const struct cred *cred;
	bool (*may)(const struct rcl_offer *offer, const char *link);
	u64 addr;
	bool wanted;
	bool stuck;
	struct list_head taken;
	struct rcl_errands users;
};

int rcl_offer_add(struct rcl_offer *offer);
void rcl_offer_del(struct rcl_offer *offer);
void rcl_offer_list(const struct rcl_keeper_links *links,
		    struct rcl_announce_list *list);
int rcl_offer_find(struct rcl_epoch *ep, const char *name,
		   struct rcl_window *window, u32 first);
void rcl_offer_end(struct rcl_pool *pool);

#endif /* RCL_OFFER_H */
