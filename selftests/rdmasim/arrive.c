// SPDX-License-Identifier: GPL-2.0
/*
 * Frames from other kernels. They arrive in any context, and wait for a work
 * item, because whatever moves messages takes the mutex sim_wire.
 */
#include <linux/etherdevice.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <rdma/ib_addr.h>

#include "compat.h"
#include "sim.h"
#include "wire.h"

#define SIM_QUEUE	4096	/* frames; others are lost */

static struct sk_buff_head sim_frames;
static void *sim_brought;	/* of SIM_BROUGHT bytes, under sim_wire */

#define SIM_BROUGHT	(SIM_WINDOW * SIM_WIRE_MTU)

static void sim_arrive_wqe(const struct sim_frame *frame, struct sim_swqe *wqe)
{
	wqe->wr.opcode = frame->opcode;
	wqe->wr.send_flags = frame->solicited ? IB_SEND_SOLICITED : 0;
	wqe->wr.ex.invalidate_rkey = frame->ex;
	switch (frame->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		wqe->rdma.remote_addr = frame->remote_addr;
		wqe->rdma.rkey = frame->rkey;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		wqe->atomic.remote_addr = frame->remote_addr;
		wqe->atomic.rkey = frame->rkey;
		wqe->atomic.compare_add = frame->compare_add;
		wqe->atomic.swap = frame->swap;
		wqe->atomic.compare_add_mask = frame->compare_add_mask;
		wqe->atomic.swap_mask = frame->swap_mask;
		break;
	default:
		break;
	}
}

/* Does the frame ask for data? Then it carries none. */
static bool sim_is_asking(const struct sim_frame *frame)
{
	return !frame->answer && sim_brings_data(frame->opcode);
}

static void sim_arrive_rc(struct sim_dev *dev, const struct sim_frame *frame,
			  struct sim_msg *msg)
{
	struct sim_qp *qp = xa_load(&dev->qps, frame->dqpn);
	struct sim_swqe wqe = {};

	if (!qp)
		return;
	sim_arrive_wqe(frame, &wqe);
	msg->wqe = &wqe;
	msg->reply.answer = sim_rc_receive(qp, msg);
	/* An error in the middle of a message is answered at once. */
	if (msg->reply.answer == SIM_SILENCE ||
	    (msg->reply.answer == SIM_ACK && !frame->last))
		return;
	sim_wire_answer(qp, msg);
}

static bool sim_is_for_group(const struct sim_frame *frame)
{
	return frame->ud && frame->grh &&
	       rdma_is_multicast_addr((struct in6_addr *)frame->dgid.raw);
}

static void sim_arrive_ud(struct sim_dev *dev, const struct sim_frame *frame,
			  struct sim_msg *msg)
{
	struct sim_qp *qp = xa_load(&dev->qps, frame->dqpn);
	struct sim_swqe wqe = {};

	sim_arrive_wqe(frame, &wqe);
	msg->wqe = &wqe;
	if (sim_is_for_group(frame))
		sim_ud_multicast(dev, msg);
	else if (qp)
		sim_ud_receive(qp, msg);
}

static void sim_arrive_answer(struct sim_dev *dev,
			      const struct sim_frame *frame,
			      struct sim_msg *msg)
{
	struct sim_qp *qp = xa_load(&dev->qps, frame->dqpn);

	msg->reply = (struct sim_reply) {
		.answer = frame->answer,
		.psn = frame->psn,
		.rnr_timer = frame->rnr_timer,
		.status = frame->status,
	};
	if (qp)
		sim_send_answered(qp, msg, frame->last);
}

/* Deliver a frame at a port of this kernel. */
static void sim_arrive_at(struct sim_dev *dev, const struct sim_frame *frame,
			  const void *bytes)
{
	struct ib_sge sge = {
		.addr = (uintptr_t)bytes,
		.length = frame->len,
	};
	struct sim_av av = {
		.dlid = frame->dlid,
		.sl = frame->sl,
		.grh = frame->grh,
		.dgid = frame->dgid,
		.sgid = frame->sgid,
	};
	struct sim_msg msg = {
		.av = &av,
		.data.sge = &sge,
		.src_qpn = frame->sqpn,
		.qkey = frame->qkey,
		.prefix = frame->prefix,
		.slid = frame->slid,
		.pkey = frame->pkey,
		.psn = frame->psn,
		.npsn = frame->npsn,
		.len = frame->len,
		.at = frame->at,
		.total = frame->total,
	};

	if (frame->answer) {
		sim_arrive_answer(dev, frame, &msg);
	} else if (frame->ud) {
		sim_arrive_ud(dev, frame, &msg);
	} else {
		if (sim_is_asking(frame))
			sge.addr = (uintptr_t)sim_brought;
		sim_arrive_rc(dev, frame, &msg);
	}
}

/* Set @frame from @skb; is it a whole and valid frame? */
static bool sim_arrive_read(const struct sk_buff *skb, struct sim_frame *frame)
{
	u32 len, crc;

	if (skb->len < sizeof(*frame))
		return false;
	memcpy(frame, skb->data, sizeof(*frame));
	crc = frame->crc;
	frame->crc = 0;
	/* A short frame is padded with bytes that do not count. */
	len = sim_is_asking(frame) ? 0 : frame->len;
	if (len > skb->len - sizeof(*frame) ||
	    crc != sim_frame_crc(frame, skb->data + sizeof(*frame), len))
		return false;
	if (frame->total > SIM_MAX_MSG || frame->at > frame->total)
		return false;
	return !sim_is_asking(frame) || frame->len <= SIM_BROUGHT;
}

static void sim_arrive(const struct sk_buff *skb)
{
	struct sim_port from = { .state = IB_PORT_ACTIVE };
	struct sim_dev *dev = NULL;
	struct sim_frame frame;
	struct sim_av av = {};

	if (!sim_arrive_read(skb, &frame))
		return;
	from.prefix = frame.prefix;
	av.dlid = frame.dlid;
	av.grh = frame.grh;
	av.dgid = frame.dgid;
	while ((dev = sim_fabric_next(&from, dev)))
		if (dev->wire == skb->skb_iif &&
		    (sim_is_for_group(&frame) ||
		     sim_port_is_at(dev, &from, &av)))
			sim_arrive_at(dev, &frame, skb->data + sizeof(frame));
}

static void sim_arrive_work(struct work_struct *work)
{
	struct sk_buff *skb;

	mutex_lock(&sim_wire);
	while ((skb = skb_dequeue(&sim_frames))) {
		sim_arrive(skb);
		kfree_skb(skb);
	}
	mutex_unlock(&sim_wire);
}

static DECLARE_WORK(sim_arrival, sim_arrive_work);

static int sim_arrive_frame(struct sk_buff *skb, struct net_device *netdev,
			    struct packet_type *type, struct net_device *orig)
{
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	if (skb_queue_len(&sim_frames) >= SIM_QUEUE || skb_linearize(skb)) {
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	skb_queue_tail(&sim_frames, skb);
	queue_work(sim_wq, &sim_arrival);
	return NET_RX_SUCCESS;
}

static struct packet_type sim_packets = {
	.type = cpu_to_be16(SIM_ETHERTYPE),
	.func = sim_arrive_frame,
};

int sim_arrive_init(void)
{
	sim_brought = kvmalloc(SIM_BROUGHT, GFP_KERNEL);
	if (!sim_brought)
		return -ENOMEM;
	skb_queue_head_init(&sim_frames);
	dev_add_pack(&sim_packets);
	return 0;
}

/* No device has a wire any more. */
void sim_arrive_exit(void)
{
	dev_remove_pack(&sim_packets);
	cancel_work_sync(&sim_arrival);
	skb_queue_purge(&sim_frames);
	kvfree(sim_brought);
}
