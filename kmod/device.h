/* SPDX-License-Identifier: GPL-2.0 */
/* RDMA devices: who uses them, and their removal. */
#ifndef RCL_DEVICE_H
#define RCL_DEVICE_H

#include <linux/list.h>
#include <linux/types.h>

#include <uapi/linux/rclink.h>

struct ib_device;
struct ib_gid_attr;
struct rcl_device;
struct rcl_policy;
struct rcl_port;
struct rcl_upcall;

/**
 * struct rcl_dev_user - somebody whose life depends on a device
 * @up: told when the device, port or address goes away
 * @ib: the device, while attached
 * @port: number of the port whose events count
 * @gid_index: index of the GID that must keep its value
 * @gid: that value
 * @mtu: active MTU of the port when this was attached, bytes
 * @rdev: private
 * @node: private
 */
struct rcl_dev_user {
	struct rcl_upcall *up;
	struct ib_device *ib;
	u32 port;
	u32 gid_index;
	u8 gid[RCLINK_GID_LEN];
	u32 mtu;
	struct rcl_device *rdev;
	struct list_head node;
};

int rcl_dev_init(void);
void rcl_dev_exit(void);

int rcl_dev_attach(struct rcl_dev_user *user, const struct rcl_policy *policy,
		   struct rcl_port *port, const char **why);
void rcl_dev_detach(struct rcl_dev_user *user);
int rcl_dev_check(const struct rcl_policy *policy, u32 port, const char **why);
const struct ib_gid_attr *rcl_dev_get_sgid(const struct rcl_dev_user *user,
					   const char **why);
int rcl_dev_get_pkey(const struct rcl_dev_user *user, u32 index, u32 *pkey,
		     const char **why);

void rcl_dev_name(const struct ib_device *ib, char name[RCLINK_DEVICE_MAX + 1]);
int rcl_dev_find_port(const char *device, u32 port, struct rcl_port *info);
int rcl_dev_read_mtu(const char *device, u32 port, u32 *mtu);
int rcl_dev_nth_port(unsigned int n, struct rcl_port *info);
unsigned int rcl_dev_generation(void);

#endif /* RCL_DEVICE_H */
