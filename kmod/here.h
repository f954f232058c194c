/* SPDX-License-Identifier: GPL-2.0 */
/* What a member of a group says of itself: a pure codec, no kernel objects. */
#ifndef RCL_HERE_H
#define RCL_HERE_H

#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

#define RCL_HERE_HEAD		8	/* version to entries */
#define RCL_HERE_REGION		(8 + 4 + RCLINK_DEV_REGION_LEN)
#define RCL_HERE_REGIONS	20	/* in one message, of the longest */
#define RCL_HERE_TOTAL		0xffff	/* more is said as that */
#define RCL_HERE_MAX		340	/* of a member, in 16 KiB */

/* What is said of the order, in which each region has one place. */
#define RCL_HERE_FIRST		0x01	/* none comes before those */
#define RCL_HERE_LAST		0x02	/* and none behind them */

/**
 * struct rcl_here_region - a region that a member exports
 * @len: bytes
 * @rights: RCLINK_REGION_*
 * @name: of the region, with zeros behind it
 */
struct rcl_here_region {
	u64 len;
	u32 rights;
	char name[RCLINK_DEV_REGION_LEN];
};

/**
 * struct rcl_here - what is said at once
 * @total: regions that it exports
 * @ends: RCL_HERE_FIRST, RCL_HERE_LAST
 * @n: regions that are in here
 * @region: and what they are, in order; between the first and the last of them
 *	there are no others
 */
struct rcl_here {
	u32 total;
	u32 ends;
	u32 n;
	struct rcl_here_region region[RCL_HERE_REGIONS];
};

/**
 * struct rcl_here_list - all that a member exports
 * @total: how many regions
 * @n: of those, the ones that are in here
 * @region: and what they are, in order
 */
struct rcl_here_list {
	u32 total;
	u32 n;
	struct rcl_here_region region[RCL_HERE_MAX];
};

u32 rcl_here_room(u32 bytes);
bool rcl_here_is_name(const char *name);
void rcl_here_add(struct rcl_here_list *list,
		  const struct rcl_here_region *region);
void rcl_here_turn(const struct rcl_here_list *list, u32 max,
		   struct rcl_here *here);
void rcl_here_merge(struct rcl_here_list *list, const struct rcl_here *here);
u32 rcl_here_encode(u8 *buf, const struct rcl_here *here);
int rcl_here_decode(const u8 *buf, u32 len, struct rcl_here *here);

#endif /* RCL_HERE_H */
