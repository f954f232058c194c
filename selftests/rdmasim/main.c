// SPDX-License-Identifier: GPL-2.0
/*
 * Simulated RDMA devices, for tests. They are for users in the kernel;
 * processes get no verbs. Files in rdmasim/ of debugfs:
 *
 * new_device	NAME ib LID [wire=NETDEV] | NAME roce NETDEV, then limits: qps=
 *		cqes= mrs= pages= sges= sizes= atomics=0|1|2 mtu= dma=0|1|2
 *		(sizes: of pages, as bits; atomics: none, without the masked
 *		ones, all; dma: virtual, by the DMA API, or so that mapping can
 *		fail; mtu=0: less than there is a word for). A wire leads to
 *		LIDs of other kernels, and the port is up when the wire is. With
 *		sa=1 the port is an InfiniBand port with QP1, and somebody to
 *		talk to (sa.c). With iwarp=1 the device says that it is iWARP,
 *		which takes a wire; nobody should use it then. With grh=1 the
 *		port takes nothing without a GRH, like a virtual one. With
 *		port=2 it is the second of two ports, and the first has no
 *		cable; with mcast=0 there is no multicast. More than 512 pages
 *		are claimed but not there, and so are sizes.
 * del_device	NAME
 *
 * knobs.c describes the knobs of each device, sleep.c those of this host's
 * sleep.
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
	/* This removes the knobs of each device with it. */
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
