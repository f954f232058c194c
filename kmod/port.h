/* SPDX-License-Identifier: GPL-2.0 */
/* A port of a verbs device and what it can do, as plain data. */
#ifndef RCL_PORT_H
#define RCL_PORT_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <uapi/linux/rclink.h>

#include "gid.h"

struct rcl_policy;

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
 * @why: reason for the choice, or why there is none
 * @unfit: cannot be used, for a reason that does not change
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
	bool unfit;
};

int rcl_port_read(struct ib_device *ib, u32 port,
		  const struct rcl_gid_want *want, struct rcl_port *info);
void rcl_port_release(struct rcl_port *info);
int rcl_port_check(const struct rcl_port *info, const struct rcl_policy *policy,
		   const char **why);
int rcl_port_check_mtu(const struct rcl_port *info,
		       const struct rcl_policy *policy, const char **why);
u32 rcl_port_mtu(enum ib_mtu mtu);
u32 rcl_port_probe_inline(struct ib_device *ib);

#endif /* RCL_PORT_H */
