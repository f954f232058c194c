// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams: at most one packet, to any QP that has the same Q_Key, or to all
 * that are attached to a group. A QP with no receive posted gets none, and
 * nobody is told (IBA 9.8.3).
 */
#include <linux/slab.h>
#include <rdma/ib_addr.h>

#include "compat.h"
#include "sim.h"

#define SIM_QKEY_OWN	BIT(31)		/* use the sender's own instead */

static void sim_ah_fill(struct sim_ah *ah, const struct rdma_ah_attr *attr)
{
	sim_av_fill(&ah->av, attr);
	ah->attr = *attr;
	/* The core holds the reference, and drops it. */
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH)
		ah->attr.grh.sgid_attr = NULL;
}

int sim_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *attr,
		  struct ib_udata *udata)
{
	struct sim_ah *ah = container_of(ib, struct sim_ah, ib);
	int ret;

	ret = sim_fault_verb(&to_sim(ib->device)->faults, SIM_F_CREATE_AH);
	if (!ret)
		sim_ah_fill(ah, attr->ah_attr);
	return ret;
}

/* The core accepts no answer to a MAD whose AH it cannot query. */
int sim_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	*attr = container_of(ib, struct sim_ah, ib)->attr;
	return 0;
}

int sim_destroy_ah(struct ib_ah *ib, u32 flags)
{
	return 0;
}

static struct sim_member *sim_member_find(struct sim_dev *dev,
					  struct sim_qp *qp,
					  const union ib_gid *gid)
{
	struct sim_member *member;

	list_for_each_entry(member, &dev->groups, node)
		if (member->qp == qp &&
		    !memcmp(&member->mgid, gid, sizeof(*gid)))
			return member;
	return NULL;
}

int sim_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct sim_dev *dev = to_sim(ib->device);
	struct sim_qp *qp = to_sim_qp(ib);
	struct sim_member *member;
	int ret;

	ret = sim_fault_verb(&dev->faults, SIM_F_ATTACH_MCAST);
	if (ret)
		return ret;
	member = kzalloc(sizeof(*member), GFP_KERNEL);
	if (!member)
		return -ENOMEM;
	member->qp = qp;
	member->mgid = *gid;
	mutex_lock(&sim_wire);
	if (sim_member_find(dev, qp, gid))
		ret = -EINVAL;
	else
		list_add_tail(&member->node, &dev->groups);
	mutex_unlock(&sim_wire);
	if (ret)
		kfree(member);
	return ret;
}

int sim_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct sim_member *member;

	mutex_lock(&sim_wire);
	member = sim_member_find(to_sim(ib->device), to_sim_qp(ib), gid);
	if (member)
		list_del(&member->node);
	mutex_unlock(&sim_wire);
	kfree(member);
	return member ? 0 : -EINVAL;
}

static void sim_grh_fill(struct ib_grh *grh, const struct sim_msg *msg)
{
	memset(grh, 0, sizeof(*grh));
	grh->version_tclass_flow = cpu_to_be32(6 << 28);
	grh->paylen = cpu_to_be16(msg->len);
	grh->next_hdr = 0x1b;
	grh->hop_limit = 1;
	grh->sgid = msg->av->sgid;
	grh->dgid = msg->av->dgid;
}

/* A receive begins with 40 bytes for the GRH, whether there is one or not. */
static void sim_ud_deliver(struct sim_qp *qp, struct sim_msg *msg,
			   struct sim_rwqe *wqe)
{
	struct sim_span from = msg->data;
	struct sim_dev *dev = to_sim(qp->ib.device);
	struct sim_span to = { .dev = dev, .sge = wqe->sge };
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = msg->len + sizeof(struct ib_grh),
		.src_qp = msg->src_qpn,
		.slid = msg->slid,
		.sl = msg->av->sl,
		.pkey_index = qp->attr.pkey_index,
		.port_num = dev->limits.port,
		.wc_flags = msg->av->grh ? IB_WC_GRH : 0,
	};
	struct ib_grh grh;

	sim_grh_fill(&grh, msg);
	sim_span_write(&to, &grh, sizeof(grh));
	sim_copy(&to, &from, msg->len, msg->corrupt);
	if (msg->wqe->wr.opcode == IB_WR_SEND_WITH_IMM) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = msg->wqe->wr.ex.imm_data;
	}
	sim_recv_done(qp, wqe, &wc,
		      msg->wqe->wr.send_flags & IB_SEND_SOLICITED);
}

void sim_ud_receive(struct sim_qp *qp, struct sim_msg *msg)
{
	struct ib_wc wc = { .status = IB_WC_LOC_LEN_ERR };
	struct sim_rwqe wqe;
	u64 room = 0;
	int i;

	if (qp->ib.qp_type != IB_QPT_UD || qp->state < IB_QPS_RTR ||
	    qp->state == IB_QPS_ERR || qp->attr.qkey != msg->qkey ||
	    !sim_pkey_match(qp, msg->pkey) || !sim_recv_take(qp, &wqe))
		return;
	for (i = 0; i < wqe.num_sge; i++)
		room += wqe.sge[i].length;
	if (room >= msg->len + sizeof(struct ib_grh)) {
		if (sim_span_check(qp, wqe.sge, wqe.num_sge,
				   IB_ACCESS_LOCAL_WRITE)) {
			sim_ud_deliver(qp, msg, &wqe);
			return;
		}
		wc.status = IB_WC_LOC_PROT_ERR;
	}
	sim_recv_done(qp, &wqe, &wc, false);
	sim_qp_fail(qp);
}

/* To all QPs that are attached at a port, except the sender. */
void sim_ud_multicast(struct sim_dev *dev, struct sim_msg *msg)
{
	struct sim_member *member;

	list_for_each_entry(member, &dev->groups, node)
		if (member->qp != msg->from && sim_sa_lets(dev, msg->av) &&
		    !memcmp(&member->mgid, &msg->av->dgid,
			    sizeof(member->mgid)))
			sim_ud_receive(member->qp, msg);
}

/* A datagram to a group goes to all ports, any other one to a single port. */
static void sim_ud_transmit(struct sim_dev *dev, struct sim_msg *msg)
{
	struct in6_addr *group = (struct in6_addr *)msg->av->dgid.raw;
	bool all = msg->av->grh && rdma_is_multicast_addr(group);
	struct sim_dev *to = NULL;
	struct sim_qp *peer;

	if (all) {
		while ((to = sim_fabric_next(&dev->port, to)))
			sim_ud_multicast(to, msg);
	} else {
		to = sim_fabric_find(&dev->port, msg->av);
		peer = to ? xa_load(&to->qps, msg->wqe->ud.remote_qpn) : NULL;
		if (peer)
			sim_ud_receive(peer, msg);
	}
	if (!to && dev->wire && dev->port.state == IB_PORT_ACTIVE)
		sim_wire_request(dev, msg, dev->limits.mtu);
}

enum ib_wc_status sim_ud_send(struct sim_qp *qp, struct sim_msg *msg)
{
	struct sim_dev *dev = to_sim(qp->ib.device);

	if (msg->len > dev->limits.mtu)
		return IB_WC_LOC_LEN_ERR;
	msg->qkey = msg->wqe->ud.remote_qkey;
	if (msg->qkey & SIM_QKEY_OWN)
		msg->qkey = qp->attr.qkey;
	if (sim_fault_hit(&dev->faults, SIM_F_DROP, NULL))
		return IB_WC_SUCCESS;
	if (qp->ib.qp_type == IB_QPT_GSI) {
		sim_sa_receive(qp, msg);
		return IB_WC_SUCCESS;
	}
	msg->corrupt = sim_fault_hit(&dev->faults, SIM_F_CORRUPT, NULL);
	sim_ud_transmit(dev, msg);
	return IB_WC_SUCCESS;
}
