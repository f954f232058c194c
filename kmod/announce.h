/* SPDX-License-Identifier: GPL-2.0 */
/* What a group member says about itself: a pure codec, no kernel objects. */
#ifndef RCL_ANNOUNCE_H
#define RCL_ANNOUNCE_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>
#include <uapi/linux/rclink_dev.h>

#define RCL_ANNOUNCE_HEAD	8	/* from the version up to the entries */
#define RCL_ANNOUNCE_REGION	(8 + 4 + RCLINK_DEV_REGION_LEN)
#define RCL_ANNOUNCE_REGIONS	20	/* in one message, at most */
#define RCL_ANNOUNCE_TOTAL	0xffff	/* stands for larger totals, too */

/* What a message says about the order, in which each region has one place. */
#define RCL_ANNOUNCE_FIRST	0x01	/* no region comes before these */
#define RCL_ANNOUNCE_LAST	0x02	/* no region comes behind these */

/**
 * struct rcl_announce_region - a region that a member exports
 * @len: bytes
 * @rights: RCLINK_REGION_*
 * @name: of the region, padded with zeros
 */
struct rcl_announce_region {
	u64 len;
	u32 rights;
	char name[RCLINK_DEV_REGION_LEN];
};

/**
 * struct rcl_announce - one announcement
 * @total: how many regions the member exports
 * @ends: RCL_ANNOUNCE_FIRST, RCL_ANNOUNCE_LAST
 * @n: how many of them are in here
 * @region: these, in order; there are no others between the first and the last
 *	of them
 */
struct rcl_announce {
	u32 total;
	u32 ends;
	u32 n;
	struct rcl_announce_region region[RCL_ANNOUNCE_REGIONS];
};

/**
 * struct rcl_announce_list - all that a member exports
 * @total: how many regions
 * @n: how many of them are in here
 * @region: these, in order
 */
struct rcl_announce_list {
	u32 total;
	u32 n;
	struct rcl_announce_region region[RCLINK_GROUP_REGIONS_MAX];
};

u32 rcl_announce_room(u32 bytes);
bool rcl_announce_is_name(const char *name);
void rcl_announce_add(struct rcl_announce_list *list,
		      const struct rcl_announce_region *region);
void rcl_announce_turn(const struct rcl_announce_list *list, u32 max,
		       struct rcl_announce *announce);
void rcl_announce_merge(struct rcl_announce_list *list,
			const struct rcl_announce *announce);
u32 rcl_announce_encode(u8 *buf, const struct rcl_announce *announce);
int rcl_announce_decode(const u8 *buf, u32 len, struct rcl_announce *announce);

#endif /* RCL_ANNOUNCE_H */
