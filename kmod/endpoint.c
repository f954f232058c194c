// SPDX-License-Identifier: GPL-2.0
#include "endpoint.h"

#include <linux/errno.h>
#include <linux/string.h>

#include "gid.h"

#define RCL_LID_UNICAST_MAX	0xbfff	/* IBA 4.1.3 */
#define RCL_PKEY_FULL		0x8000	/* full member, IBA 10.9.1.1 */

static int rcl_refuse(const char *text, const char **why)
{
	*why = text;
	return -EINVAL;
}

static bool rcl_endpoint_is_self(const struct rcl_endpoint *local,
				 const struct rcl_endpoint *remote)
{
	return !memcmp(remote->gid, local->gid, RCLINK_GID_LEN);
}

static int rcl_endpoint_check_path(const struct rcl_endpoint *local,
				   const struct rcl_endpoint *remote,
				   bool loopback, const char **why)
{
	if (remote->link_layer != local->link_layer)
		return rcl_refuse("link-layer of the peer differs from this port's",
				  why);
	if (remote->mtu < 256 || remote->mtu > 4096 ||
	    (remote->mtu & (remote->mtu - 1)))
		return rcl_refuse("mtu of the peer must be 256, 512, 1024, 2048 or 4096",
				  why);
	if (!rcl_gid_is_unicast(remote->gid))
		return rcl_refuse("gid of the peer is no unicast address", why);
	if (rcl_endpoint_is_self(local, remote) && !loopback)
		return rcl_refuse("gid of the peer is this port's own: is loopback meant?",
				  why);
	if (remote->link_layer == RCLINK_LINK_LAYER_INFINIBAND &&
	    (!remote->lid || remote->lid > RCL_LID_UNICAST_MAX))
		return rcl_refuse("lid of the peer must be 1 to 49151", why);
	if (rcl_gid_is_v4(remote->gid) != rcl_gid_is_v4(local->gid) &&
	    remote->link_layer == RCLINK_LINK_LAYER_ROCE)
		return rcl_refuse("gid of the peer is of another address family: set gid-index",
				  why);
	return 0;
}

/* Otherwise every packet between them would vanish (IBA 10.9.3). */
static int rcl_endpoint_check_pkey(const struct rcl_endpoint *local,
				   const struct rcl_endpoint *remote,
				   const char **why)
{
	if (remote->pkey > 0xffff)
		return rcl_refuse("pkey of the peer must be 0 to 65535", why);
	if (!remote->pkey || !local->pkey)
		return 0;
	if ((remote->pkey ^ local->pkey) & ~RCL_PKEY_FULL)
		return rcl_refuse("pkey of the peer is of another partition: set pkey-index on either host",
				  why);
	if (!((remote->pkey | local->pkey) & RCL_PKEY_FULL))
		return rcl_refuse("pkey: both ends are limited members of the partition: make one a full member",
				  why);
	return 0;
}

static int rcl_endpoint_check_qps(const struct rcl_endpoint *local,
				  const struct rcl_endpoint *remote,
				  const char **why)
{
	bool self = rcl_endpoint_is_self(local, remote);
	u32 i, j;

	if (remote->nqps > local->nqps)
		return rcl_refuse("qp: the peer has more: set qps alike on both hosts",
				  why);
	if (remote->nqps < local->nqps)
		return rcl_refuse("qp: the peer has fewer: set qps alike on both hosts",
				  why);
	for (i = 0; i < remote->nqps; i++) {
		const struct rcl_qp_id *qp = &remote->qp[i];

		if (!rcl_qpn_is_usable(qp->qpn))
			return rcl_refuse("qpn of the peer must be 2 to 16777215",
					  why);
		if (qp->psn > RCL_24BIT_MAX)
			return rcl_refuse("psn of the peer must be 0 to 16777215",
					  why);
		for (j = 0; j < i; j++)
			if (remote->qp[j].qpn == qp->qpn)
				return rcl_refuse("qpn of the peer appears twice",
						  why);
		for (j = 0; self && j < local->nqps; j++)
			if (local->qp[j].qpn == qp->qpn)
				return rcl_refuse("qpn of the peer is this link's own",
						  why);
	}
	return 0;
}

/**
 * rcl_endpoint_check - check what a peer says about its end
 * @local: this end
 * @remote: the peer's end, assumed hostile
 * @loopback: the peer may be on the same port
 * @why: set to a sentence when it is refused
 *
 * Return: 0, or -EINVAL.
 */
int rcl_endpoint_check(const struct rcl_endpoint *local,
		       const struct rcl_endpoint *remote, bool loopback,
		       const char **why)
{
	int ret;

	ret = rcl_endpoint_check_path(local, remote, loopback, why);
	if (ret)
		return ret;
	ret = rcl_endpoint_check_pkey(local, remote, why);
	if (ret)
		return ret;
	ret = rcl_endpoint_check_qps(local, remote, why);
	if (ret)
		return ret;
	if (!remote->epoch ||
	    (remote->epoch > local->epoch &&
	     remote->epoch - local->epoch > RCL_EPOCH_AHEAD))
		return rcl_refuse("epoch of the peer is out of range: delete the link on both hosts, and add it again",
				  why);
	if (!remote->rd_atomic || remote->rd_atomic > 255)
		return rcl_refuse("rd-atomic of the peer must be 1 to 255",
				  why);
	if (!remote->rkey)
		return rcl_refuse("rkey of the peer must not be 0", why);
	if (!remote->length || remote->length > 1U << 31)
		return rcl_refuse("length of the peer's buffer must be 1 to 2147483648",
				  why);
	if (remote->addr + remote->length < remote->addr)
		return rcl_refuse("addr and length of the peer's buffer wrap around",
				  why);
	return 0;
}
