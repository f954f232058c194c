// SPDX-License-Identifier: GPL-2.0
/*
 * Sends use their slots in turn, and RC completes them in order, so only one in
 * RCL_CTRL_SIGNAL is signaled, which retires those before it: the completion of
 * a send may wake the work item for nothing.
 *
 * All of it belongs to the link's work item, or to its chore. They poll the QP,
 * so completion handlers are called from them.
 */
#include "ctrl.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "msg.h"
#include "qp.h"
#include "stats.h"
#include "trace.h"

#define RCL_BYE_MS	200	/* for the peer to acknowledge a goodbye */

/*
 * No peer of ours sends that, so the QP can no longer be relied on. @wc is that
 * of the receive if it failed.
 */
static void rcl_ctrl_trip(struct rcl_ctrl *ctrl, u64 *counter, u32 reason,
			  const struct ib_wc *wc)
{
	(*counter)++;
	rcl_qp_fail(ctrl->qp, reason, wc ? wc->status : 0,
		    wc ? wc->vendor_err : 0);
}

/*
 * Our receives are well-formed, so if one fails, what came in is at fault. rxe
 * reports the last two for more than the slot has room for, or than the path
 * MTU allows.
 */
static bool rcl_ctrl_is_too_long(enum ib_wc_status status)
{
	return status == IB_WC_LOC_LEN_ERR || status == IB_WC_LOC_QP_OP_ERR ||
	       status == IB_WC_REM_INV_REQ_ERR;
}

static void rcl_ctrl_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_ctrl_slot *slot =
		container_of(wc->wr_cqe, struct rcl_ctrl_slot, cqe);
	struct rcl_ctrl *ctrl = slot->ctrl;

	if (rcl_ctrl_is_too_long(wc->status)) {
		rcl_ctrl_trip(ctrl, &ctrl->stats->rx_wrong_size,
			      RCLINK_DOWN_REASON_NOT_A_MESSAGE, wc);
		return;
	}
	if (wc->status != IB_WC_SUCCESS) {
		rcl_qp_wc_failed(cq, wc);
		return;
	}
	/* For a WRITE with immediate, byte_len is what it wrote elsewhere. */
	if (wc->opcode != IB_WC_RECV ||
	    wc->wc_flags & (IB_WC_WITH_IMM | IB_WC_WITH_INVALIDATE)) {
		rcl_ctrl_trip(ctrl, &ctrl->stats->rx_wrong_kind,
			      RCLINK_DOWN_REASON_NOT_A_MESSAGE, NULL);
		return;
	}
	slot->len = wc->byte_len;
	slot->arrived = ktime_get();
	list_add_tail(&slot->node, &ctrl->received);
}

static void rcl_ctrl_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_ctrl_slot *slot =
		container_of(wc->wr_cqe, struct rcl_ctrl_slot, cqe);

	if (wc->status == IB_WC_SUCCESS)
		slot->ctrl->retired = slot->number + 1;
	else
		rcl_qp_wc_failed(cq, wc);
}

/**
 * rcl_ctrl_poll - handle what has completed
 * @ctrl: created
 *
 * This is bounded by what can be outstanding.
 *
 * Context: the link's work item, or its chore while that has the epoch.
 * Return: true if anything had completed.
 */
bool rcl_ctrl_poll(struct rcl_ctrl *ctrl)
{
	return rcl_qp_poll(ctrl->qp, 2 * RCL_CTRL_SLOTS);
}

static int rcl_ctrl_map(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot *slots,
			enum dma_data_direction dir,
			void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	u32 size = RCL_CTRL_SLOTS * RCL_MSG_SLOT;
	u64 dma;
	u8 *mem;
	int i;

	mem = kzalloc(size, GFP_KERNEL);
	if (!mem)
		return -ENOMEM;
	dma = ib_dma_map_single(ctrl->ib, mem, size, dir);
	if (ib_dma_mapping_error(ctrl->ib, dma)) {
		kfree(mem);
		return -EIO;
	}
	for (i = 0; i < RCL_CTRL_SLOTS; i++) {
		slots[i].cqe.done = done;
		slots[i].ctrl = ctrl;
		slots[i].buf = mem + i * RCL_MSG_SLOT;
		slots[i].dma = dma + i * RCL_MSG_SLOT;
	}
	return 0;
}

static void rcl_ctrl_unmap(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot *slots,
			   enum dma_data_direction dir)
{
	ib_dma_unmap_single(ctrl->ib, slots[0].dma,
			    RCL_CTRL_SLOTS * RCL_MSG_SLOT, dir);
	/* They may have carried the key of a group. */
	kfree_sensitive(slots[0].buf);
}

/**
 * rcl_ctrl_create - allocate and map the slots
 * @ctrl: zeroed, filled in
 * @ib: device of @qp
 * @qp: the control QP, not yet created; it must get room for RCL_CTRL_SLOTS
 *	receives and RCL_CTRL_SLOTS + RCL_CTRL_EXTRA_WR sends
 * @stats: of the link
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM or -EIO.
 */
int rcl_ctrl_create(struct rcl_ctrl *ctrl, struct ib_device *ib,
		    struct rcl_qp *qp, struct rcl_stats *stats)
{
	int ret;

	ctrl->ib = ib;
	ctrl->qp = qp;
	ctrl->stats = stats;
	ctrl->copies = rcl_seal_copies();
	rcl_credit_init(&ctrl->credit);
	INIT_LIST_HEAD(&ctrl->received);

	ret = rcl_ctrl_map(ctrl, ctrl->rx, DMA_FROM_DEVICE, rcl_ctrl_received);
	if (ret)
		return ret;
	ret = rcl_ctrl_map(ctrl, ctrl->tx, DMA_TO_DEVICE, rcl_ctrl_sent);
	if (ret)
		rcl_ctrl_unmap(ctrl, ctrl->rx, DMA_FROM_DEVICE);
	return ret;
}

/**
 * rcl_ctrl_post - post all receives
 * @ctrl: created, its QP in INIT
 *
 * Return: 0, or what ib_post_recv() says.
 */
int rcl_ctrl_post(struct rcl_ctrl *ctrl)
{
	int ret;
	int i;

	for (i = 0; i < RCL_CTRL_SLOTS; i++) {
		ret = rcl_qp_post_recv(ctrl->qp, &ctrl->rx[i].cqe,
				       ctrl->rx[i].dma, RCL_MSG_SLOT);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * rcl_ctrl_start - begin to open and close seals
 * @ctrl: created, its QP in RTS
 * @key: of this epoch
 * @role: enum rclink_role of this end
 * @epoch: agreed in the exchange
 *
 * Context: the link's work item, or its chore while that has the epoch.
 */
void rcl_ctrl_start(struct rcl_ctrl *ctrl, const u8 *key, u32 role, u64 epoch)
{
	rcl_seal_start(&ctrl->seal, key, role, epoch);
	ctrl->started = true;
}

/**
 * rcl_ctrl_destroy - the mirror of rcl_ctrl_create()
 * @ctrl: its QP is gone
 */
void rcl_ctrl_destroy(struct rcl_ctrl *ctrl)
{
	rcl_ctrl_unmap(ctrl, ctrl->tx, DMA_TO_DEVICE);
	rcl_ctrl_unmap(ctrl, ctrl->rx, DMA_FROM_DEVICE);
	rcl_seal_wipe(&ctrl->seal);
}

static bool rcl_ctrl_is_full(const struct rcl_ctrl *ctrl)
{
	return ctrl->sent - ctrl->retired == RCL_CTRL_SLOTS;
}

/**
 * rcl_ctrl_can_ask - may one more question be sent now?
 * @ctrl: started
 *
 * Context: the link's work item.
 * Return: false when an answer must come in first.
 */
bool rcl_ctrl_can_ask(const struct rcl_ctrl *ctrl)
{
	return rcl_credit_has_places(&ctrl->credit, 1);
}

static int rcl_ctrl_post_slot(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot *slot,
			      u32 len, bool signal)
{
	struct ib_sge sge = {
		.addr = slot->dma,
		.length = len,
		.lkey = ctrl->qp->qp->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &slot->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = signal ? IB_SEND_SIGNALED : 0,
	};

	ib_dma_sync_single_for_device(ctrl->ib, slot->dma, RCL_MSG_SLOT,
				      DMA_TO_DEVICE);
	return rcl_qp_post_send(ctrl->qp, &wr) ? -EIO : 0;
}

/**
 * rcl_ctrl_send - seal and send a message
 * @ctrl: started
 * @msg: @msg->credits is filled in
 *
 * Context: the link's work item.
 * Return: 0, -EAGAIN when no send slot is free (a completion comes when one
 * is), -EPROTO when the peer has left no credit, or -EIO when the device does
 * not accept it, whatever its errno, or another copy of this host has the key,
 * either of which ends the epoch.
 */
int rcl_ctrl_send(struct rcl_ctrl *ctrl, struct rcl_msg *msg)
{
	struct rcl_ctrl_slot *slot;
	u32 len;
	int ret;

	if (!ctrl->credit.left)
		return -EPROTO;
	if (rcl_ctrl_is_full(ctrl))
		return -EAGAIN;
	if (ctrl->copies != rcl_seal_copies()) {
		rcl_qp_fail(ctrl->qp, RCLINK_DOWN_REASON_SNAPSHOT, 0, 0);
		return -EIO;
	}

	slot = &ctrl->tx[ctrl->sent % RCL_CTRL_SLOTS];
	ib_dma_sync_single_for_cpu(ctrl->ib, slot->dma, RCL_MSG_SLOT,
				   DMA_TO_DEVICE);
	rcl_credit_sent(&ctrl->credit, msg, ktime_get_ns());
	len = rcl_msg_encode(slot->buf + RCL_MSG_AAD, msg);
	len = rcl_seal_close(&ctrl->seal, slot->buf, len);
	slot->number = ctrl->sent++;
	ret = rcl_ctrl_post_slot(ctrl, slot, len, msg->type == RCL_MSG_BYE ||
				 slot->number % RCL_CTRL_SIGNAL == 0);
	if (ret)
		return ret;
	ctrl->bye |= msg->type == RCL_MSG_BYE;
	ctrl->stats->tx_messages++;
	ctrl->stats->tx_bytes += len;
	trace_rcl_ctrl_tx(ctrl->seal.epoch, msg->type, len);
	return 0;
}

/**
 * rcl_ctrl_ask - send a question that has a cookie of its own
 * @ctrl: started
 * @msg: complete but for the cookie
 * @cookie: set to that cookie when the question was sent
 *
 * Processes may cause as many of these as they like, so one place is reserved
 * for pings and heartbeats.
 *
 * Context: the link's work item.
 * Return: 0, -EAGAIN when an answer must come in first, or as rcl_ctrl_send().
 */
int rcl_ctrl_ask(struct rcl_ctrl *ctrl, struct rcl_msg *msg, u32 *cookie)
{
	int ret;

	if (!rcl_credit_has_places(&ctrl->credit, 2))
		return -EAGAIN;
	msg->cookie = ++ctrl->cookie;
	ret = rcl_ctrl_send(ctrl, msg);
	if (!ret)
		*cookie = msg->cookie;
	return ret;
}

static int rcl_ctrl_account(struct rcl_ctrl *ctrl, const struct rcl_msg *msg,
			    ktime_t arrived)
{
	u64 when = ktime_to_ns(arrived);
	struct rcl_question asked;
	int ret;

	ret = rcl_credit_received(&ctrl->credit, msg, when, &asked);
	/* A hello waits until the peer is there. */
	if (!ret && asked.type && asked.type != RCL_MSG_HELLO)
		rcl_latency_add(&ctrl->stats->latency, when - asked.when);
	return ret;
}

static int rcl_ctrl_open(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot *slot)
{
	struct rcl_stats *stats = ctrl->stats;
	int len;

	ib_dma_sync_single_for_cpu(ctrl->ib, slot->dma, RCL_MSG_SLOT,
				   DMA_FROM_DEVICE);
	len = rcl_seal_open(&ctrl->seal, slot->buf, slot->len);
	if (len == -EMSGSIZE)
		rcl_ctrl_trip(ctrl, &stats->rx_wrong_size,
			      RCLINK_DOWN_REASON_NOT_A_MESSAGE, NULL);
	else if (len == -EILSEQ)
		rcl_ctrl_trip(ctrl, &stats->rx_out_of_sequence,
			      RCLINK_DOWN_REASON_OUT_OF_SEQUENCE, NULL);
	else if (len < 0)
		rcl_ctrl_trip(ctrl, &stats->rx_unauthenticated,
			      RCLINK_DOWN_REASON_UNAUTHENTICATED, NULL);
	return len;
}

/**
 * rcl_ctrl_can_recv - has a message come in that can be read now?
 * @ctrl: of the epoch
 *
 * None can while no send slot is free, because an answer needs one.
 *
 * Context: the link's work item.
 * Return: true if so.
 */
bool rcl_ctrl_can_recv(const struct rcl_ctrl *ctrl)
{
	return ctrl->started && !rcl_ctrl_is_full(ctrl) &&
	       !list_empty(&ctrl->received);
}

/**
 * rcl_ctrl_recv - open the next message
 * @ctrl: of the epoch
 * @slot: set on success; to be given to rcl_ctrl_repost() after use
 * @msg: set on success; its data lies in @slot
 *
 * Context: the link's work item.
 * Return: 1 for a message, 0 when there is none now, -EPROTO for one that
 * breaks the protocol, or another errno for anything but the authentic next
 * message, which has then been noted as a failure.
 */
int rcl_ctrl_recv(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot **slot,
		  struct rcl_msg *msg)
{
	struct rcl_ctrl_slot *got;
	int len;
	int ret;

	if (!rcl_ctrl_can_recv(ctrl))
		return 0;
	got = list_first_entry(&ctrl->received, struct rcl_ctrl_slot, node);
	list_del(&got->node);

	len = rcl_ctrl_open(ctrl, got);
	if (len < 0)
		return len;
	ctrl->stats->rx_messages++;
	ctrl->stats->rx_bytes += got->len;
	ret = rcl_msg_decode(got->buf + RCL_MSG_AAD, len, msg);
	if (!ret)
		ret = rcl_ctrl_account(ctrl, msg, got->arrived);
	if (ret)
		return -EPROTO;
	trace_rcl_ctrl_rx(ctrl->seal.epoch, msg->type, got->len);
	*slot = got;
	return 1;
}

/**
 * rcl_ctrl_repost - post a receive slot again
 * @ctrl: of the epoch
 * @slot: from rcl_ctrl_recv()
 *
 * Context: the link's work item.
 * Return: 0, or -EIO.
 */
int rcl_ctrl_repost(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot *slot)
{
	ib_dma_sync_single_for_device(ctrl->ib, slot->dma, RCL_MSG_SLOT,
				      DMA_FROM_DEVICE);
	if (rcl_qp_post_recv(ctrl->qp, &slot->cqe, slot->dma, RCL_MSG_SLOT))
		return -EIO;
	ctrl->credit.owed++;
	return 0;
}

/**
 * rcl_ctrl_flush - give the peer's device time to receive what was sent
 * @ctrl: started; the last message was a goodbye, or no send slot is free
 * @left: messages that it need not have received, the last ones
 *
 * Context: may sleep; the link's work item, or the chore that has the epoch.
 */
void rcl_ctrl_flush(struct rcl_ctrl *ctrl, u32 left)
{
	unsigned long end = jiffies + msecs_to_jiffies(RCL_BYE_MS);

	while (ctrl->sent - ctrl->retired > left) {
		/* Before the poll: preemption must not look like a timeout. */
		bool late = time_after(jiffies, end);

		if (rcl_ctrl_poll(ctrl))
			continue;
		if (late)
			return;
		usleep_range(20, 100);
	}
}

/**
 * rcl_ctrl_say_bye - tell the peer that this end is about to end the epoch
 * @ctrl: of the epoch; if it was not started, nothing is sent
 * @again: another epoch is to follow
 * @wait: wait until the peer's device has the message
 *
 * Context: may sleep; the link's work item.
 */
void rcl_ctrl_say_bye(struct rcl_ctrl *ctrl, bool again, bool wait)
{
	struct rcl_msg bye = {
		.type = RCL_MSG_BYE,
		.cookie = again ? RCL_MSG_AGAIN : 0,
	};
	int ret;

	if (!ctrl->started)
		return;
	ret = rcl_ctrl_send(ctrl, &bye);
	/* Pings may have taken all slots. */
	if (ret == -EAGAIN && wait) {
		rcl_ctrl_flush(ctrl, RCL_CTRL_SLOTS - 1);
		ret = rcl_ctrl_send(ctrl, &bye);
	}
	if (!ret && wait)
		rcl_ctrl_flush(ctrl, 0);
}
