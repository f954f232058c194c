// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs of a device, in rdmasim/NAME/ of debugfs:
 *
 * fault	WHAT N [COUNT [VALUE]]: see fault.c; a read shows the counts
 * event	EVENT [QPN | port N]: raises an ib_event_type, with QPN that of
 *		the QP, its CQ or its SRQ
 * lid, sm_lid, guid, prefix
 *		a number
 * up		1: the port is active, 0: down, 2: in INIT, no subnet manager
 * pkey		INDEX NUMBER
 * sa		with sa=1: the SA 0 answers, 1 refuses, 2 is silent, 3 compares
 *		neither partition key nor Q_Key
 * mapped	with dma=2: a read shows how many pages and lists of pages the
 *		DMA API has mapped
 * sa_joins	a read shows how often the port asked the SA to join a group
 * next_qpn	QPN of the next QP, unless another QP has it
 * qps		a read shows a line for each QP: what ib_modify_qp() gave it, as
 *		pairs of word and number
 *
 * A write to what a subnet manager would change raises the matching event.
 */
#include <linux/debugfs.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "sim.h"

static struct dentry *sim_root;

/* Copies a line of the user's, without newline; @line has SIM_LINE bytes. */
int sim_line(char *line, const char __user *from, size_t len)
{
	if (len >= SIM_LINE)
		return -EINVAL;
	if (copy_from_user(line, from, len))
		return -EFAULT;
	line[len] = '\0';
	strim(line);
	return 0;
}

static int sim_fault_seq(struct seq_file *seq, void *data)
{
	struct sim_dev *dev = seq->private;

	sim_fault_show(&dev->faults, seq);
	return 0;
}

static int sim_fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, sim_fault_seq, inode->i_private);
}

static ssize_t sim_fault_write(struct file *file, const char __user *from,
			       size_t len, loff_t *pos)
{
	struct sim_dev *dev = file_inode(file)->i_private;
	char line[SIM_LINE];
	int ret = sim_line(line, from, len);

	return ret ? : sim_fault_set(&dev->faults, line) ? : len;
}

static const struct file_operations sim_fault_fops = {
	.owner = THIS_MODULE,
	.open = sim_fault_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
	.write = sim_fault_write,
};

static int sim_event_of_qp(struct sim_dev *dev, enum ib_event_type type,
			   u32 qpn)
{
	struct sim_qp *qp;
	int ret = 0;

	mutex_lock(&sim_wire);
	qp = xa_load(&dev->qps, qpn);
	if (!qp || (type == IB_EVENT_SRQ_ERR && !qp->srq))
		ret = -ENOENT;
	else if (type == IB_EVENT_CQ_ERR)
		sim_cq_event(qp->ib.send_cq, type);
	else if (type == IB_EVENT_SRQ_ERR)
		sim_srq_event(qp->srq, type);
	else
		sim_qp_event(qp, type);
	mutex_unlock(&sim_wire);
	return ret;
}

static int sim_event(struct sim_dev *dev, const char *line)
{
	u32 type, qpn, port = dev->limits.port;

	if (sscanf(line, "%u port %u", &type, &port) < 1 ||
	    type > IB_EVENT_GID_CHANGE)
		return -EINVAL;
	if (sscanf(line, "%u %u", &type, &qpn) == 2)
		return sim_event_of_qp(dev, type, qpn);
	sim_port_event(dev, type, port);
	return 0;
}

static ssize_t sim_event_write(struct file *file, const char __user *from,
			       size_t len, loff_t *pos)
{
	struct sim_dev *dev = file_inode(file)->i_private;
	char line[SIM_LINE];
	int ret = sim_line(line, from, len);

	return ret ? : sim_event(dev, line) ? : len;
}

static const struct file_operations sim_event_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = sim_event_write,
};

static void sim_qp_show(const struct sim_qp *qp, struct seq_file *seq)
{
	const struct ib_qp_attr *attr = &qp->attr;
	const struct rdma_ah_attr *ah = &attr->ah_attr;

	seq_printf(seq, "qpn %u state %u", qp->ib.qp_num, qp->state);
	seq_printf(seq, " mtu %d timeout %u retry %u rnr-retry %u",
		   ib_mtu_enum_to_int(attr->path_mtu), attr->timeout,
		   attr->retry_cnt, attr->rnr_retry);
	seq_printf(seq, " min-rnr-timer %u rd-atomic %u answers %u",
		   attr->min_rnr_timer, attr->max_rd_atomic,
		   attr->max_dest_rd_atomic);
	seq_printf(seq, " pkey-index %u sl %u grh %d", attr->pkey_index,
		   rdma_ah_get_sl(ah),
		   !!(rdma_ah_get_ah_flags(ah) & IB_AH_GRH));
	seq_printf(seq, " traffic-class %u hop-limit %u flow-label %u\n",
		   ah->grh.traffic_class, ah->grh.hop_limit,
		   ah->grh.flow_label);
}

static int sim_qps_show(struct seq_file *seq, void *data)
{
	struct sim_dev *dev = seq->private;
	struct sim_qp *qp;
	unsigned long qpn;

	mutex_lock(&sim_wire);
	xa_for_each(&dev->qps, qpn, qp)
		sim_qp_show(qp, seq);
	mutex_unlock(&sim_wire);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sim_qps);

static int sim_pkey_set(struct sim_dev *dev, const char *line)
{
	u32 index;
	u16 pkey;

	if (sscanf(line, "%u %hi", &index, &pkey) != 2 || index >= SIM_PKEYS)
		return -EINVAL;
	mutex_lock(&sim_wire);
	dev->port.pkey[index] = pkey;
	mutex_unlock(&sim_wire);
	sim_port_event(dev, IB_EVENT_PKEY_CHANGE, dev->limits.port);
	return 0;
}

static ssize_t sim_pkey_write(struct file *file, const char __user *from,
			      size_t len, loff_t *pos)
{
	struct sim_dev *dev = file_inode(file)->i_private;
	char line[SIM_LINE];
	int ret = sim_line(line, from, len);

	return ret ? : sim_pkey_set(dev, line) ? : len;
}

static const struct file_operations sim_pkey_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = sim_pkey_write,
};

static int sim_lid_set(void *data, u64 value)
{
	struct sim_dev *dev = data;

	mutex_lock(&sim_wire);
	dev->port.lid = value;
	mutex_unlock(&sim_wire);
	sim_port_event(dev, IB_EVENT_LID_CHANGE, dev->limits.port);
	return 0;
}

static int sim_sm_lid_set(void *data, u64 value)
{
	struct sim_dev *dev = data;

	mutex_lock(&sim_wire);
	dev->port.sm_lid = value;
	mutex_unlock(&sim_wire);
	sim_port_event(dev, IB_EVENT_SM_CHANGE, dev->limits.port);
	return 0;
}

static int sim_guid_set(void *data, u64 value)
{
	struct sim_dev *dev = data;

	mutex_lock(&sim_wire);
	dev->port.guid = value;
	mutex_unlock(&sim_wire);
	sim_port_event(dev, IB_EVENT_GID_CHANGE, dev->limits.port);
	return 0;
}

static int sim_prefix_set(void *data, u64 value)
{
	struct sim_dev *dev = data;

	mutex_lock(&sim_wire);
	dev->port.prefix = value;
	mutex_unlock(&sim_wire);
	sim_port_event(dev, IB_EVENT_GID_CHANGE, dev->limits.port);
	return 0;
}

static int sim_up_set(void *data, u64 value)
{
	sim_port_set_state(data, value == 2 ? IB_PORT_INIT :
				 value ? IB_PORT_ACTIVE : IB_PORT_DOWN);
	return 0;
}

static int sim_sa_set(void *data, u64 value)
{
	struct sim_dev *dev = data;

	mutex_lock(&sim_wire);
	dev->sa = value;
	mutex_unlock(&sim_wire);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(sim_sa_fops, NULL, sim_sa_set, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(sim_lid_fops, NULL, sim_lid_set, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(sim_sm_lid_fops, NULL, sim_sm_lid_set, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(sim_guid_fops, NULL, sim_guid_set, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(sim_prefix_fops, NULL, sim_prefix_set, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(sim_up_fops, NULL, sim_up_set, "%llu\n");

/* Nothing is checked: a test that needs a missing file fails. */
void sim_knobs_add(struct sim_dev *dev)
{
	struct dentry *dir;

	dir = debugfs_create_dir(dev_name(&dev->ib.dev), sim_root);
	dev->dir = dir;
	debugfs_create_file("fault", 0600, dir, dev, &sim_fault_fops);
	debugfs_create_file("event", 0200, dir, dev, &sim_event_fops);
	debugfs_create_file("qps", 0400, dir, dev, &sim_qps_fops);
	debugfs_create_u32("next_qpn", 0200, dir, &dev->next_qpn);
	debugfs_create_file("pkey", 0200, dir, dev, &sim_pkey_fops);
	debugfs_create_file_unsafe("lid", 0200, dir, dev, &sim_lid_fops);
	debugfs_create_file_unsafe("sm_lid", 0200, dir, dev, &sim_sm_lid_fops);
	debugfs_create_file_unsafe("guid", 0200, dir, dev, &sim_guid_fops);
	debugfs_create_file_unsafe("prefix", 0200, dir, dev, &sim_prefix_fops);
	debugfs_create_file_unsafe("sa", 0200, dir, dev, &sim_sa_fops);
	debugfs_create_atomic_t("mapped", 0400, dir, &dev->mapped);
	debugfs_create_u32("sa_joins", 0400, dir, &dev->sa_joins);
	debugfs_create_file_unsafe("up", 0200, dir, dev, &sim_up_fops);
}

/* Waits for file operations that are under way. */
void sim_knobs_del(struct sim_dev *dev)
{
	debugfs_remove(dev->dir);
}

/* Returns the parent of the devices' directories. */
struct dentry *sim_knobs_init(void)
{
	sim_root = debugfs_create_dir("rdmasim", NULL);
	return sim_root;
}

void sim_knobs_exit(void)
{
	debugfs_remove(sim_root);
}
