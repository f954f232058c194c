// SPDX-License-Identifier: GPL-2.0
/*
 * A subnet administrator that knows multicast groups and no more (IBA
 * 15.2.5.17). It is at the SM LID of each port with sa=1: the fabric itself
 * answers what is sent to QP1 there. Such a port gets packets only of groups
 * that it joined, and only those sent to the LID that the SA gave the group.
 *
 * All ports share one SA, protected by sim_wire. In rdmasim/ of debugfs:
 *
 * sa		MGID MLID PORT-GID of each member; a write makes the SA forget
 *		all groups, as if the subnet manager had been restarted
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>

#include "compat.h"
#include "sim.h"

#define SIM_MLIDS		0x3ffe	/* from 0xc000 on */
#define SIM_SA_RATE		IB_RATE_100_GBPS
#define SIM_SA_LIFE		18
#define SIM_SA_FULL_MEMBER	0x01
#define SIM_SA_EQ		(IB_SA_EQ << 6)

#define SIM_SA_MADE_BY	(IB_SA_MCMEMBER_REC_QKEY | \
			 IB_SA_MCMEMBER_REC_PKEY | \
			 IB_SA_MCMEMBER_REC_TRAFFIC_CLASS | \
			 IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL)

/* Statuses of SA MADs (IBA 15.4.1) */
#define SIM_SA_NO_RESOURCES	0x0100
#define SIM_SA_REQ_INVALID	0x0200
#define SIM_SA_INSUF_COMPONENTS	0x0600
#define SIM_SA_DENIED		0x0700

enum { SIM_SA_ANSWERS, SIM_SA_REFUSES, SIM_SA_IS_SILENT, SIM_SA_IS_LAX };

/* MCMemberRecord on the wire */
struct sim_sa_record {
	union ib_gid mgid;
	union ib_gid port_gid;
	__be32 qkey;
	__be16 mlid;
	u8 mtu;
	u8 tclass;
	__be16 pkey;
	u8 rate;
	u8 life;
	__be32 sl_flow_hop;
	u8 scope_state;
	u8 proxy;
	u8 pad[2];
} __packed;

struct sim_sa_group {
	struct list_head node;
	struct sim_sa_record record;
	struct list_head members;
};

struct sim_sa_member {
	struct list_head node;
	union ib_gid gid;
};

/* Protected by sim_wire. */
static LIST_HEAD(sim_sa_groups);
static u16 sim_sa_mlids;

static bool sim_same_gid(const union ib_gid *a, const union ib_gid *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static struct sim_sa_group *sim_sa_find(const union ib_gid *mgid)
{
	struct sim_sa_group *group;

	list_for_each_entry(group, &sim_sa_groups, node)
		if (sim_same_gid(&group->record.mgid, mgid))
			return group;
	return NULL;
}

static struct sim_sa_member *sim_sa_member(struct sim_sa_group *group,
					   const union ib_gid *gid)
{
	struct sim_sa_member *member;

	list_for_each_entry(member, &group->members, node)
		if (sim_same_gid(&member->gid, gid))
			return member;
	return NULL;
}

static void sim_sa_part(struct sim_sa_group *group,
			struct sim_sa_member *member)
{
	list_del(&member->node);
	kfree(member);
	if (!list_empty(&group->members))
		return;
	list_del(&group->node);
	kfree(group);
}

/* A join creates a group only if it sets all components (IBA 15.2.5.17.2). */
static struct sim_sa_group *sim_sa_make(struct sim_dev *dev,
					ib_sa_comp_mask mask,
					const struct sim_sa_record *record)
{
	struct sim_sa_group *group;

	if ((mask & SIM_SA_MADE_BY) != SIM_SA_MADE_BY ||
	    record->mgid.raw[0] != 0xff)
		return NULL;
	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return NULL;
	INIT_LIST_HEAD(&group->members);
	group->record = *record;
	group->record.mlid = cpu_to_be16(be16_to_cpu(IB_MULTICAST_LID_BASE) +
					 sim_sa_mlids++ % SIM_MLIDS);
	group->record.mtu = SIM_SA_EQ | ib_mtu_int_to_enum(dev->limits.mtu);
	group->record.rate = SIM_SA_EQ | SIM_SA_RATE;
	group->record.life = SIM_SA_EQ | SIM_SA_LIFE;
	list_add_tail(&group->node, &sim_sa_groups);
	return group;
}

static bool sim_sa_fits(const struct sim_sa_group *group, ib_sa_comp_mask mask,
			const struct sim_sa_record *record)
{
	return !(mask & IB_SA_MCMEMBER_REC_QKEY &&
		 record->qkey != group->record.qkey) &&
	       !(mask & IB_SA_MCMEMBER_REC_PKEY &&
		 record->pkey != group->record.pkey) &&
	       !(mask & IB_SA_MCMEMBER_REC_MLID &&
		 record->mlid != group->record.mlid);
}

/* Returns a status for the MAD's header; sets @record to the membership. */
static u16 sim_sa_join(struct sim_dev *dev, ib_sa_comp_mask mask,
		       struct sim_sa_record *record)
{
	struct sim_sa_group *group = sim_sa_find(&record->mgid);
	struct sim_sa_member *member;
	union ib_gid gid = record->port_gid;

	if (!(record->scope_state & SIM_SA_FULL_MEMBER))
		return SIM_SA_REQ_INVALID;
	if (!group)
		group = sim_sa_make(dev, mask, record);
	if (!group)
		return SIM_SA_INSUF_COMPONENTS;
	/* Like OpenSM, which answers what the group has. */
	if (dev->sa != SIM_SA_IS_LAX && !sim_sa_fits(group, mask, record))
		return SIM_SA_REQ_INVALID;
	member = sim_sa_member(group, &gid);
	if (!member) {
		member = kzalloc(sizeof(*member), GFP_KERNEL);
		if (!member)
			return SIM_SA_NO_RESOURCES;
		member->gid = gid;
		list_add_tail(&member->node, &group->members);
	}
	*record = group->record;
	record->port_gid = gid;
	record->scope_state = 2 << 4 | SIM_SA_FULL_MEMBER;
	return 0;
}

static u16 sim_sa_leave(const struct sim_sa_record *record)
{
	struct sim_sa_group *group = sim_sa_find(&record->mgid);
	struct sim_sa_member *member = NULL;

	if (group)
		member = sim_sa_member(group, &record->port_gid);
	if (!member)
		return SIM_SA_REQ_INVALID;
	sim_sa_part(group, member);
	return 0;
}

/* Is this request @method of an MCMemberRecord? */
static bool sim_sa_is(const struct ib_sa_mad *mad, u8 method)
{
	const struct ib_mad_hdr *hdr = &mad->mad_hdr;

	return hdr->attr_id == cpu_to_be16(IB_SA_ATTR_MC_MEMBER_REC) &&
	       hdr->method == method;
}

/* Turns the request into its answer, in place. */
static void sim_sa_answer(struct sim_dev *dev, struct ib_sa_mad *mad)
{
	struct ib_mad_hdr *hdr = &mad->mad_hdr;
	struct sim_sa_record *record = (void *)mad->data;
	ib_sa_comp_mask mask = mad->sa_hdr.comp_mask;
	u16 status = IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;

	/* Nothing else, so no ClassPortInfo: those who ask can do without. */
	if (dev->sa == SIM_SA_REFUSES)
		status = SIM_SA_DENIED;
	else if (sim_sa_is(mad, IB_MGMT_METHOD_SET))
		status = sim_sa_join(dev, mask, record);
	else if (sim_sa_is(mad, IB_SA_METHOD_DELETE))
		status = sim_sa_leave(record);
	hdr->method = hdr->method == IB_SA_METHOD_DELETE ?
		      IB_SA_METHOD_DELETE_RESP : IB_MGMT_METHOD_GET_RESP;
	hdr->status = cpu_to_be16(status);
}

/*
 * Deliver the answer that sim_sa_receive() left. The request has completed by
 * then: if it had not, and the port went away, ib_sa would report the request
 * a second time (testing.rst).
 */
void sim_sa_reply(struct sim_qp *qp)
{
	struct ib_sa_mad *mad = qp->mad;
	struct sim_dev *dev = to_sim(qp->ib.device);
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = sizeof(struct ib_grh) + sizeof(*mad),
		.src_qp = SIM_QP1,
		.slid = dev->port.sm_lid,
		.port_num = dev->limits.port,
	};
	struct ib_grh grh = {};
	struct sim_rwqe wqe;
	struct sim_span to = { .dev = dev, .sge = wqe.sge };

	if (!mad)
		return;
	/* All receives of ib_mad have room for a MAD. */
	if (sim_recv_take(qp, &wqe) &&
	    sim_span_check(qp, wqe.sge, wqe.num_sge, IB_ACCESS_LOCAL_WRITE)) {
		sim_span_write(&to, &grh, sizeof(grh));
		sim_span_write(&to, mad, sizeof(*mad));
		sim_recv_done(qp, &wqe, &wc, false);
	}
	qp->mad = NULL;
	kfree(mad);
}

/* A datagram sent by QP1; only one for the SA is answered. */
void sim_sa_receive(struct sim_qp *qp, struct sim_msg *msg)
{
	struct sim_dev *dev = to_sim(qp->ib.device);
	struct sim_span from = { .dev = dev, .sge = msg->wqe->sge };
	struct ib_sa_mad *mad;

	if (msg->len != sizeof(*mad) || dev->port.state != IB_PORT_ACTIVE ||
	    msg->av->dlid != dev->port.sm_lid)
		return;
	mad = kmalloc(sizeof(*mad), GFP_KERNEL);
	if (!mad)
		return;
	sim_span_read(mad, &from, sizeof(*mad));
	if (mad->mad_hdr.mgmt_class != IB_MGMT_CLASS_SUBN_ADM)
		goto out_free;
	if (sim_sa_is(mad, IB_MGMT_METHOD_SET))
		dev->sa_joins++;
	if (dev->sa == SIM_SA_IS_SILENT)
		goto out_free;
	sim_sa_answer(dev, mad);
	qp->mad = mad;
	return;
out_free:
	kfree(mad);
}

/* Do switches let a packet to a group through to the port of @dev? */
bool sim_sa_lets(struct sim_dev *dev, const struct sim_av *av)
{
	struct sim_sa_group *group;
	union ib_gid gid;

	if (!dev->limits.sa)
		return true;
	group = sim_sa_find(&av->dgid);
	sim_port_gid(&dev->port, &gid);
	return group && be16_to_cpu(group->record.mlid) == av->dlid &&
	       sim_sa_member(group, &gid);
}

static void sim_sa_forget(void)
{
	struct sim_sa_group *group, *next;

	mutex_lock(&sim_wire);
	list_for_each_entry_safe(group, next, &sim_sa_groups, node) {
		struct sim_sa_member *member, *behind;

		list_for_each_entry_safe(member, behind, &group->members, node)
			kfree(member);
		kfree(group);
	}
	INIT_LIST_HEAD(&sim_sa_groups);
	mutex_unlock(&sim_wire);
}

static int sim_sa_show(struct seq_file *seq, void *data)
{
	struct sim_sa_member *member;
	struct sim_sa_group *group;

	mutex_lock(&sim_wire);
	list_for_each_entry(group, &sim_sa_groups, node)
		list_for_each_entry(member, &group->members, node)
			seq_printf(seq, "%pI6c %#x %pI6c\n",
				   group->record.mgid.raw,
				   be16_to_cpu(group->record.mlid),
				   member->gid.raw);
	mutex_unlock(&sim_wire);
	return 0;
}

static int sim_sa_open(struct inode *inode, struct file *file)
{
	return single_open(file, sim_sa_show, NULL);
}

static ssize_t sim_sa_write(struct file *file, const char __user *from,
			    size_t len, loff_t *pos)
{
	sim_sa_forget();
	return len;
}

static const struct file_operations sim_sa_list_fops = {
	.owner = THIS_MODULE,
	.open = sim_sa_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
	.write = sim_sa_write,
};

void sim_sa_init(struct dentry *root)
{
	BUILD_BUG_ON(sizeof(struct sim_sa_record) != 52);
	debugfs_create_file("sa", 0600, root, NULL, &sim_sa_list_fops);
}

/* No port and no reader of the debugfs file is left by then. */
void sim_sa_exit(void)
{
	sim_sa_forget();
}
