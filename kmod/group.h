/* SPDX-License-Identifier: GPL-2.0 */
/* Groups of this host, by name: one to many, over multicast. */
#ifndef RCL_GROUP_H
#define RCL_GROUP_H

#include "mcast.h"
#include "reason.h"

/**
 * struct rcl_group_conf - what an operator says of a group
 * @name: of the group
 * @device: RDMA device, empty for the first one with an active port
 * @port: of the device, 0 for the first that is active
 * @gid_index: own GID, or RCLINK_GID_INDEX_AUTO
 * @addr: of the group
 */
struct rcl_group_conf {
	char name[RCLINK_NAME_MAX + 1];
	char device[RCLINK_DEVICE_MAX + 1];
	u32 port;
	u32 gid_index;
	struct rcl_mcast_addr addr;
};

/**
 * struct rcl_group_stats - counters
 * @joins: how often the group was joined
 * @rx_short: packets that are too short for a message
 * @rx_unknown_key: packets under a key that this host does not have
 */
struct rcl_group_stats {
	u64 joins;
	u64 rx_short;
	u64 rx_unknown_key;
};

/**
 * struct rcl_group_info - a group as it was when asked
 * @conf: with device, port and gid_index that are in use while it is joined
 * @id: of the group
 * @state: enum rclink_group_state
 * @reason: why it is down
 * @gid: own GID, while it is joined
 * @mtu: bytes of a packet's payload, while it is joined
 * @stats: counters
 */
struct rcl_group_info {
	struct rcl_group_conf conf;
	u32 id;
	u32 state;
	struct rcl_reason reason;
	u8 gid[RCLINK_GID_LEN];
	u32 mtu;
	struct rcl_group_stats stats;
};

int rcl_group_create(const struct rcl_group_conf *conf, const char **why);
int rcl_group_delete(const char *name);
int rcl_group_info(const char *name, struct rcl_group_info *info);
int rcl_group_info_next(u32 after, struct rcl_group_info *info);
unsigned int rcl_group_generation(void);
void rcl_group_exit(void);

#endif /* RCL_GROUP_H */
