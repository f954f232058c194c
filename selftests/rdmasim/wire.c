// SPDX-License-Identifier: GPL-2.0
/*
 * Frames to other kernels. A message that is longer than a packet goes out in
 * several packets, of which the last one is answered; lost packets are sent
 * again by the rules of send.c.
 */
#include "wire.h"

#include <linux/etherdevice.h>
#include <linux/mm.h>
#include <linux/netdevice.h>

#include "compat.h"
#include "sim.h"

/* Sends a frame and its data, without knowing whether they arrive. */
static void sim_wire_xmit(struct sim_dev *dev, struct sim_frame *frame,
			  struct sim_span *from, u32 len, bool corrupt)
{
	struct net_device *netdev = dev_get_by_index(&init_net, dev->wire);
	struct sim_span to = {};
	struct ib_sge sge = { .length = len };
	struct sk_buff *skb = NULL;
	void *head;
	u32 room;

	if (netdev) {
		room = LL_RESERVED_SPACE(netdev);
		skb = alloc_skb(room + sizeof(*frame) + len +
				netdev->needed_tailroom, GFP_KERNEL);
	}
	if (skb) {
		skb_reserve(skb, room);
		skb_reset_network_header(skb);
		head = skb_put(skb, sizeof(*frame));
		sge.addr = (uintptr_t)skb_put(skb, len);
		to.sge = &sge;
		sim_copy(&to, from, len, corrupt);
		frame->crc = 0;
		frame->crc = sim_frame_crc(frame, skb->data + sizeof(*frame),
					   len);
		memcpy(head, frame, sizeof(*frame));
		skb->dev = netdev;
		skb->protocol = htons(SIM_ETHERTYPE);
		dev_hard_header(skb, netdev, SIM_ETHERTYPE, netdev->broadcast,
				netdev->dev_addr, skb->len);
		dev_queue_xmit(skb);
	}
	dev_put(netdev);
}

static void sim_wire_operands(struct sim_frame *frame,
			      const struct sim_swqe *wqe)
{
	switch (wqe->wr.opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		frame->remote_addr = wqe->rdma.remote_addr;
		frame->rkey = wqe->rdma.rkey;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		frame->remote_addr = wqe->atomic.remote_addr;
		frame->rkey = wqe->atomic.rkey;
		frame->compare_add = wqe->atomic.compare_add;
		frame->swap = wqe->atomic.swap;
		frame->compare_add_mask = wqe->atomic.compare_add_mask;
		frame->swap_mask = wqe->atomic.swap_mask;
		break;
	default:
		break;
	}
}

static void sim_wire_path(struct sim_frame *frame, const struct sim_av *av)
{
	frame->sgid = av->sgid;
	frame->dgid = av->dgid;
	frame->dlid = av->dlid;
	frame->grh = av->grh;
	frame->sl = av->sl;
}

/* A request that brings data back goes out as one packet without data. */
void sim_wire_request(struct sim_dev *dev, const struct sim_msg *msg, u32 mtu)
{
	const struct sim_swqe *wqe = msg->wqe;
	struct sim_span from = msg->data;
	bool brings = sim_brings_data(wqe->wr.opcode);
	struct sim_frame frame = {
		.prefix = msg->prefix,
		.at = msg->at,
		.total = msg->total,
		.sqpn = msg->src_qpn,
		.psn = msg->psn,
		.npsn = brings ? msg->npsn : 1,
		.ex = wqe->wr.ex.invalidate_rkey,
		.qkey = msg->qkey,
		.slid = msg->slid,
		.pkey = msg->pkey,
		.opcode = wqe->wr.opcode,
		.solicited = !!(wqe->wr.send_flags & IB_SEND_SOLICITED),
		.ud = msg->from->ib.qp_type == IB_QPT_UD,
	};
	u64 left = msg->len;

	frame.dqpn = frame.ud ? wqe->ud.remote_qpn :
				msg->from->attr.dest_qp_num;
	sim_wire_path(&frame, msg->av);
	sim_wire_operands(&frame, wqe);
	do {
		frame.len = brings ? left : min_t(u64, left, mtu);
		left -= frame.len;
		frame.last = !left;
		sim_wire_xmit(dev, &frame, &from, brings ? 0 : frame.len,
			      msg->corrupt);
		frame.at += frame.len;
		frame.psn = (frame.psn + 1) & SIM_24BIT_MAX;
	} while (left);
}

/* Data that the request brings back is in msg->data. */
void sim_wire_answer(struct sim_qp *qp, const struct sim_msg *msg)
{
	struct sim_dev *dev = to_sim(qp->ib.device);
	u32 mtu = ib_mtu_enum_to_int(qp->attr.path_mtu);
	struct sim_span from = msg->data;
	struct sim_frame frame = {
		.prefix = dev->port.prefix,
		.sqpn = qp->ib.qp_num,
		.dqpn = qp->attr.dest_qp_num,
		.psn = msg->reply.answer == SIM_ACK ? msg->reply.psn : msg->psn,
		.slid = dev->port.lid,
		.pkey = sim_qp_pkey(qp),
		.answer = msg->reply.answer,
		.rnr_timer = msg->reply.rnr_timer,
		.status = msg->reply.status,
	};
	u64 left;

	if (msg->reply.answer == SIM_ACK &&
	    sim_brings_data(msg->wqe->wr.opcode))
		frame.total = msg->len;
	left = frame.total;
	frame.psn &= SIM_24BIT_MAX;
	sim_wire_path(&frame, &qp->av);
	do {
		frame.len = min_t(u64, left, mtu);
		left -= frame.len;
		frame.last = !left;
		sim_wire_xmit(dev, &frame, &from, frame.len, false);
		frame.at += frame.len;
	} while (left);
}
