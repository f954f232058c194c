/* SPDX-License-Identifier: GPL-2.0 */
/* Chooses the GID of a port for a link, and says why: pure functions. */
#ifndef RCL_GID_H
#define RCL_GID_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

#define RCL_IFNAME_LEN	(RCLINK_NETDEV_MAX + 1)

/**
 * struct rcl_gid - one entry of a port's GID table
 * @index: index in the table; moves after a port flap, so look it up each time
 * @value: network byte order
 * @type: enum rclink_gid_type
 * @netdev_up: its net device is up
 * @netdev: name of the net device, empty on InfiniBand
 * @vlan: ID of the net device's VLAN, 0 without one
 */
struct rcl_gid {
	u32 index;
	u8 value[RCLINK_GID_LEN];
	u32 type;
	bool netdev_up;
	char netdev[RCL_IFNAME_LEN];
	u16 vlan;
};

/**
 * struct rcl_gid_want - which GID it should be
 * @index: in the table, or RCLINK_GID_INDEX_AUTO
 * @netdev: name of its network device, empty for any
 */
struct rcl_gid_want {
	u32 index;
	const char *netdev;
};

extern const struct rcl_gid_want rcl_gid_any;

int rcl_gid_choose(const struct rcl_gid *gids, u32 n,
		   const struct rcl_gid_want *want, bool roce,
		   const char **why);

unsigned int rcl_gid_rank(const u8 *gid);
bool rcl_gid_is_usable(const struct rcl_gid *gid, bool roce);
bool rcl_gid_is_zero(const u8 *gid);
bool rcl_gid_is_v4(const u8 *gid);
bool rcl_gid_is_unicast(const u8 *gid);
bool rcl_gid_is_multicast(const u8 *gid);

#endif /* RCL_GID_H */
