// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams of a multicast group. Whoever has the Q_Key can send to the QP, so
 * nothing that comes in ends it; failures here are the device's own.
 */
#include "mcast.h"

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kmemleak.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "device.h"
#include "endpoint.h"
#include "mcast-buf.h"
#include "mcast-ip.h"
#include "upcall.h"

#define RCL_MCAST_STOP_MS	5000	/* for flushes */
/*
 * Pieces of a receive: the GRH, its packet, and the rest, twice. No device that
 * is used takes fewer: see rcl_port_lacks().
 */
#define RCL_MCAST_PIECES	4

static void rcl_mcast_fail(struct rcl_mcast *mcast, u32 reason, u32 wc_status,
			   u32 vendor_err)
{
	mcast->up->fail(mcast->up, reason, wc_status, vendor_err, RCL_QP_NONE);
}

static void rcl_mcast_event(struct ib_event *event, void *context)
{
	struct rcl_mcast *mcast = context;

	if (event->event == IB_EVENT_QP_FATAL ||
	    event->event == IB_EVENT_QP_REQ_ERR ||
	    event->event == IB_EVENT_QP_ACCESS_ERR)
		rcl_mcast_fail(mcast, RCLINK_DOWN_REASON_QP_FATAL, 0,
			       event->event);
}

static void rcl_mcast_unpost(struct rcl_mcast *mcast)
{
	if (atomic_dec_and_test(&mcast->posted))
		wake_up(&mcast->idle);
}

/* A receive posted after `stopping` was set is flushed by rcl_mcast_stop(). */
static int rcl_mcast_post(struct rcl_mcast_slot *slot)
{
	struct rcl_mcast *mcast = slot->mcast;
	struct ib_sge sge[RCL_MCAST_PIECES] = {
		{
			.addr = slot->grh_dma,
			.length = sizeof(*slot->grh),
			.lkey = mcast->pd->local_dma_lkey,
		}, {
			.addr = slot->dma,
			.length = RCL_MCAST_MTU,
			.lkey = mcast->pd->local_dma_lkey,
		}, {
			.addr = mcast->rest_dma,
			.length = RCL_MCAST_REST,
			.lkey = mcast->pd->local_dma_lkey,
		}, {
			.addr = mcast->rest_dma,
			.length = RCL_MCAST_REST,
			.lkey = mcast->pd->local_dma_lkey,
		},
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &slot->cqe,
		.sg_list = sge,
		.num_sge = ARRAY_SIZE(sge),
	};
	int ret;

	atomic_inc(&mcast->posted);
	ret = ib_post_recv(mcast->qp, &wr, NULL);
	if (ret)
		rcl_mcast_unpost(mcast);
	return ret;
}

/* With RoCE, an IPv4 header is at the end of the 40 bytes. */
static void rcl_mcast_source(struct rcl_mcast *mcast, const struct ib_wc *wc,
			     const struct ib_grh *grh, union ib_gid *gid)
{
	const union rdma_network_hdr *hdr = (const void *)grh;
	enum rdma_network_type type = RDMA_NETWORK_IB;
	union ib_gid ignored;

	if (rdma_protocol_roce(mcast->ib, mcast->port))
		type = ib_get_rdma_header_version(hdr) == 4 ?
		       RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
	if (!(wc->wc_flags & IB_WC_GRH) ||
	    ib_get_gids_from_rdma_hdr(hdr, type, gid, &ignored))
		memset(gid, 0, sizeof(*gid));
}

static void rcl_mcast_take(struct rcl_mcast_slot *slot, const struct ib_wc *wc)
{
	struct rcl_mcast *mcast = slot->mcast;
	u32 grh = sizeof(*slot->grh);
	/* The rest of a longer packet is not read. */
	u32 len = min_t(u32, wc->byte_len, grh + RCL_MCAST_MTU);
	union ib_gid gid;

	if (len < grh)
		return;
	ib_dma_sync_single_for_cpu(mcast->ib, slot->grh_dma, grh,
				   DMA_FROM_DEVICE);
	ib_dma_sync_single_for_cpu(mcast->ib, slot->dma, RCL_MCAST_MTU,
				   DMA_FROM_DEVICE);
	rcl_mcast_source(mcast, wc, slot->grh, &gid);
	mcast->ops->received(mcast, slot->buf, len - grh, gid.raw);
	ib_dma_sync_single_for_device(mcast->ib, slot->grh_dma, grh,
				      DMA_FROM_DEVICE);
	ib_dma_sync_single_for_device(mcast->ib, slot->dma, RCL_MCAST_MTU,
				      DMA_FROM_DEVICE);
}

static void rcl_mcast_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_mcast_slot *slot =
		container_of(wc->wr_cqe, struct rcl_mcast_slot, cqe);
	struct rcl_mcast *mcast = slot->mcast;

	if (READ_ONCE(mcast->stopping)) {
		/* Nobody listens any more. */
	} else if (wc->status == IB_WC_SUCCESS) {
		rcl_mcast_take(slot, wc);
		if (rcl_mcast_post(slot))
			rcl_mcast_fail(mcast, RCLINK_DOWN_REASON_LOCAL_ERROR,
				       0, 0);
	} else {
		rcl_mcast_fail(mcast, RCLINK_DOWN_REASON_COMPLETION,
			       wc->status, wc->vendor_err);
	}
	rcl_mcast_unpost(mcast);
}

static void rcl_mcast_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_mcast_slot *slot =
		container_of(wc->wr_cqe, struct rcl_mcast_slot, cqe);
	struct rcl_mcast *mcast = slot->mcast;
	bool stopping = READ_ONCE(mcast->stopping);

	if (wc->status != IB_WC_SUCCESS && !stopping)
		rcl_mcast_fail(mcast, RCLINK_DOWN_REASON_COMPLETION,
			       wc->status, wc->vendor_err);
	/* Pairs with the acquire in rcl_mcast_is_free(). */
	smp_store_release(&slot->busy, false);
	if (!stopping)
		mcast->ops->sent(mcast);
	rcl_mcast_unpost(mcast);
}

static int rcl_mcast_create_qp(struct rcl_mcast *mcast)
{
	struct ib_qp_init_attr init = {
		.event_handler = rcl_mcast_event,
		.qp_context = mcast,
		.send_cq = mcast->cq,
		.recv_cq = mcast->cq,
		.qp_type = IB_QPT_UD,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = RCL_MCAST_TX,
			.max_recv_wr = RCL_MCAST_RX,
			.max_send_sge = 1,
			.max_recv_sge = RCL_MCAST_PIECES,
		},
	};

	mcast->qp = ib_create_qp(mcast->pd, &init);
	return PTR_ERR_OR_ZERO(mcast->qp);
}

/* A hop limit of 1: a group does not leave its subnet. */
static int rcl_mcast_create_ah(struct rcl_mcast *mcast,
			       const struct rcl_dev_user *user)
{
	const u8 *gid = mcast->addr.gid;
	struct rdma_ah_attr attr = {};
	union ib_gid dgid;

	attr.type = rdma_ah_find_type(user->ib, user->port);
	rdma_ah_set_port_num(&attr, user->port);
	memcpy(dgid.raw, gid, sizeof(dgid.raw));
	rdma_ah_set_grh(&attr, &dgid, 0, user->gid_index, 1, 0);
	rdma_ah_set_sl(&attr, mcast->addr.sl);
	rdma_ah_set_static_rate(&attr, mcast->addr.rate);
	if (attr.type == RDMA_AH_ATTR_TYPE_ROCE)
		rcl_mcast_ip_mac(gid, attr.roce.dmac);
	else
		rdma_ah_set_dlid(&attr, mcast->addr.lid);
	mcast->ah = rdma_create_ah(mcast->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	return PTR_ERR_OR_ZERO(mcast->ah);
}

static int rcl_mcast_to_init(struct rcl_mcast *mcast)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = mcast->port,
		.qkey = mcast->addr.qkey,
	};

	return ib_modify_qp(mcast->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_PORT | IB_QP_QKEY);
}

static int rcl_mcast_to_rts(struct rcl_mcast *mcast)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int ret;

	ret = ib_modify_qp(mcast->qp, &attr, IB_QP_STATE);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	attr.sq_psn = get_random_u32() & RCL_24BIT_MAX;
	return ib_modify_qp(mcast->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

/*
 * Everything comes back as a flush, unless the device is broken: then nothing
 * comes once the QP is destroyed, and what comes before may use it until then.
 * After this, the owner hears nothing more.
 */
static void rcl_mcast_stop(struct rcl_mcast *mcast)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	WRITE_ONCE(mcast->stopping, true);
	if (!ib_modify_qp(mcast->qp, &attr, IB_QP_STATE))
		wait_event_timeout(mcast->idle, !atomic_read(&mcast->posted),
				   msecs_to_jiffies(RCL_MCAST_STOP_MS));
	flush_work(&mcast->cq->work);
}

static int rcl_mcast_start(struct rcl_mcast *mcast, const char **why)
{
	int ret;
	int i;

	*why = "the device refuses a UD QP for the group";
	ret = rcl_mcast_to_init(mcast);
	for (i = 0; !ret && i < RCL_MCAST_RX; i++)
		ret = rcl_mcast_post(&mcast->rx[i]);
	if (!ret)
		ret = rcl_mcast_to_rts(mcast);
	if (ret)
		goto err_stop;
	*why = "the device has no multicast, or no more of it";
	ret = ib_attach_mcast(mcast->qp, (union ib_gid *)mcast->addr.gid,
			      mcast->addr.lid);
	if (ret)
		goto err_stop;
	return 0;

err_stop:
	rcl_mcast_stop(mcast);
	return ret;
}

static int rcl_mcast_join_ip(struct rcl_mcast *mcast,
			     const struct ib_gid_attr *sgid, const char **why)
{
	struct socket *sock;
	int ret;

	if (!rdma_protocol_roce(mcast->ib, mcast->port))
		return 0;
	*why = "the IP stack refuses to join the multicast address";
	ret = rcl_mcast_ip_join(sgid, mcast->addr.gid, &sock);
	if (!ret)
		mcast->sock = sock;
	return ret;
}

static int rcl_mcast_create_verbs(struct rcl_mcast *mcast,
				  const struct rcl_dev_user *user,
				  const char **why)
{
	int ret;

	*why = "the device refuses a PD, AH, CQ or UD QP for the group";
	mcast->pd = ib_alloc_pd(user->ib, 0);
	if (IS_ERR(mcast->pd))
		return PTR_ERR(mcast->pd);
	ret = rcl_mcast_create_ah(mcast, user);
	if (ret)
		goto err_pd;
	/* Whoever sends here without pause must not hold up links. */
	mcast->cq = ib_alloc_cq_any(user->ib, mcast,
				    RCL_MCAST_RX + RCL_MCAST_TX,
				    IB_POLL_UNBOUND_WORKQUEUE);
	ret = PTR_ERR_OR_ZERO(mcast->cq);
	if (ret)
		goto err_ah;
	ret = rcl_mcast_create_qp(mcast);
	if (ret)
		goto err_cq;
	return 0;

err_cq:
	ib_free_cq(mcast->cq);
err_ah:
	rdma_destroy_ah(mcast->ah, RDMA_DESTROY_AH_SLEEPABLE);
err_pd:
	ib_dealloc_pd(mcast->pd);
	return ret;
}

/*
 * If the device keeps a QP, what it may still write to is lost, and the module
 * stays: its code is called on completion. True when @mcast must stay, too.
 */
static bool rcl_mcast_lose_posted(struct rcl_mcast *mcast)
{
	int posted = atomic_read(&mcast->posted);

	if (!posted)
		return false;
	pr_warn_ratelimited("%s keeps a QP of a group: %d buffers are lost, and this module cannot be unloaded\n",
			    mcast->ib->name, posted);
	/* Nothing refers to it any more, and that is intended. */
	kmemleak_not_leak(mcast);
	__module_get(THIS_MODULE);
	return true;
}

/* False when @mcast must stay. */
static bool rcl_mcast_destroy_verbs(struct rcl_mcast *mcast)
{
	/* A QP that the device did not detach is lost, and tells nobody. */
	bool lost = ib_destroy_qp(mcast->qp);

	if (lost) {
		mcast->qp->event_handler = NULL;
		if (rcl_mcast_lose_posted(mcast))
			return false;
	} else {
		ib_free_cq(mcast->cq);
	}
	rdma_destroy_ah(mcast->ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (!lost)
		ib_dealloc_pd(mcast->pd);
	return true;
}

/**
 * rcl_mcast_random_qkey - draw a Q_Key
 *
 * Return: a controlled one: only privileged users can send with it (IBA
 * 10.2.5).
 */
u32 rcl_mcast_random_qkey(void)
{
	/* mlx4 keeps the highest 65536 for itself where it has VFs. */
	return (get_random_u32() | BIT(31)) & ~BIT(16);
}

static void rcl_mcast_free(struct rcl_mcast *mcast)
{
	rcl_mcast_unmap(mcast);
	kfree(mcast);
}

/* The QP exists. */
static void rcl_mcast_end(struct rcl_mcast *mcast)
{
	if (mcast->sock)
		rcl_mcast_ip_leave(mcast->sock);
	if (rcl_mcast_destroy_verbs(mcast))
		rcl_mcast_free(mcast);
}

static struct rcl_mcast *rcl_mcast_new(const struct rcl_mcast_ops *ops,
				       const struct rcl_mcast_addr *addr,
				       const struct rcl_dev_user *user)
{
	struct rcl_mcast *mcast;
	int i;

	mcast = kzalloc(sizeof(*mcast), GFP_KERNEL);
	if (!mcast)
		return NULL;
	for (i = 0; i < RCL_MCAST_TX; i++)
		mcast->tx[i].cqe.done = rcl_mcast_sent;
	for (i = 0; i < RCL_MCAST_RX; i++)
		mcast->rx[i].cqe.done = rcl_mcast_received;
	mcast->ops = ops;
	mcast->up = user->up;
	mcast->addr = *addr;
	mcast->ib = user->ib;
	mcast->port = user->port;
	init_waitqueue_head(&mcast->idle);
	if (!rcl_mcast_map(mcast))
		return mcast;
	kfree(mcast);
	return NULL;
}

static struct rcl_mcast *
rcl_mcast_create_held(const struct rcl_mcast_ops *ops,
		      const struct rcl_mcast_addr *addr,
		      const struct rcl_dev_user *user,
		      const struct ib_gid_attr *sgid, const char **why)
{
	struct rcl_mcast *mcast;
	int ret;

	*why = "out of memory";
	mcast = rcl_mcast_new(ops, addr, user);
	if (!mcast)
		return ERR_PTR(-ENOMEM);
	ret = rcl_mcast_create_verbs(mcast, user, why);
	if (ret)
		goto err_free;
	ret = rcl_mcast_join_ip(mcast, sgid, why);
	if (!ret)
		ret = rcl_mcast_start(mcast, why);
	if (ret)
		goto err_end;
	return mcast;

err_end:
	rcl_mcast_end(mcast);
	return ERR_PTR(ret);
err_free:
	rcl_mcast_free(mcast);
	return ERR_PTR(ret);
}

/**
 * rcl_mcast_create - make a QP and attach it to its group
 * @ops: called from now on
 * @addr: of the group
 * @user: attached to the device; @user->up is told of what ends the QP
 * @why: set to a sentence when that is refused
 *
 * Context: may sleep; takes the RTNL lock.
 * Return: the QP and what it needs, or the ERR_PTR of what refused it.
 */
struct rcl_mcast *rcl_mcast_create(const struct rcl_mcast_ops *ops,
				   const struct rcl_mcast_addr *addr,
				   const struct rcl_dev_user *user,
				   const char **why)
{
	const struct ib_gid_attr *sgid;
	struct rcl_mcast *mcast;
	u32 ignored;
	int ret;

	ret = rcl_dev_get_pkey(user, 0, &ignored, why);
	if (ret)
		return ERR_PTR(ret);
	/* Held until the device and the IP stack have it. */
	sgid = rcl_dev_get_sgid(user, why);
	if (IS_ERR(sgid))
		return ERR_CAST(sgid);
	mcast = rcl_mcast_create_held(ops, addr, user, sgid, why);
	rdma_put_gid_attr(sgid);
	return mcast;
}

/**
 * rcl_mcast_set_qkey - receive and send packets with another Q_Key
 * @mcast: created
 * @qkey: of the group
 *
 * Context: may sleep; others may send meanwhile.
 * Return: 0, or what ib_modify_qp() returns.
 */
int rcl_mcast_set_qkey(struct rcl_mcast *mcast, u32 qkey)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS, .qkey = qkey };
	int ret;

	if (qkey == mcast->addr.qkey)
		return 0;
	ret = ib_modify_qp(mcast->qp, &attr, IB_QP_STATE | IB_QP_QKEY);
	if (!ret)
		WRITE_ONCE(mcast->addr.qkey, qkey);
	return ret;
}

static bool rcl_mcast_is_free(const struct rcl_mcast_slot *slot)
{
	/* Pairs with the release in rcl_mcast_sent(). */
	return !smp_load_acquire(&slot->busy);
}

/* The first one from @i on; @end when all before that are under way. */
static int rcl_mcast_find_free(const struct rcl_mcast *mcast, int i, int end)
{
	while (i < end && !rcl_mcast_is_free(&mcast->tx[i]))
		i++;
	return i;
}

/**
 * rcl_mcast_begin - begin to send a packet
 * @mcast: created
 * @own: the packet is the owner's own, for which others leave room
 *
 * Context: one caller at a time, until rcl_mcast_send().
 * Return: a slot with room for RCL_MCAST_MTU bytes at @buf, or NULL while all
 * are under way.
 */
struct rcl_mcast_slot *rcl_mcast_begin(struct rcl_mcast *mcast, bool own)
{
	int end = own ? 1 : RCL_MCAST_TX;
	int i = rcl_mcast_find_free(mcast, own ? 0 : 1, end);
	struct rcl_mcast_slot *slot;

	if (i == end)
		return NULL;
	slot = &mcast->tx[i];
	ib_dma_sync_single_for_cpu(mcast->ib, slot->dma, RCL_MCAST_MTU,
				   DMA_TO_DEVICE);
	return slot;
}

/**
 * rcl_mcast_has_room - would rcl_mcast_begin() have a slot for others?
 * @mcast: created
 *
 * Context: any.
 * Return: true if so; it may be taken by the time the caller wants it.
 */
bool rcl_mcast_has_room(const struct rcl_mcast *mcast)
{
	return rcl_mcast_find_free(mcast, 1, RCL_MCAST_TX) < RCL_MCAST_TX;
}

/**
 * rcl_mcast_send - send what was put into a slot
 * @slot: from rcl_mcast_begin()
 * @len: bytes, at most the port's MTU
 *
 * Context: any; that of the rcl_mcast_begin() call.
 * Return: 0, or what ib_post_send() returns.
 */
int rcl_mcast_send(struct rcl_mcast_slot *slot, u32 len)
{
	struct rcl_mcast *mcast = slot->mcast;
	struct ib_sge sge = {
		.addr = slot->dma,
		.length = len,
		.lkey = mcast->pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &slot->cqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
		.ah = mcast->ah,
		.remote_qpn = IB_MULTICAST_QPN,
		.remote_qkey = READ_ONCE(mcast->addr.qkey),
	};
	int ret;

	ib_dma_sync_single_for_device(mcast->ib, slot->dma, RCL_MCAST_MTU,
				      DMA_TO_DEVICE);
	WRITE_ONCE(slot->busy, true);
	atomic_inc(&mcast->posted);
	ret = ib_post_send(mcast->qp, &wr.wr, NULL);
	if (ret) {
		WRITE_ONCE(slot->busy, false);
		rcl_mcast_unpost(mcast);
	}
	return ret;
}

/**
 * rcl_mcast_destroy - the mirror of rcl_mcast_create()
 * @mcast: freed, and its ops no longer run afterwards; nobody sends
 *
 * Context: may sleep; takes the RTNL lock.
 */
void rcl_mcast_destroy(struct rcl_mcast *mcast)
{
	/* A QP that is attached cannot be destroyed. */
	if (ib_detach_mcast(mcast->qp, (union ib_gid *)mcast->addr.gid,
			    mcast->addr.lid))
		pr_err_ratelimited("%s does not let a multicast group go\n",
				   mcast->ib->name);
	rcl_mcast_stop(mcast);
	rcl_mcast_end(mcast);
}
