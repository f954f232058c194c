/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices and their ports: what they can do, who uses them, their end. */
#ifndef RCL_DEVICE_H
#define RCL_DEVICE_H

#include <linux/list.h>
#include <linux/types.h>

#include "gid.h"
#include "policy.h"

struct ib_device;
struct rcl_device;
struct rcl_upcall;

/**
 * struct rcl_port - a port as it was when asked
 * @device: name of its device
 * @port: number
 * @link_layer: enum rclink_link_layer
 * @state: enum ib_port_state
 * @active_mtu: bytes
 * @max_mtu: bytes
 * @lid: local identifier, 0 on RoCE
 * @sm_lid: of the subnet manager
 * @pkeys: entries of the partition key table
 * @max_qp: limit of the device
 * @max_qp_wr: limit of the device
 * @max_cqe: limit of the device
 * @max_mr: limit of the device
 * @max_sge: limit of the device
 * @max_rd_atomic: limit of the device, per QP
 * @max_srq: limit of the device, 0 without shared receive queues
 * @fast_reg_pages: longest page list of a fast registration, 0 without it
 * @atomics: enum rclink_atomics
 * @masked_atomics: enum rclink_atomics
 * @max_inline: bytes that a probe QP was granted
 * @sa: its subnet manager can be asked for multicast groups
 * @ngids: entries of @gids
 * @gids: the non-empty GIDs; owned, freed by rcl_port_release()
 * @chosen: position in @gids, negative when the port cannot be used
 * @why: reason of the choice, or why there is none
 */
struct rcl_port {
	char device[RCLINK_DEVICE_MAX + 1];
	u32 port;
	u32 link_layer;
	u32 state;
	u32 active_mtu;
	u32 max_mtu;
	u32 lid;
	u32 sm_lid;
	u32 pkeys;
	u32 max_qp;
	u32 max_qp_wr;
	u32 max_cqe;
	u32 max_mr;
	u32 max_sge;
	u32 max_rd_atomic;
	u32 max_srq;
	u32 fast_reg_pages;
	u32 atomics;
	u32 masked_atomics;
	u32 max_inline;
	bool sa;
	u32 ngids;
	struct rcl_gid *gids;
	int chosen;
	const char *why;
};

/**
 * struct rcl_dev_user - somebody whose life depends on a device
 * @up: told when device, port or address go away
 * @ib: the device, while attached
 * @port: whose events count
 * @gid_index: that must keep its value
 * @gid: that value
 * @rdev: private
 * @node: private
 */
struct rcl_dev_user {
	struct rcl_upcall *up;
	struct ib_device *ib;
	u32 port;
	u32 gid_index;
	u8 gid[RCLINK_GID_LEN];
	struct rcl_device *rdev;
	struct list_head node;
};

int rcl_dev_init(void);
void rcl_dev_exit(void);

int rcl_dev_attach(struct rcl_dev_user *user, const struct rcl_policy *policy,
		   struct rcl_port *port, const char **why);
void rcl_dev_detach(struct rcl_dev_user *user);
int rcl_dev_check(const struct rcl_policy *policy, const char **why);
const struct ib_gid_attr *rcl_dev_get_sgid(const struct rcl_dev_user *user,
					   const char **why);
int rcl_dev_get_pkey(const struct rcl_dev_user *user, u32 index, u32 *pkey,
		     const char **why);

int rcl_port_find(const char *device, u32 port, struct rcl_port *info);
int rcl_port_nth(unsigned int n, struct rcl_port *info);
unsigned int rcl_port_generation(void);
void rcl_port_release(struct rcl_port *info);

#endif /* RCL_DEVICE_H */
