// SPDX-License-Identifier: GPL-2.0
/*
 * Simulated RDMA devices, for tests. They are for users in the kernel:
 * processes find no verbs here. In rdmasim/ of debugfs:
 *
 * new_device	NAME ib LID [wire=NETDEV] | NAME roce NETDEV, then limits: qps=
 *		cqes= mrs= pages= sges= sizes= atomics=0|1|2 mtu= dma=0|1
 *		(sizes: of pages, as bits; atomics: none, without the masked
 *		ones, all; dma: virtual, or by the DMA API; mtu=0: less than
 *		there is a word for). By a wire LIDs of other kernels are
 *		reached, and the port is up when that is. With sa=1 it is an
 *		InfiniBand port with QP1, and somebody to talk to (sa.c). With
 *		iwarp=1 it says that it is iWARP, which takes a wire, and nobody
 *		should want it then. With grh=1 it is one that takes nothing
 *		without a GRH, as a virtual one. With port=2 it is the second
 *		port of two, of which the first has no cable; mcast=0 has no
 *		multicast. More than 512 pages are said, and not there, and so
 *		are sizes.
 * del_device	NAME
 *
 * The knobs of each device are described in knobs.c, those of this host's sleep
 * in sleep.c.
 */
#include <linux/debugfs.h>
#include <linux/module.h>

#include "compat.h"
#include "sim.h"

DEFINE_MUTEX(sim_wire);	/* see sim.h */
struct workqueue_struct *sim_wq;

static ssize_t sim_new_write(struct file *file, const char __user *from,
			     size_t len, loff_t *pos)
{
	char line[SIM_LINE];
	int ret = sim_line(line, from, len);

	return ret ? : sim_dev_new(line) ? : len;
}

static ssize_t sim_del_write(struct file *file, const char __user *from,
			     size_t len, loff_t *pos)
{
	char line[SIM_LINE];
	int ret = sim_line(line, from, len);

	return ret ? : sim_dev_del(line) ? : len;
}

static const struct file_operations sim_new_fops = {
	.owner = THIS_MODULE,
	.write = sim_new_write,
};

static const struct file_operations sim_del_fops = {
	.owner = THIS_MODULE,
	.write = sim_del_write,
};

static int __init sim_init(void)
{
	struct dentry *root;
	int ret;

	sim_wq = alloc_workqueue("rdmasim", WQ_UNBOUND | WQ_HIGHPRI, 0);
	if (!sim_wq)
		return -ENOMEM;
	ret = sim_arrive_init();
	if (ret)
		goto err_wq;
	ret = sim_dev_init();
	if (ret)
		goto err_arrive;
	root = sim_knobs_init();
	debugfs_create_file("new_device", 0200, root, NULL, &sim_new_fops);
	debugfs_create_file("del_device", 0200, root, NULL, &sim_del_fops);
	sim_sa_init(root);
	sim_sleep_init(root);
	return 0;

err_arrive:
	sim_arrive_exit();
err_wq:
	destroy_workqueue(sim_wq);
	return ret;
}

static void __exit sim_exit(void)
{
	/* That of a device goes with it. */
	sim_dev_exit();
	sim_knobs_exit();
	sim_sa_exit();
	sim_sleep_exit();
	sim_arrive_exit();
	destroy_workqueue(sim_wq);
}

module_init(sim_init);
module_exit(sim_exit);

MODULE_DESCRIPTION("Simulated RDMA devices for tests");
MODULE_LICENSE("GPL");
