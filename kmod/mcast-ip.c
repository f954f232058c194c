// SPDX-License-Identifier: GPL-2.0
/*
 * A RoCE v2 packet to a multicast address is an IP packet to it: a switch with
 * IGMP or MLD snooping, and on a software device the host's own IP stack, let
 * it through only where somebody has joined. So a socket joins that is bound to
 * no port and never receives anything; its membership ends with it.
 */
#include "mcast-ip.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/sockptr.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "gid.h"

static int rcl_mcast_ifindex(const struct ib_gid_attr *sgid)
{
	struct net_device *ndev;
	int ifindex = -ENODEV;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	/* The index is of its namespace; the socket is in the initial one. */
	if (!IS_ERR(ndev) && net_eq(dev_net(ndev), &init_net))
		ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

static int rcl_mcast_join4(struct socket *sock, const u8 *mgid, int ifindex)
{
	struct ip_mreqn req = { .imr_ifindex = ifindex };

	memcpy(&req.imr_multiaddr, mgid + 12, sizeof(req.imr_multiaddr));
	return sock->ops->setsockopt(sock, SOL_IP, IP_ADD_MEMBERSHIP,
				     KERNEL_SOCKPTR(&req), sizeof(req));
}

static int rcl_mcast_join6(struct socket *sock, const u8 *mgid, int ifindex)
{
	struct ipv6_mreq req = { .ipv6mr_ifindex = ifindex };

	memcpy(&req.ipv6mr_multiaddr, mgid, sizeof(req.ipv6mr_multiaddr));
	return sock->ops->setsockopt(sock, SOL_IPV6, IPV6_ADD_MEMBERSHIP,
				     KERNEL_SOCKPTR(&req), sizeof(req));
}

/**
 * rcl_mcast_ip_join - let packets to a multicast address in
 * @sgid: own GID, held by the caller
 * @mgid: of the same kind as @sgid, 16 bytes
 * @sock: set on success; to be given to rcl_mcast_ip_leave()
 *
 * Context: may sleep; takes the RTNL lock.
 * Return: 0, -ENODEV for a GID without a net device, or with one in another
 * namespace, or what the IP stack returns.
 */
int rcl_mcast_ip_join(const struct ib_gid_attr *sgid, const u8 *mgid,
		      struct socket **sock)
{
	int ifindex = rcl_mcast_ifindex(sgid);
	bool v4 = rcl_gid_is_v4(mgid);
	int ret;

	if (ifindex < 0)
		return ifindex;
	ret = sock_create_kern(&init_net, v4 ? AF_INET : AF_INET6, SOCK_DGRAM,
			       IPPROTO_UDP, sock);
	if (ret)
		return ret;
	ret = v4 ? rcl_mcast_join4(*sock, mgid, ifindex) :
		   rcl_mcast_join6(*sock, mgid, ifindex);
	if (ret)
		sock_release(*sock);
	return ret;
}

/**
 * rcl_mcast_ip_leave - the mirror of rcl_mcast_ip_join()
 * @sock: of rcl_mcast_ip_join(); the net device may be gone
 *
 * Context: may sleep; takes the RTNL lock.
 */
void rcl_mcast_ip_leave(struct socket *sock)
{
	sock_release(sock);
}

/**
 * rcl_mcast_ip_mac - find the Ethernet address of a group
 * @mgid: 16 bytes
 * @mac: ETH_ALEN bytes, set
 */
void rcl_mcast_ip_mac(const u8 *mgid, u8 *mac)
{
	struct in6_addr addr;

	memcpy(&addr, mgid, sizeof(addr));
	if (rcl_gid_is_v4(mgid))
		ip_eth_mc_map(addr.s6_addr32[3], mac);
	else
		ipv6_eth_mc_map(&addr, mac);
}
