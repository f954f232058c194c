// SPDX-License-Identifier: GPL-2.0
#include "port.h"

#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include <uapi/linux/rclink_dev.h>

#include "policy.h"

/* No address handle can name a larger index (struct ib_global_route). */
#define RCL_GIDS_MAX	(U8_MAX + 1)

static u32 rcl_port_gid_type(const struct ib_gid_attr *attr)
{
	switch (attr->gid_type) {
	case IB_GID_TYPE_ROCE_UDP_ENCAP:
		return RCLINK_GID_TYPE_ROCE_V2;
	case IB_GID_TYPE_ROCE:
		return RCLINK_GID_TYPE_ROCE_V1;
	default:
		return RCLINK_GID_TYPE_IB;
	}
}

/*
 * Does a GID belong to this host? An upper device that was moved to another
 * network namespace brings GIDs that do not. One without a net device does.
 */
static bool rcl_port_read_netdev(const struct ib_gid_attr *attr,
				 struct rcl_gid *gid)
{
	struct net_device *ndev;
	bool ours = true;
	u16 vlan;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev)) {
		ours = net_eq(dev_net(ndev), &init_net);
		gid->netdev_up = netif_running(ndev) && netif_carrier_ok(ndev);
		strscpy(gid->netdev, ndev->name, sizeof(gid->netdev));
	}
	rcu_read_unlock();
	/* Also if a device below this one has the VLAN. */
	if (!rdma_read_gid_l2_fields(attr, &vlan, NULL) && vlan < VLAN_N_VID)
		gid->vlan = vlan;
	return ours;
}

/* If the operator gives an index, only that one is read. */
static int rcl_port_read_gids(struct ib_device *ib, u32 port, u32 len,
			      u32 gid_index, struct rcl_port *info)
{
	bool given = gid_index != RCLINK_GID_INDEX_AUTO;
	const struct ib_gid_attr *attr;
	struct rcl_gid *gid;
	u32 i;

	len = min_t(u32, len, RCL_GIDS_MAX);
	if (given)
		len = min(len, gid_index + 1);

	info->gids = kcalloc(given ? 1 : len, sizeof(*info->gids), GFP_KERNEL);
	if (!info->gids)
		return -ENOMEM;

	for (i = given ? gid_index : 0; i < len; i++) {
		attr = rdma_get_gid_attr(ib, port, i);
		if (IS_ERR(attr))
			continue;
		gid = &info->gids[info->ngids];
		/* A GID that was left out may have been there. */
		*gid = (struct rcl_gid){
			.index = i,
			.type = rcl_port_gid_type(attr),
		};
		memcpy(gid->value, attr->gid.raw, sizeof(gid->value));
		if (rcl_port_read_netdev(attr, gid) &&
		    !rcl_gid_is_zero(gid->value))
			info->ngids++;
		rdma_put_gid_attr(attr);
	}
	return 0;
}

static u32 rcl_port_atomics(const struct ib_device *ib, enum ib_atomic_cap cap)
{
	/* mlx5 has them for user QPs only: its post returns -EOPNOTSUPP. */
	if (ib->ops.driver_id == RDMA_DRIVER_MLX5)
		return RCLINK_ATOMICS_NONE;
	switch (cap) {
	case IB_ATOMIC_HCA:
		return RCLINK_ATOMICS_HCA;
	case IB_ATOMIC_GLOB:
		return RCLINK_ATOMICS_GLOBAL;
	default:
		return RCLINK_ATOMICS_NONE;
	}
}

static u32 rcl_port_masked_atomics(const struct ib_device *ib, u32 atomics)
{
	/* No device has only these, and no QP is wired for that. */
	if (!atomics)
		return RCLINK_ATOMICS_NONE;
	switch (ib->ops.driver_id) {
	/* They claim to have them, but their post_send() knows none. */
	case RDMA_DRIVER_BNXT_RE:
	case RDMA_DRIVER_VMW_PVRDMA:
		return RCLINK_ATOMICS_NONE;
	default:
		return rcl_port_atomics(ib, ib->attrs.masked_atomic_cap);
	}
}

static void rcl_port_read_caps(struct ib_device *ib, struct rcl_port *info)
{
	const struct ib_device_attr *attr = &ib->attrs;

	info->max_qp = attr->max_qp;
	info->max_qp_wr = attr->max_qp_wr;
	info->max_cqe = attr->max_cqe;
	info->max_mr = attr->max_mr;
	info->max_sge = min(attr->max_send_sge, attr->max_recv_sge);
	info->max_rd_atomic = min(attr->max_qp_rd_atom,
				  attr->max_qp_init_rd_atom);
	info->max_srq = attr->max_srq;
	if (attr->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)
		info->fast_reg_pages = attr->max_fast_reg_page_list_len;
	info->atomics = rcl_port_atomics(ib, attr->atomic_cap);
	info->masked_atomics = rcl_port_masked_atomics(ib, info->atomics);
}

/**
 * rcl_port_mtu - convert an MTU to bytes
 * @mtu: of the driver, which may have no value for an MTU below the smallest of
 *	IBA (11.2.5.2)
 *
 * Return: bytes, or 0 for such an MTU.
 */
u32 rcl_port_mtu(enum ib_mtu mtu)
{
	return max(ib_mtu_enum_to_int(mtu), 0);
}

/*
 * A QP is drained in ERR, where one of ocrdma takes no work request: each
 * channel that is closed would end its link.
 */
static bool rcl_port_can_drain(const struct ib_device *ib)
{
	return ib->ops.driver_id != RDMA_DRIVER_OCRDMA;
}

/*
 * A piece of a region is at an address that was given to the registration. hfi1
 * looks for it where the pages are (rvt_lkey_ok()): each SEND, WRITE and READ
 * would be refused, and each receive would fail.
 */
static bool rcl_port_finds_pieces(const struct ib_device *ib)
{
	return ib->ops.driver_id != RDMA_DRIVER_HFI1;
}

/*
 * All memory is registered in the processor's pages, see extent.c: irdma takes
 * those of 64 KiB for 4 KiB ones. A device that reports no size may have any.
 */
static bool rcl_port_has_page_size(const struct ib_device *ib)
{
	u64 sizes = ib->attrs.page_size_cap;

	return !sizes || sizes & PAGE_SIZE;
}

/* Says what the port lacks and no operator can change, or NULL. */
static const char *rcl_port_lacks(const struct ib_device *ib,
				  const struct rcl_port *info)
{
	if (info->link_layer == RCLINK_LINK_LAYER_IWARP)
		return "iWARP needs the RDMA CM: use InfiniBand or RoCE";
	if (!info->fast_reg_pages)
		return "the device has no fast registration (REG_MR)";
	if (!rcl_port_has_page_size(ib))
		return "the device lacks this kernel's page size: use another";
	if (info->max_sge < RCLINK_DEV_SGE_MAX)
		return "the device takes too few pieces at once: use another";
	if (!rcl_port_can_drain(ib))
		return "the driver cannot drain QPs: use another device";
	if (!rcl_port_finds_pieces(ib))
		return "the driver cannot use regions: use another device";
	return NULL;
}

static void rcl_port_choose(const struct ib_device *ib, struct rcl_port *info,
			    const struct rcl_gid_want *want)
{
	const char *lacks = rcl_port_lacks(ib, info);

	info->chosen = -EOPNOTSUPP;
	info->unfit = lacks;
	if (lacks)
		info->why = lacks;
	else if (info->state == IB_PORT_ACTIVE && !info->active_mtu)
		info->why =
			"the port's MTU is less than 256: raise the netdev's";
	else
		info->chosen = rcl_gid_choose(info->gids, info->ngids, want,
					      info->link_layer ==
					      RCLINK_LINK_LAYER_ROCE,
					      &info->why);
	if (info->chosen >= 0 &&
	    info->link_layer == RCLINK_LINK_LAYER_INFINIBAND &&
	    (info->state == IB_PORT_INIT || info->state == IB_PORT_ARMED))
		info->why =
			"the port is not active: does a subnet manager run?";
}

/**
 * rcl_port_read - read a port and choose its GID
 * @ib: device that stays registered during the call
 * @port: number
 * @want: which GID to choose
 * @info: filled in, except @device and @max_inline; to be given to
 *	rcl_port_release() after success
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or what ib_query_port() returns.
 */
int rcl_port_read(struct ib_device *ib, u32 port,
		  const struct rcl_gid_want *want, struct rcl_port *info)
{
	struct ib_port_attr attr;
	int ret;

	ret = ib_query_port(ib, port, &attr);
	if (ret)
		return ret;

	memset(info, 0, sizeof(*info));
	info->port = port;
	if (rdma_protocol_iwarp(ib, port))
		info->link_layer = RCLINK_LINK_LAYER_IWARP;
	else if (rdma_protocol_roce(ib, port))
		info->link_layer = RCLINK_LINK_LAYER_ROCE;
	else
		info->link_layer = RCLINK_LINK_LAYER_INFINIBAND;
	info->state = attr.state;
	info->active_mtu = rcl_port_mtu(attr.active_mtu);
	info->max_mtu = rcl_port_mtu(attr.max_mtu);
	if (info->link_layer == RCLINK_LINK_LAYER_INFINIBAND) {
		info->lid = attr.lid;
		info->sm_lid = attr.sm_lid;
	}
	info->pkeys = attr.pkey_tbl_len;
	info->sa = rdma_cap_ib_mcast(ib, port);
	rcl_port_read_caps(ib, info);
	ret = rcl_port_read_gids(ib, port, attr.gid_tbl_len, want->index, info);
	if (ret)
		return ret;
	rcl_port_choose(ib, info, want);
	return 0;
}

/**
 * rcl_port_release - give back what a port's data holds
 * @info: filled in
 */
void rcl_port_release(struct rcl_port *info)
{
	kfree(info->gids);
	info->gids = NULL;
}

/**
 * rcl_port_check - can this port carry a link with that policy?
 * @info: from rcl_port_read()
 * @policy: of the link
 * @why: set to a sentence when it cannot
 *
 * Return: 0, -EINVAL for a value beyond the device, -EOPNOTSUPP or -ENODATA
 * for a port without a usable GID.
 */
int rcl_port_check(const struct rcl_port *info, const struct rcl_policy *policy,
		   const char **why)
{
	const u32 *v = policy->v;

	if (info->chosen < 0) {
		*why = info->why;
		return info->chosen;
	}
	if (v[RCL_P_MTU] > info->max_mtu)
		*why = "mtu is larger than the port's: see `rclink dev`";
	else if (v[RCL_P_QPS] >= info->max_qp)
		*why = "qps is more than the device has: choose fewer";
	else if (v[RCL_P_RD_ATOMIC] > info->max_rd_atomic)
		*why = "rd-atomic is more than the device has: choose less";
	else if (v[RCL_P_PKEY_INDEX] >= info->pkeys)
		*why = "pkey-index is beyond the port's partition key table";
	else if (DIV_ROUND_UP(v[RCL_P_BUFFER_SIZE], PAGE_SIZE) >
		 info->fast_reg_pages)
		*why = "buffer-size is more than the device registers";
	else
		return 0;
	return -EINVAL;
}

/**
 * rcl_port_check_mtu - can the port, as it is now, carry packets of that MTU?
 * @info: of an active port
 * @policy: of the link
 * @why: set to a sentence when it cannot
 *
 * Return: 0, or -EINVAL.
 */
int rcl_port_check_mtu(const struct rcl_port *info,
		       const struct rcl_policy *policy, const char **why)
{
	if (policy->v[RCL_P_MTU] <= info->active_mtu)
		return 0;
	*why =
		"mtu is larger than the port's active one: see `rclink dev`";
	return -EINVAL;
}

/*
 * Drivers that post inline data of the kernel as they should, by their sources.
 * bnxt_re sends none of the bytes, and reports success. hns can have the next
 * work request overwrite what is beyond 32 bytes.
 */
static bool rcl_port_posts_inline(const struct ib_device *ib)
{
	switch (ib->ops.driver_id) {
	case RDMA_DRIVER_IRDMA:
	case RDMA_DRIVER_MLX5:
	case RDMA_DRIVER_QEDR:
	case RDMA_DRIVER_RXE:
		return true;
	default:
		return false;
	}
}

/**
 * rcl_port_probe_inline - how much inline data does a kernel QP get?
 * @ib: device
 *
 * The device attributes do not say, so find out by creating a QP.
 *
 * Context: may sleep.
 * Return: bytes, 0 when the device grants none, or its driver is not known to
 * post them.
 */
u32 rcl_port_probe_inline(struct ib_device *ib)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = RCLINK_DEV_INLINE_MAX,
		},
	};
	u32 granted = 0;
	struct ib_cq *cq;
	struct ib_pd *pd;
	struct ib_qp *qp;

	if (!rcl_port_posts_inline(ib))
		return 0;
	pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(pd))
		return 0;
	cq = ib_alloc_cq_any(ib, NULL, 2, IB_POLL_DIRECT);
	if (IS_ERR(cq))
		goto out_pd;
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = ib_create_qp(pd, &init);
	if (IS_ERR(qp))
		goto out_cq;
	granted = init.cap.max_inline_data;
	ib_destroy_qp(qp);
out_cq:
	ib_free_cq(cq);
out_pd:
	ib_dealloc_pd(pd);
	return granted;
}
