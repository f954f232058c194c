/* SPDX-License-Identifier: GPL-2.0 */
/* The operator's configuration of a group, and the port that it selects. */
#ifndef RCL_GROUP_CONF_H
#define RCL_GROUP_CONF_H

#include "access.h"
#include "keeper.h"
#include "mcast.h"

struct rcl_dev_user;

/**
 * struct rcl_group_conf - the operator's configuration of a group
 * @name: of the group
 * @device: RDMA device, empty for the first one with an active port
 * @port: of the device, 0 for the first that is active
 * @gid_index: index of its own GID, or RCLINK_GID_INDEX_AUTO
 * @addr: address of the group; a host that does not keep the key gets the Q_Key
 *	with the key
 * @qkey_given: the operator set the Q_Key
 * @access: who may use it
 * @from: link to the keeper of the key; empty if this host keeps it
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
 * struct rcl_group_port - the port that a group last joined on
 * @device: RDMA device, empty if the group never joined
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
