/* SPDX-License-Identifier: GPL-2.0 */
/* What a member of a group says of itself: a pure codec, no kernel objects. */
#ifndef RCL_HERE_H
#define RCL_HERE_H

#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

#define RCL_HERE_HEAD		8	/* version to entries */
#define RCL_HERE_REGION		(8 + 4 + RCLINK_DEV_REGION_LEN)
#define RCL_HERE_REGIONS	20	/* in one message, of the longest */

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
 * struct rcl_here - what is said
 * @total: regions that it exports
 * @n: of those, the ones that are in here
 * @region: and what they are
 */
struct rcl_here {
	u32 total;
	u32 n;
	struct rcl_here_region region[RCL_HERE_REGIONS];
};

u32 rcl_here_room(u32 bytes);
bool rcl_here_is_name(const char *name);
u32 rcl_here_encode(u8 *buf, const struct rcl_here *here);
int rcl_here_decode(const u8 *buf, u32 len, struct rcl_here *here);

#endif /* RCL_HERE_H */
