// SPDX-License-Identifier: GPL-2.0
#include "objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "epoch.h"
#include "fail.h"
#include "port.h"

#define RETRY_FOR_EVER	7	/* on some devices */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Some devices would round it up, beyond what the peer's allows. n is not 0. */
static uint32_t power_of_two(uint32_t n)
{
	while (n & (n - 1))
		n &= n - 1;
	return n;
}

static const struct rcv_qp_size pool_size = {
	.sends = RCV_LEASE_SENDS,
	.recvs = RCV_LEASE_RECVS,
	.sges = 1,
};

static unsigned int access_flags(const struct rcv_epoch *ep)
{
	unsigned int access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	if (ep->hca.attr.orig_attr.atomic_cap != IBV_ATOMIC_NONE)
		access |= IBV_ACCESS_REMOTE_ATOMIC;
	return access;
}

/*
 * Never wraps, and has the memory's offset in the largest page of a device:
 * mlx4 derives the page size, up to 2^31, from where the memory lies, and an
 * address with another offset would expose whatever else is in the page.
 */
#define ADDRESS_MASK	0x7fffffff80000000ULL
#define PAGE_MASK	0x7fffffffULL

struct ibv_mr *rcv_objects_show(struct rcv_epoch *ep, void *mem, size_t len,
				unsigned int access, uint64_t *addr)
{
	if (getrandom(addr, sizeof(*addr), 0) != sizeof(*addr)) {
		errno = EIO;
		return NULL;
	}
	*addr = (*addr & ADDRESS_MASK) | ((uintptr_t)mem & PAGE_MASK);
	return ibv_reg_mr_iova(ep->pd, mem, len, *addr, access);
}

static int get_buffer(struct rcv_epoch *ep, char *err)
{
	uint32_t len = ep->policy.v[RCL_P_BUFFER_SIZE];

	if (posix_memalign((void **)&ep->buffer, sysconf(_SC_PAGESIZE), len)) {
		ep->buffer = NULL;
		return rcl_fail(err, -ENOMEM, "out of memory for the buffer");
	}
	memset(ep->buffer, 0, len);
	ep->mr = rcv_objects_show(ep, ep->buffer, len,
				  access_flags(ep) | IBV_ACCESS_LOCAL_WRITE,
				  &ep->local.addr);
	if (!ep->mr)
		return rcl_fail(err, -errno,
				"cannot register the link buffer of %u bytes: %s; see `ulimit -l`, or set buffer-size",
				len, strerror(errno));
	return 0;
}

static int get_qps(struct rcv_epoch *ep, char *err)
{
	const struct rcv_qp_size ctrl = {
		.sends = RCL_CTRL_SLOTS + 2 + RCV_BENCH_DEPTH,
		.recvs = RCL_CTRL_SLOTS,
		.sges = 1,
	};
	uint32_t i, num = ep->policy.v[RCL_P_QPS];
	int ret;

	ret = rcv_cq_create(&ep->cq, ep->hca.ctx, ctrl.sends + ctrl.recvs,
			    RCV_CQ_EVENTS, err);
	if (!ret)
		ret = rcv_cq_create(&ep->pool_cq, ep->hca.ctx,
				    num * (pool_size.sends + pool_size.recvs),
				    RCV_CQ_EVENTS, err);
	if (!ret)
		ret = rcv_qp_create(&ep->qp[0], ep->pd, ep->cq.cq, &ctrl, err);
	for (i = 1; i <= num && !ret; i++) {
		ep->lease[i - 1].qp = &ep->qp[i];
		ret = rcv_qp_create(&ep->qp[i], ep->pd, ep->pool_cq.cq,
				    &pool_size, err);
	}
	return ret;
}

static int to_init(struct rcv_epoch *ep, char *err)
{
	uint32_t i;
	int ret = 0;

	ep->wiring.port = ep->hca.port;
	ep->wiring.pkey_index = ep->policy.v[RCL_P_PKEY_INDEX];
	ep->wiring.access = access_flags(ep);
	for (i = 0; i <= ep->policy.v[RCL_P_QPS] && !ret; i++)
		ret = rcv_qp_to_init(&ep->qp[i], &ep->wiring, err);
	if (!ret) {
		ret = rcv_ctrl_post(&ep->ctrl);
		if (ret)
			rcl_fail(err, ret, "cannot post receives: %s",
				 strerror(-ret));
	}
	return ret;
}

/* Opens a device with a port that can carry such a link. */
static int open_device(struct rcv_hca *hca, const struct rcl_policy *policy,
		       char *err)
{
	const struct rcl_gid_want gid = {
		.index = policy->v[RCL_P_GID_INDEX],
		.netdev = policy->netdev,
	};
	const char *why;
	int ret;

	ret = rcv_hca_open(hca, policy->device, policy->v[RCL_P_PORT], &gid,
			   err);
	if (ret)
		return ret;
	ret = rcv_port_check(hca, policy, &why);
	if (ret) {
		rcl_fail(err, ret, "%s", why);
		rcv_hca_close(hca);
	}
	return ret;
}

int rcv_objects_get(struct rcv_epoch *ep, char *err)
{
	int ret;

	ret = open_device(&ep->hca, &ep->policy, err);
	if (ret)
		return ret;
	ret = rcv_hca_pkey(&ep->hca, ep->policy.v[RCL_P_PKEY_INDEX],
			   &ep->local.pkey, err);
	if (ret)
		return ret;
	ep->pd = ibv_alloc_pd(ep->hca.ctx);
	if (!ep->pd)
		return rcl_fail(err, -errno,
				"cannot allocate a protection domain: %s",
				strerror(errno));
	ret = rcv_ctrl_create(&ep->ctrl, ep->pd, &ep->qp[0], err);
	if (!ret)
		ret = get_buffer(ep, err);
	if (!ret)
		ret = get_qps(ep, err);
	return ret ? ret : to_init(ep, err);
}

/* QPs first: nothing may access memory that is freed. */
void rcv_objects_put(struct rcv_epoch *ep)
{
	uint32_t i;

	for (i = 0; i <= RCLINK_QPS_MAX; i++)
		rcv_qp_destroy(&ep->qp[i]);
	rcv_cq_destroy(&ep->pool_cq);
	rcv_cq_destroy(&ep->cq);
	rcv_ping_release(&ep->pinger);
	if (ep->mr)
		ibv_dereg_mr(ep->mr);
	free(ep->buffer);
	rcv_ctrl_destroy(&ep->ctrl);
	if (ep->pd)
		ibv_dealloc_pd(ep->pd);
	rcv_hca_close(&ep->hca);
}

int rcv_objects_path(const struct rcl_policy *policy, struct rcl_path *path,
		     char *err)
{
	const uint32_t *v = policy->v;
	const struct rcl_gid *gid;
	struct rcv_hca hca;
	int ret;

	ret = open_device(&hca, policy, err);
	if (ret)
		return ret;
	gid = rcv_hca_gid(&hca);
	snprintf(path->device, sizeof(path->device), "%s",
		 ibv_get_device_name(hca.ctx->device));
	path->port = hca.port;
	path->link_layer = hca.link_layer;
	path->gid_type = gid->type;
	path->gid_index = gid->index;
	path->mtu = v[RCL_P_MTU] ? v[RCL_P_MTU] :
		    rcv_mtu_bytes(hca.port_attr.active_mtu);
	path->vlan = gid->vlan;
	memcpy(path->gid, gid->value, sizeof(path->gid));
	rcv_hca_close(&hca);
	return 0;
}

void rcv_objects_describe(struct rcv_epoch *ep, uint64_t number)
{
	const struct ibv_device_attr *attr = &ep->hca.attr.orig_attr;
	struct rcl_endpoint *local = &ep->local;
	const uint32_t *v = ep->policy.v;
	uint32_t i;

	local->link_layer = ep->hca.link_layer;
	memcpy(local->gid, rcv_hca_gid(&ep->hca)->value, sizeof(local->gid));
	if (local->link_layer == RCLINK_LINK_LAYER_INFINIBAND)
		local->lid = ep->hca.port_attr.lid;
	local->mtu = v[RCL_P_MTU] ? v[RCL_P_MTU] :
		     rcv_mtu_bytes(ep->hca.port_attr.active_mtu);
	local->rd_atomic = smaller(v[RCL_P_RD_ATOMIC],
				   smaller(attr->max_qp_rd_atom,
					   attr->max_qp_init_rd_atom));
	local->atomics = attr->atomic_cap;
	local->epoch = number;
	local->rkey = ep->mr->rkey;
	local->length = v[RCL_P_BUFFER_SIZE];
	local->nqps = 1 + v[RCL_P_QPS];
	for (i = 0; i < local->nqps; i++) {
		local->qp[i].qpn = ep->qp[i].qp->qp_num;
		local->qp[i].psn = ep->qp[i].psn;
	}
}

/*
 * On InfiniBand, use a GRH only if the port requires one, as a virtual one
 * does, or if the peer is in another subnet (IBA 8.3), on a fabric without a
 * subnet manager: see the module's rcl_path_resolve().
 */
static int wire_path(struct rcv_epoch *ep, char *err)
{
	bool roce = ep->hca.link_layer == RCLINK_LINK_LAYER_ROCE;
	bool always = ep->hca.port_attr.flags & IBV_QPF_GRH_REQUIRED;
	bool far = memcmp(ep->local.gid, ep->remote.gid, 8);
	struct ibv_ah_attr *ah = &ep->wiring.ah;
	const uint32_t *v = ep->policy.v;

	ah->port_num = ep->hca.port;
	ah->sl = v[RCL_P_SL];
	ah->dlid = ep->remote.lid;
	if (!roce && far && ep->hca.port_attr.sm_lid)
		return rcl_fail(err, -EOPNOTSUPP,
				"the peer is in another InfiniBand subnet: links cross no router");
	if (!roce && !far && !always)
		return 0;
	ah->is_global = 1;
	memcpy(ah->grh.dgid.raw, ep->remote.gid, sizeof(ep->remote.gid));
	ah->grh.sgid_index = rcv_hca_gid(&ep->hca)->index;
	ah->grh.flow_label = v[RCL_P_FLOW_LABEL];
	ah->grh.traffic_class = v[RCL_P_TRAFFIC_CLASS];
	ah->grh.hop_limit = v[RCL_P_HOP_LIMIT] ? v[RCL_P_HOP_LIMIT] : 64;
	return 0;
}

int rcv_objects_to_rtr(struct rcv_epoch *ep, char *err)
{
	const struct rcl_endpoint *remote = &ep->remote;
	struct rcv_wiring *w = &ep->wiring;
	const uint32_t *v = ep->policy.v;
	int ret = wire_path(ep, err);
	uint32_t i;

	w->mtu = rcv_mtu(rcv_epoch_mtu(ep));
	w->answer = ep->local.rd_atomic;
	w->initiate = power_of_two(smaller(ep->local.rd_atomic,
					   remote->rd_atomic));
	w->min_rnr_timer = v[RCL_P_MIN_RNR_TIMER];
	w->timeout = v[RCL_P_TIMEOUT];
	w->retry = v[RCL_P_RETRY];
	w->rnr_retry = v[RCL_P_RNR_RETRY];
	for (i = 0; i < remote->nqps && !ret; i++)
		ret = rcv_qp_to_rtr(&ep->qp[i], w, remote->qp[i].qpn,
				    remote->qp[i].psn, err);
	return ret;
}

/*
 * A pooled QP must give up: if its device never did, nobody else would notice,
 * because the heartbeat proves the control QP only.
 */
static int to_rts(struct rcv_epoch *ep, uint32_t i, char *err)
{
	struct rcv_wiring w = ep->wiring;

	if (i)
		w.retry = smaller(w.retry, RETRY_FOR_EVER - 1);
	return rcv_qp_to_rts(&ep->qp[i], &w, err);
}

int rcv_objects_to_rts(struct rcv_epoch *ep, char *err)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < ep->remote.nqps && !ret; i++)
		ret = to_rts(ep, i, err);
	return ret;
}

int rcv_objects_renew(struct rcv_epoch *ep, uint32_t i)
{
	char ignored[RCL_ERR_LEN];
	int ret;

	ret = rcv_qp_create(&ep->qp[i], ep->pd, ep->pool_cq.cq, &pool_size,
			    ignored);
	return ret ? ret : rcv_qp_to_init(&ep->qp[i], &ep->wiring, ignored);
}

int rcv_objects_rewire(struct rcv_epoch *ep, uint32_t i, uint32_t qpn,
		       uint32_t psn)
{
	char ignored[RCL_ERR_LEN];

	return rcv_qp_to_rtr(&ep->qp[i], &ep->wiring, qpn, psn, ignored);
}

int rcv_objects_go(struct rcv_epoch *ep, uint32_t i)
{
	char ignored[RCL_ERR_LEN];

	return to_rts(ep, i, ignored);
}
