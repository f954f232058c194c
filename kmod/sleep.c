// SPDX-License-Identifier: GPL-2.0
/*
 * In a host that goes on from an image of its memory, or a virtual machine from
 * a snapshot, a counter is back where it was: the key that it counted for must
 * not be in use. So all epochs end before an image can be made, groups forget
 * their keys, and there are no new ones before the host is awake. If it only
 * pauses, the peers would not have waited until it was back, either.
 *
 * A disk may be at the other end of a link, and what is written to it before
 * processes are frozen is waited for. So a device of ours ends the epochs: all
 * devices are told to prepare when that is over, and none has stopped yet.
 *
 * A virtual machine hears of it only when it goes on, and there may be copies
 * of it: so it says no goodbye, which would take a nonce, too.
 */
#include "sleep.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/random.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>

#include <uapi/linux/rclink.h>

#include "group-ask.h"
#include "group-base.h"
#include "group-seal.h"
#include "inbox.h"
#include "keeper.h"
#include "link.h"
#include "seal.h"

#define RCL_SLEEP_MS	10000	/* for all links to end their epochs */
#define RCL_SLEEP_LOOK	10	/* ms between two checks whether they did */

static DEFINE_MUTEX(rcl_sleep_lock);	/* one at a time; protects both flags */
static bool rcl_asleep;
static bool rcl_sleep_notified;	/* and will be again when awake */
static struct platform_device *rcl_sleeper;

static bool rcl_sleep_await(struct rcl_link *link, unsigned long end)
{
	bool rests;

	while (!(rests = rcl_inbox_rests(link)) && time_before(jiffies, end))
		msleep(RCL_SLEEP_LOOK);
	return rests;
}

static void rcl_sleep_end_links(u32 reason)
{
	struct rcl_link *link;
	unsigned long id = 0;

	/* First, for links that are made too late for this loop to find. */
	rcl_inbox_set_asleep(true);
	while ((link = rcl_link_get_behind(&id))) {
		rcl_inbox_end_epochs(link, reason);
		rcl_link_put(link);
	}
}

static void rcl_sleep_await_links(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(RCL_SLEEP_MS);
	struct rcl_link *link;
	unsigned long id = 0;
	unsigned int left = 0;

	while ((link = rcl_link_get_behind(&id))) {
		left += !rcl_sleep_await(link, end);
		rcl_link_put(link);
	}
	if (left)
		pr_warn_ratelimited("the epochs of %u links have not ended within %u s\n",
				    left, RCL_SLEEP_MS / 1000);
}

static void rcl_sleep_with_groups(void (*act)(struct rcl_group *group))
{
	struct rcl_group *group;
	u32 id = 0;

	while ((group = rcl_group_get_behind(id))) {
		id = group->id;
		act(group);
		rcl_group_put(group);
	}
}

static void rcl_sleep_lose_key(struct rcl_group *group)
{
	rcl_talk_lose_key(&group->talk);
}

static void rcl_sleep_group(struct rcl_group *group)
{
	/* A key that it has just been told would be in an image, too. */
	cancel_delayed_work_sync(&group->tick);
	mutex_lock(&group->lock);
	rcl_group_ask_no_more(group);
	mutex_unlock(&group->lock);
	rcl_sleep_lose_key(group);
}

static void rcl_sleep_wake_group(struct rcl_group *group)
{
	mutex_lock(&group->lock);
	if (!group->dead)
		queue_delayed_work(system_unbound_wq, &group->tick, 0);
	mutex_unlock(&group->lock);
}

static void rcl_sleep_begin_locked(u32 reason)
{
	lockdep_assert_held(&rcl_sleep_lock);
	rcl_group_seal_lose_all();
	rcl_sleep_end_links(reason);
	rcl_keeper_sleep();
	/* Before waiting for links: nobody has a use for these keys. */
	rcl_sleep_with_groups(rcl_sleep_lose_key);
	rcl_sleep_await_links();
	/* From here on no member is told another key. */
	rcl_sleep_with_groups(rcl_sleep_group);
}

static void rcl_sleep_end_locked(void)
{
	lockdep_assert_held(&rcl_sleep_lock);
	rcl_inbox_set_asleep(false);
	rcl_keeper_wake();
	rcl_sleep_with_groups(rcl_sleep_wake_group);
}

static void rcl_sleep_wake_locked(void)
{
	lockdep_assert_held(&rcl_sleep_lock);
	if (rcl_asleep)
		rcl_sleep_end_locked();
	rcl_asleep = false;
}

/* May be called once more by what writes the image. */
static int rcl_sleep_prepare(struct device *dev)
{
	mutex_lock(&rcl_sleep_lock);
	rcl_asleep = true;
	rcl_sleep_begin_locked(RCLINK_DOWN_REASON_SLEEP);
	mutex_unlock(&rcl_sleep_lock);
	return 0;
}

/*
 * The image may be yet to be written: a key drawn meanwhile may be drawn again
 * by a host that goes on from it. Xen, which notifies nobody, has its image.
 */
static void rcl_sleep_complete(struct device *dev)
{
	mutex_lock(&rcl_sleep_lock);
	if (!rcl_sleep_notified)
		rcl_sleep_wake_locked();
	mutex_unlock(&rcl_sleep_lock);
}

static const struct dev_pm_ops rcl_sleep_ops = {
	.prepare = rcl_sleep_prepare,
	.complete = rcl_sleep_complete,
};

static int rcl_sleep_probe(struct platform_device *pdev)
{
	return 0;
}

static struct platform_driver rcl_sleep_driver = {
	.driver = {
		.name = "rclink",
		.pm = &rcl_sleep_ops,
	},
};

static int rcl_sleep_pm(struct notifier_block *nb, unsigned long action,
			void *data)
{
	mutex_lock(&rcl_sleep_lock);
	switch (action) {
	case PM_HIBERNATION_PREPARE:
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		rcl_sleep_notified = true;
		break;
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
	case PM_POST_RESTORE:
		rcl_sleep_notified = false;
		rcl_sleep_wake_locked();
		break;
	}
	mutex_unlock(&rcl_sleep_lock);
	return NOTIFY_DONE;
}

static void rcl_sleep_copied(struct work_struct *work)
{
	mutex_lock(&rcl_sleep_lock);
	rcl_sleep_begin_locked(RCLINK_DOWN_REASON_SNAPSHOT);
	if (!rcl_asleep)
		rcl_sleep_end_locked();
	mutex_unlock(&rcl_sleep_lock);
}

static DECLARE_WORK(rcl_sleep_copy, rcl_sleep_copied);

/*
 * Some of the devices that report a copy do so in an interrupt. Who is to wipe
 * keys may have to wait for locks; nobody seals with them now.
 */
static int rcl_sleep_vmfork(struct notifier_block *nb, unsigned long action,
			    void *data)
{
	rcl_seal_copied();
	rcl_group_seal_lose_all();
	queue_work(system_unbound_wq, &rcl_sleep_copy);
	return NOTIFY_DONE;
}

static struct notifier_block rcl_sleep_pm_nb = {
	.notifier_call = rcl_sleep_pm,
};

static struct notifier_block rcl_sleep_vmfork_nb = {
	.notifier_call = rcl_sleep_vmfork,
};

/**
 * rcl_sleep_init - be told when this host goes to sleep or was copied
 *
 * Context: may sleep.
 * Return: 0, or what registering returns.
 */
int rcl_sleep_init(void)
{
	int ret;

	rcl_sleeper = platform_create_bundle(&rcl_sleep_driver, rcl_sleep_probe,
					     NULL, 0, NULL, 0);
	if (IS_ERR(rcl_sleeper))
		return PTR_ERR(rcl_sleeper);
	ret = register_pm_notifier(&rcl_sleep_pm_nb);
	if (ret)
		goto err_sleeper;
	ret = register_random_vmfork_notifier(&rcl_sleep_vmfork_nb);
	if (ret)
		goto err_pm_notifier;
	return 0;

err_pm_notifier:
	unregister_pm_notifier(&rcl_sleep_pm_nb);
err_sleeper:
	platform_device_unregister(rcl_sleeper);
	platform_driver_unregister(&rcl_sleep_driver);
	return ret;
}

/**
 * rcl_sleep_exit - the mirror of rcl_sleep_init()
 *
 * Context: may sleep.
 */
void rcl_sleep_exit(void)
{
	unregister_random_vmfork_notifier(&rcl_sleep_vmfork_nb);
	unregister_pm_notifier(&rcl_sleep_pm_nb);
	platform_device_unregister(rcl_sleeper);
	platform_driver_unregister(&rcl_sleep_driver);
	cancel_work_sync(&rcl_sleep_copy);
}
