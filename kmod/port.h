/* SPDX-License-Identifier: GPL-2.0 */
/* Reading a port of a verbs device into plain data. */
#ifndef RCL_PORT_H
#define RCL_PORT_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <uapi/linux/rclink.h>

struct rcl_port;
struct rcl_policy;

int rcl_port_read(struct ib_device *ib, u32 port, u32 gid_index,
		  struct rcl_port *info);
int rcl_port_check(const struct rcl_port *info, const struct rcl_policy *policy,
		   const char **why);
int rcl_port_check_mtu(const struct rcl_port *info,
		       const struct rcl_policy *policy, const char **why);
void rcl_port_device(const struct ib_device *ib,
		     char name[RCLINK_DEVICE_MAX + 1]);
u32 rcl_port_mtu(enum ib_mtu mtu);
int rcl_port_read_mtu(struct ib_device *ib, u32 port, u32 *mtu);
u32 rcl_port_probe_inline(struct ib_device *ib);

#endif /* RCL_PORT_H */
