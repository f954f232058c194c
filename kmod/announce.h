/* SPDX-License-Identifier: GPL-2.0 */
/* What a member of a group says of itself: a pure codec, no kernel objects. */
#ifndef RCL_ANNOUNCE_H
#define RCL_ANNOUNCE_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>
#include <uapi/linux/rclink_dev.h>

#define RCL_ANNOUNCE_HEAD	8	/* version to entries */
#define RCL_ANNOUNCE_REGION	(8 + 4 + RCLINK_DEV_REGION_LEN)
#define RCL_ANNOUNCE_REGIONS	20	/* in one message, of the longest */
#define RCL_ANNOUNCE_TOTAL	0xffff	/* more is said as that */

/* What is said of the order, in which each region has one place. */
#define RCL_ANNOUNCE_FIRST	0x01	/* none comes before those */
#define RCL_ANNOUNCE_LAST	0x02	/* and none behind them */

/**
 * struct rcl_announce_region - a region that a member exports
 * @len: bytes
 * @rights: RCLINK_REGION_*
 * @name: of the region, with zeros behind it
 */
struct rcl_announce_region {
	u64 len;
	u32 rights;
	char name[RCLINK_DEV_REGION_LEN];
};

/**
 * struct rcl_announce - what is said at once
 * @total: regions that it exports
 * @ends: RCL_ANNOUNCE_FIRST, RCL_ANNOUNCE_LAST
 * @n: regions that are in here
 * @region: and what they are, in order; between the first and the last of them
 *	there are no others
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
 * @n: of those, the ones that are in here
 * @region: and what they are, in order
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
