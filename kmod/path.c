// SPDX-License-Identifier: GPL-2.0
#include "path.h"

#include <linux/completion.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>

#include "endpoint.h"
#include "policy.h"

#define RCL_RESOLVE_MS	2000	/* for the peer's neighbour entry */

struct rcl_resolve {
	struct completion done;
	int status;
};

static void rcl_path_resolved(int status, struct sockaddr *src,
			      struct rdma_dev_addr *addr, void *context)
{
	struct rcl_resolve *resolve = context;

	resolve->status = status;
	complete(&resolve->done);
}

/*
 * Nobody else fills in the destination MAC of a kernel QP: ib_modify_qp() does
 * it for userspace QPs only, and with a zero MAC every packet vanishes.
 */
static int rcl_path_resolve_roce(const struct ib_gid_attr *sgid,
				 const struct rcl_endpoint *remote,
				 struct rdma_ah_attr *ah, const char **why)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in sin;
		struct sockaddr_in6 sin6;
	} src, dst;
	struct rcl_resolve resolve = {};
	struct rdma_dev_addr addr = {
		.net = &init_net,
		.sgid_attr = sgid,
	};
	int ret;

	init_completion(&resolve.done);
	rdma_gid2ip(&src.sa, &sgid->gid);
	rdma_gid2ip(&dst.sa, (const union ib_gid *)remote->gid);
	ret = rdma_resolve_ip(&src.sa, &dst.sa, &addr, RCL_RESOLVE_MS,
			      rcl_path_resolved, true, &resolve);
	if (!ret) {
		/* Always called back, at the latest after the time limit. */
		wait_for_completion(&resolve.done);
		ret = resolve.status;
	}
	if (ret) {
		*why = "no route to the peer's GID: does `ping` reach it?";
		return ret == -EINVAL ? -EHOSTUNREACH : ret;
	}
	memcpy(ah->roce.dmac, addr.dst_dev_addr, ETH_ALEN);
	if (!rdma_ah_read_grh(ah)->hop_limit)
		rdma_ah_retrieve_grh(ah)->hop_limit = addr.hoplimit;
	return 0;
}

static const char no_router[] =
	"the peer is in another InfiniBand subnet: links cross no router";

static int rcl_path_resolve_ib(const struct ib_gid_attr *sgid,
			       const struct rcl_endpoint *remote, bool far,
			       struct rdma_ah_attr *ah, const char **why)
{
	if (far && rdma_cap_ib_sa(sgid->device, sgid->port_num)) {
		*why = no_router;
		return -EOPNOTSUPP;
	}
	rdma_ah_set_dlid(ah, remote->lid);
	if (rdma_ah_get_ah_flags(ah) & IB_AH_GRH &&
	    !rdma_ah_read_grh(ah)->hop_limit)
		rdma_ah_retrieve_grh(ah)->hop_limit = 64;
	return 0;
}

/**
 * rcl_path_resolve - fill in the address vector to the peer
 * @sgid: own GID, held by the caller
 * @policy: of the link
 * @remote: the peer's, checked
 * @ah: filled in; holds no reference
 * @why: set to a sentence when there is no path
 *
 * InfiniBand: DLID and SL, and a GRH if the port requires one, as a virtual one
 * does, or if the peer is in another subnet (IBA 8.3). That needs a fabric
 * without a subnet administrator, whose LIDs lead everywhere: the LID of a
 * router is not asked for. RoCE: GRH, with MAC and hop limit from the route.
 *
 * Context: may sleep for RCL_RESOLVE_MS.
 * Return: 0, -ETIMEDOUT, -EHOSTUNREACH, -ENETUNREACH, -ENOMEM, -EOPNOTSUPP.
 */
int rcl_path_resolve(const struct ib_gid_attr *sgid,
		     const struct rcl_policy *policy,
		     const struct rcl_endpoint *remote,
		     struct rdma_ah_attr *ah, const char **why)
{
	bool roce = remote->link_layer == RCLINK_LINK_LAYER_ROCE;
	bool far = memcmp(sgid->gid.raw, remote->gid, 8);
	const u32 *v = policy->v;
	union ib_gid dgid;

	memset(ah, 0, sizeof(*ah));
	ah->type = rdma_ah_find_type(sgid->device, sgid->port_num);
	rdma_ah_set_port_num(ah, sgid->port_num);
	rdma_ah_set_sl(ah, v[RCL_P_SL]);
	memcpy(dgid.raw, remote->gid, sizeof(dgid.raw));
	if (roce || far || rdma_is_grh_required(sgid->device, sgid->port_num))
		rdma_ah_set_grh(ah, &dgid, v[RCL_P_FLOW_LABEL], sgid->index,
				v[RCL_P_HOP_LIMIT], v[RCL_P_TRAFFIC_CLASS]);
	return roce ? rcl_path_resolve_roce(sgid, remote, ah, why) :
		      rcl_path_resolve_ib(sgid, remote, far, ah, why);
}
