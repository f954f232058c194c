// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams of a multicast group. Whoever has the Q_Key can send to the QP, so
 * nothing that comes in ends it; what fails here is the device's own.
 */
#include "mcast.h"

#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "device.h"
#include "endpoint.h"
#include "mcast-ip.h"
#include "upcall.h"

#define RCL_MCAST_STOP_MS	5000	/* for flushes */

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

/* What was posted last is flushed by the one who stops. */
static int rcl_mcast_post(struct rcl_mcast_slot *slot)
{
	struct rcl_mcast *mcast = slot->mcast;
	struct ib_sge sge = {
		.addr = slot->dma,
		.length = RCL_MCAST_SLOT,
		.lkey = mcast->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &slot->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	int ret;

	atomic_inc(&mcast->posted);
	ret = ib_post_recv(mcast->qp, &wr, NULL);
	if (ret)
		rcl_mcast_unpost(mcast);
	return ret;
}

static void rcl_mcast_take(struct rcl_mcast_slot *slot, u32 len)
{
	struct rcl_mcast *mcast = slot->mcast;
	u32 grh = sizeof(struct ib_grh);

	if (len < grh || len > RCL_MCAST_SLOT)
		return;
	ib_dma_sync_single_for_cpu(mcast->qp->device, slot->dma,
				   RCL_MCAST_SLOT, DMA_FROM_DEVICE);
	mcast->received(mcast, slot->buf + grh, len - grh);
	ib_dma_sync_single_for_device(mcast->qp->device, slot->dma,
				      RCL_MCAST_SLOT, DMA_FROM_DEVICE);
}

static void rcl_mcast_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_mcast_slot *slot =
		container_of(wc->wr_cqe, struct rcl_mcast_slot, cqe);
	struct rcl_mcast *mcast = slot->mcast;

	if (wc->status == IB_WC_SUCCESS) {
		rcl_mcast_take(slot, wc->byte_len);
		if (!READ_ONCE(mcast->stopping) && rcl_mcast_post(slot))
			rcl_mcast_fail(mcast, RCLINK_DOWN_REASON_LOCAL_ERROR,
				       0, 0);
	} else if (!READ_ONCE(mcast->stopping)) {
		rcl_mcast_fail(mcast, RCLINK_DOWN_REASON_COMPLETION,
			       wc->status, wc->vendor_err);
	}
	rcl_mcast_unpost(mcast);
}

static void rcl_mcast_unmap(struct rcl_mcast *mcast, struct ib_device *ib)
{
	struct rcl_mcast_slot *slot;

	for (slot = mcast->rx; slot < mcast->rx + RCL_MCAST_RX; slot++) {
		if (!slot->buf)
			break;
		ib_dma_unmap_single(ib, slot->dma, RCL_MCAST_SLOT,
				    DMA_FROM_DEVICE);
		kfree(slot->buf);
		slot->buf = NULL;
	}
}

static int rcl_mcast_map(struct rcl_mcast *mcast, struct ib_device *ib)
{
	struct rcl_mcast_slot *slot;
	u8 *buf;

	for (slot = mcast->rx; slot < mcast->rx + RCL_MCAST_RX; slot++) {
		buf = kzalloc(RCL_MCAST_SLOT, GFP_KERNEL);
		if (!buf)
			goto err_unmap;
		slot->dma = ib_dma_map_single(ib, buf, RCL_MCAST_SLOT,
					      DMA_FROM_DEVICE);
		if (ib_dma_mapping_error(ib, slot->dma)) {
			kfree(buf);
			goto err_unmap;
		}
		slot->buf = buf;
		slot->mcast = mcast;
		slot->cqe.done = rcl_mcast_received;
	}
	return 0;

err_unmap:
	rcl_mcast_unmap(mcast, ib);
	return -ENOMEM;
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
			.max_send_wr = 1,
			.max_recv_wr = RCL_MCAST_RX,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ib_qp *qp;

	qp = ib_create_qp(mcast->pd, &init);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	mcast->qp = qp;
	return 0;
}

static int rcl_mcast_to_init(struct rcl_mcast *mcast, u32 port)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = port,
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
 * Everything comes back as a flush, but of a device that is broken: then
 * nothing is left that may complete once the QP is destroyed.
 */
static void rcl_mcast_stop(struct rcl_mcast *mcast)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	WRITE_ONCE(mcast->stopping, true);
	if (!ib_modify_qp(mcast->qp, &attr, IB_QP_STATE))
		wait_event_timeout(mcast->idle, !atomic_read(&mcast->posted),
				   msecs_to_jiffies(RCL_MCAST_STOP_MS));
}

static int rcl_mcast_start(struct rcl_mcast *mcast, u32 port, const char **why)
{
	int ret;
	int i;

	*why = "the device refuses a UD QP for the group";
	ret = rcl_mcast_to_init(mcast, port);
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
			     const struct rcl_dev_user *user, const char **why)
{
	const struct ib_gid_attr *sgid;
	int ret;

	mcast->sock = NULL;
	if (!rdma_protocol_roce(user->ib, user->port))
		return 0;
	*why = "the IP stack refuses to join the multicast address";
	sgid = rdma_get_gid_attr(user->ib, user->port, user->gid_index);
	if (IS_ERR(sgid))
		return PTR_ERR(sgid);
	ret = rcl_mcast_ip_join(sgid, mcast->addr.gid, &mcast->sock);
	rdma_put_gid_attr(sgid);
	return ret;
}

static int rcl_mcast_create_verbs(struct rcl_mcast *mcast,
				  struct ib_device *ib, const char **why)
{
	int ret;

	*why = "the device refuses a PD, a CQ or a UD QP for the group";
	mcast->pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(mcast->pd))
		return PTR_ERR(mcast->pd);
	mcast->cq = ib_alloc_cq_any(ib, mcast, RCL_MCAST_RX + 1,
				    IB_POLL_WORKQUEUE);
	if (IS_ERR(mcast->cq)) {
		ret = PTR_ERR(mcast->cq);
		goto err_pd;
	}
	ret = rcl_mcast_create_qp(mcast);
	if (ret)
		goto err_cq;
	return 0;

err_cq:
	ib_free_cq(mcast->cq);
err_pd:
	ib_dealloc_pd(mcast->pd);
	return ret;
}

static void rcl_mcast_destroy_verbs(struct rcl_mcast *mcast)
{
	ib_destroy_qp(mcast->qp);
	ib_free_cq(mcast->cq);
	ib_dealloc_pd(mcast->pd);
}

/**
 * rcl_mcast_random_qkey - draw a Q_Key
 *
 * Return: a controlled one: only who is privileged can send with it (IBA
 * 10.2.5).
 */
u32 rcl_mcast_random_qkey(void)
{
	return get_random_u32() | BIT(31);
}

/**
 * rcl_mcast_create - make a QP and attach it to its group
 * @mcast: with @received, @up and @addr; the rest is filled in
 * @user: attached to the device
 * @why: set to a sentence when it is refused
 *
 * Context: may sleep; takes the RTNL lock.
 * Return: 0, or the errno of what refused.
 */
int rcl_mcast_create(struct rcl_mcast *mcast, const struct rcl_dev_user *user,
		     const char **why)
{
	int ret;

	atomic_set(&mcast->posted, 0);
	mcast->stopping = false;
	init_waitqueue_head(&mcast->idle);
	*why = "out of memory";
	ret = rcl_mcast_map(mcast, user->ib);
	if (ret)
		return ret;
	ret = rcl_mcast_create_verbs(mcast, user->ib, why);
	if (ret)
		goto err_unmap;
	ret = rcl_mcast_join_ip(mcast, user, why);
	if (ret)
		goto err_verbs;
	ret = rcl_mcast_start(mcast, user->port, why);
	if (ret)
		goto err_leave;
	return 0;

err_leave:
	if (mcast->sock)
		rcl_mcast_ip_leave(mcast->sock);
err_verbs:
	rcl_mcast_destroy_verbs(mcast);
err_unmap:
	rcl_mcast_unmap(mcast, user->ib);
	return ret;
}

/**
 * rcl_mcast_destroy - the mirror of rcl_mcast_create()
 * @mcast: @received does not run any more afterwards
 *
 * Context: may sleep; takes the RTNL lock.
 */
void rcl_mcast_destroy(struct rcl_mcast *mcast)
{
	struct ib_device *ib = mcast->qp->device;

	/* A QP that is attached cannot be destroyed. */
	ib_detach_mcast(mcast->qp, (union ib_gid *)mcast->addr.gid,
			mcast->addr.lid);
	rcl_mcast_stop(mcast);
	if (mcast->sock)
		rcl_mcast_ip_leave(mcast->sock);
	rcl_mcast_destroy_verbs(mcast);
	rcl_mcast_unmap(mcast, ib);
}
