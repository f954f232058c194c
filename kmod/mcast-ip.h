/* SPDX-License-Identifier: GPL-2.0 */
/* The IP stack's part in a multicast group of a RoCE port. */
#ifndef RCL_MCAST_IP_H
#define RCL_MCAST_IP_H

#include <linux/types.h>

struct ib_gid_attr;
struct socket;

int rcl_mcast_ip_join(const struct ib_gid_attr *sgid, const u8 *mgid,
		      struct socket **sock);
void rcl_mcast_ip_leave(struct socket *sock);
void rcl_mcast_ip_mac(const u8 *mgid, u8 *mac);

#endif /* RCL_MCAST_IP_H */
