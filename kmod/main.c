// SPDX-License-Identifier: GPL-2.0
#include <linux/init.h>
#include <linux/module.h>

#include <net/genetlink.h>

#include "cdev.h"
#include "device.h"
#include "event.h"
#include "group.h"
#include "link.h"
#include "mcast-sa.h"
#include "nl-base.h"
#include "nl.h"
#include "queues.h"
#include "sleep.h"

static int __init rcl_init(void)
{
	int ret;

	ret = rcl_queues_start();
	if (ret)
		return ret;
	rcl_mcast_sa_init();
	ret = rcl_dev_init();
	if (ret)
		goto err_mcast_sa_exit;
	/* Before there is any link or group that it would have to end. */
	ret = rcl_sleep_init();
	if (ret)
		goto err_dev_exit;
	ret = rcl_nl_init();
	if (ret)
		goto err_sleep_exit;
	rcl_event_init(&rcl_nl_family);
	ret = rcl_cdev_init();
	if (ret)
		goto err_nl_exit;
	return 0;

err_nl_exit:
	/* Somebody may have made groups or links already. */
	rcl_group_exit();
	rcl_link_exit();
	rcl_event_exit();
	rcl_nl_exit();
err_sleep_exit:
	rcl_sleep_exit();
err_dev_exit:
	rcl_dev_exit();
err_mcast_sa_exit:
	rcl_mcast_sa_exit();
	rcl_queues_stop();
	return ret;
}

static void __exit rcl_exit(void)
{
	rcl_cdev_exit();
	rcl_group_exit();
	/* No more are created, and listeners hear of each link's end. */
	rcl_link_exit();
	rcl_event_exit();
	rcl_nl_exit();
	rcl_sleep_exit();
	rcl_dev_exit();
	rcl_mcast_sa_exit();
	rcl_queues_stop();
}

module_init(rcl_init);
module_exit(rcl_exit);

MODULE_DESCRIPTION("Authenticated RC links between hosts without the RDMA connection manager");
MODULE_LICENSE("GPL");
MODULE_VERSION(RCLINK_VERSION);
MODULE_ALIAS_GENL_FAMILY("rclink");
