// SPDX-License-Identifier: GPL-2.0
/*
 * Reading rdmasim_self of debugfs runs the tests, on the devices sim0 (LID 1)
 * and sim1 (LID 2): a line of KTAP for each.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "self.h"

/* Room for all lines, or the tests would run twice. */
#define SELF_TEXT	4096

static const struct {
	const char *name;
	int (*run)(struct rig *rig);
	enum ib_qp_type type;
	bool srq;
} tests[] = {
	{ "a message takes a PSN for each packet", self_psn, IB_QPT_RC },
	{ "a QP that is not there does not answer", self_qpn, IB_QPT_RC },
	{ "nor does a LID that is not there", self_lid, IB_QPT_RC },
	{ "members of a partition hear each other", self_pkey, IB_QPT_RC },
	{ "those of two do not", self_partition, IB_QPT_RC },
	{ "nor do two limited members", self_limited, IB_QPT_RC },
	{ "a PSN that is too far is not heard", self_gap, IB_QPT_RC },
	{ "a READ has a PSN for each packet, and its bounds", self_read,
	  IB_QPT_RC },
	{ "an atomic brings back what it changed", self_atomics, IB_QPT_RC },
	{ "a masked one, too, in its bits alone", self_masked, IB_QPT_RC },
	{ "a receiver that is not ready is asked again", self_rnr, IB_QPT_RC },
	{ "a receive that comes in time is found", self_late, IB_QPT_RC },
	{ "a receive that is too short ends both ends", self_short, IB_QPT_RC },
	{ "a key is good from REG_MR to LOCAL_INV", self_keys, IB_QPT_RC },
	{ "what is no memory is not reached", self_no_ram, IB_QPT_RC },
	{ "only a solicited message wakes who asks for it", self_solicited,
	  IB_QPT_RC },
	{ "an SRQ is shared, and tells of its limit", self_srq, IB_QPT_RC,
	  true },
	{ "a datagram needs the Q_Key, and room for a GRH", self_datagrams,
	  IB_QPT_UD },
	{ "a group reaches who is attached, but not the sender", self_group,
	  IB_QPT_UD },
};

static struct dentry *self_file;

static int self_rig(struct rig *rig, int i)
{
	int ret;

	ret = end_open(&rig->end[0], "sim0", tests[i].type, false);
	if (ret)
		return ret;
	ret = end_open(&rig->end[1], "sim1", tests[i].type, tests[i].srq);
	if (!ret) {
		ret = tests[i].run(rig);
		end_close(&rig->end[1]);
	}
	end_close(&rig->end[0]);
	return ret;
}

static int self_show(struct seq_file *seq, void *data)
{
	struct rig *rig;
	int i, ret;

	seq_printf(seq, "1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		rig = kzalloc(sizeof(*rig), GFP_KERNEL);
		ret = rig ? self_rig(rig, i) : -ENOMEM;
		kfree(rig);
		if (ret)
			seq_printf(seq, "not ok %d %s: %s %d\n", i + 1,
				   tests[i].name, ret > 0 ? "line" : "errno",
				   ret);
		else
			seq_printf(seq, "ok %d %s\n", i + 1, tests[i].name);
	}
	return 0;
}

static int self_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, self_show, NULL, SELF_TEXT);
}

static const struct file_operations self_fops = {
	.owner = THIS_MODULE,
	.open = self_open,
	.read = seq_read,
	.release = single_release,
};

static int __init self_init(void)
{
	self_file = debugfs_create_file("rdmasim_self", 0400, NULL, NULL,
					&self_fops);
	return PTR_ERR_OR_ZERO(self_file);
}

static void __exit self_exit(void)
{
	debugfs_remove(self_file);
}

module_init(self_init);
module_exit(self_exit);

MODULE_DESCRIPTION("Tests of the simulated RDMA devices");
MODULE_LICENSE("GPL");
