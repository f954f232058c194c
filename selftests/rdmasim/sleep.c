// SPDX-License-Identifier: GPL-2.0
/*
 * How this host sleeps. In rdmasim/ of debugfs:
 *
 * copied	ID: tell this host that it was copied, as a hypervisor does
 * asleep	1 calls .prepare of rclink's device, 0 calls .complete, without
 *		the notifiers of a real sleep. Nothing is suspended
 * sleepless	1 an attempt to sleep fails when all devices but the last one
 *		have prepared: that one takes a second, and refuses. No device
 *		is suspended by then. 0 the host can sleep again
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/string.h>

#include "compat.h"
#include "sim.h"

#define SIM_SLEEP_MS	1000

static struct platform_device *sim_last;

static int sim_sleep_refuse(struct device *dev)
{
	msleep(SIM_SLEEP_MS);
	return -EBUSY;
}

static const struct dev_pm_ops sim_last_ops = {
	.prepare = sim_sleep_refuse,
};

static int sim_last_probe(struct platform_device *pdev)
{
	return 0;
}

static struct platform_driver sim_last_driver = {
	.driver = {
		.name = "rdmasim-last",
		.pm = &sim_last_ops,
	},
};

/* The device that was registered last prepares last. */
static int sim_sleepless_set(void *data, u64 sleepless)
{
	struct platform_device *last;

	if (sim_last) {
		platform_device_unregister(sim_last);
		platform_driver_unregister(&sim_last_driver);
		sim_last = NULL;
	}
	if (!sleepless)
		return 0;
	last = platform_create_bundle(&sim_last_driver, sim_last_probe, NULL, 0,
				      NULL, 0);
	if (IS_ERR(last))
		return PTR_ERR(last);
	sim_last = last;
	return 0;
}

static int sim_asleep_set(void *data, u64 asleep)
{
	const struct dev_pm_ops *ops;
	struct device *dev;
	int ret = 0;

	dev = bus_find_device_by_name(&platform_bus_type, NULL, "rclink");
	if (!dev)
		return -ENODEV;
	ops = dev->driver->pm;
	if (asleep)
		ret = ops->prepare(dev);
	else
		ops->complete(dev);
	put_device(dev);
	return ret;
}

/* The function is not exported, so a kprobe finds its address. */
static int sim_copied(const char *id)
{
	struct kprobe probe = { .symbol_name = "add_vmfork_randomness" };
	void (*tell)(const void *id, size_t len);
	int ret;

	ret = register_kprobe(&probe);
	if (ret)
		return ret;
	tell = (void *)probe.addr;
	unregister_kprobe(&probe);
	tell(id, strlen(id));
	return 0;
}

static ssize_t sim_copied_write(struct file *file, const char __user *from,
				size_t len, loff_t *pos)
{
	char line[SIM_LINE];
	int ret = sim_line(line, from, len);

	return ret ? : sim_copied(line) ? : len;
}

static const struct file_operations sim_copied_fops = {
	.owner = THIS_MODULE,
	.write = sim_copied_write,
};

DEFINE_DEBUGFS_ATTRIBUTE(sim_asleep_fops, NULL, sim_asleep_set, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE(sim_sleepless_fops, NULL, sim_sleepless_set,
			 "%llu\n");

void sim_sleep_init(struct dentry *root)
{
	debugfs_create_file("copied", 0200, root, NULL, &sim_copied_fops);
	debugfs_create_file("asleep", 0200, root, NULL, &sim_asleep_fops);
	debugfs_create_file("sleepless", 0200, root, NULL, &sim_sleepless_fops);
}

void sim_sleep_exit(void)
{
	sim_sleepless_set(NULL, 0);
}
