/* SPDX-License-Identifier: GPL-2.0 */
/* What an operator says of a group, and the port that this means. */
#ifndef RCL_GROUP_CONF_H
#define RCL_GROUP_CONF_H

#include "access.h"
#include "keeper.h"
#include "mcast.h"

struct rcl_dev_user;

/**
 * struct rcl_group_conf - what an operator says of a group
 * @name: of the group
 * @device: RDMA device, empty for the first one with an active port
 * @port: of the device, 0 for the first that is active
 * @gid_index: own GID, or RCLINK_GID_INDEX_AUTO
 * @addr: of the group; who does not keep the key gets the Q_Key with it
 * @qkey_given: the operator said its Q_Key
 * @access: who may use it
 * @from: link to who keeps the key; empty, this host does
 */
struct rcl_group_conf {
	char name[RCLINK_NAME_MAX + 1];
	char device[RCLINK_DEVICE_MAX + 1];
	u32 port;
	u32 gid_index;
	struct rcl_mcast_addr addr;
	bool qkey_given;
	struct rcl_access access;
	char from[RCLINK_NAME_MAX + 1];
};

/**
 * struct rcl_group_port - the port that a group was joined on
 * @device: RDMA device, empty where it never was
 * @port: of the device
 */
struct rcl_group_port {
	char device[RCLINK_DEVICE_MAX + 1];
	u32 port;
};

int rcl_group_conf_check_links(const struct rcl_keeper_links *links,
			       const char **why);
int rcl_group_conf_check_access(const struct rcl_access *access,
				const char **why);
int rcl_group_conf_check(const struct rcl_group_conf *conf,
			 const struct rcl_keeper_links *links,
			 const char **why);
int rcl_group_conf_attach(const struct rcl_group_conf *conf,
			  const struct rcl_group_port *last,
			  struct rcl_dev_user *user, const char **why);

#endif /* RCL_GROUP_CONF_H */
