// SPDX-License-Identifier: GPL-2.0
/*
 * Where there is a subnet manager, a group joins in two steps: it asks the
 * subnet manager, and makes a QP when that has answered. In between, the group
 * has the device, and hears of its end.
 */
#include "group-join.h"

#include <linux/container_of.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "device.h"
#include "group-base.h"

static struct rcl_group *rcl_group_of(const struct rcl_mcast *mcast)
{
	return container_of(mcast->up, struct rcl_group, up);
}

static void rcl_group_received(struct rcl_mcast *mcast, u8 *data, u32 len,
			       const u8 *gid)
{
	struct rcl_group *group = rcl_group_of(mcast);
	struct rcl_heard heard = { .gid = gid };

	if (rcl_talk_hear(&group->talk, data, len, &heard))
		rcl_group_hear_tell(&group->hear, &heard);
	/* The core takes 65536 completions before it lets others run. */
	cond_resched();
}

static void rcl_group_sent(struct rcl_mcast *mcast)
{
	wake_up(&rcl_group_of(mcast)->room);
}

static const struct rcl_mcast_ops rcl_group_mcast_ops = {
	.received = rcl_group_received,
	.sent = rcl_group_sent,
};

/**
 * rcl_group_attach - begin to join: take a port, and ask its subnet manager
 * @group: locked, not attached
 * @why: set to a sentence when it is refused
 *
 * Context: may sleep.
 * Return: 0, or what rcl_group_conf_attach() or rcl_mcast_sa_ask() returns.
 */
int rcl_group_attach(struct rcl_group *group, const char **why)
{
	int ret;

	lockdep_assert_held(&group->lock);
	ret = rcl_group_conf_attach(&group->conf, &group->last, &group->user,
				    why);
	if (ret)
		return ret;
	ret = rcl_mcast_sa_ask(&group->sa, &group->user, group->conf.addr.gid,
			       why);
	if (ret) {
		rcl_dev_detach(&group->user);
		return ret;
	}
	group->attached = true;
	return 0;
}

static int rcl_group_ask_address(struct rcl_group *group,
				 struct rcl_mcast_addr *addr, u32 *mtu,
				 const char **why)
{
	int ret;

	*mtu = group->user.mtu;
	*addr = group->conf.addr;
	addr->qkey = group->qkey;
	if (!rcl_mcast_sa_is_asked(&group->sa))
		return 0;
	ret = rcl_mcast_sa_get(&group->sa, addr, mtu, why);
	if (ret && ret != -EINPROGRESS)
		group->reason = (struct rcl_reason){
			.reason = RCLINK_DOWN_REASON_SUBNET_MANAGER,
		};
	return ret;
}

/*
 * NULL begins a group's end: nobody sends afterwards, and those who wait for
 * room no longer need to.
 */
static void rcl_group_set_mcast(struct rcl_group *group,
				struct rcl_mcast *mcast)
{
	spin_lock_bh(&group->send_lock);
	group->mcast = mcast;
	spin_unlock_bh(&group->send_lock);
	wake_up_all(&group->room);
}

/**
 * rcl_group_join - join, as far as possible now
 * @group: locked, not joined; maybe attached
 * @why: set to a sentence when it is refused
 *
 * Context: may sleep; takes the RTNL lock.
 * Return: 0, -EINPROGRESS when the subnet manager has to answer first, which
 * kicks the group; or the errno of what refused, in which case it is not
 * attached.
 */
int rcl_group_join(struct rcl_group *group, const char **why)
{
	struct rcl_mcast_addr addr;
	struct rcl_mcast *mcast;
	int ret = 0;
	u32 mtu;

	lockdep_assert_held(&group->lock);
	if (!group->attached)
		ret = rcl_group_attach(group, why);
	if (ret)
		return ret;
	ret = rcl_group_ask_address(group, &addr, &mtu, why);
	if (ret == -EINPROGRESS)
		return ret;
	if (ret)
		goto err_leave;
	mcast = rcl_mcast_create(&rcl_group_mcast_ops, &addr, &group->user,
				 why);
	ret = PTR_ERR_OR_ZERO(mcast);
	if (ret)
		goto err_leave;
	WRITE_ONCE(group->mtu, mtu);
	rcl_group_set_mcast(group, mcast);
	memset(&group->reason, 0, sizeof(group->reason));
	group->joins++;
	return 0;

err_leave:
	rcl_group_leave(group);
	return ret;
}

/**
 * rcl_group_check_mtu - join again if the port has another MTU
 * @group: not locked, because asking the device may take long: rxe, for one,
 *	takes the RTNL lock
 *
 * No event reports that: a RoCE port has the MTU that its net device allows.
 *
 * Context: may sleep.
 */
void rcl_group_check_mtu(struct rcl_group *group)
{
	char device[RCLINK_DEVICE_MAX + 1];
	bool joined;
	u64 joins;
	u32 port;
	u32 mtu;

	mutex_lock(&group->lock);
	joined = group->mcast;
	joins = group->joins;
	if (joined) {
		rcl_dev_name(group->user.ib, device);
		port = group->user.port;
	}
	mutex_unlock(&group->lock);
	/* A failure here shows elsewhere, too. */
	if (!joined || rcl_dev_read_mtu(device, port, &mtu))
		return;
	mutex_lock(&group->lock);
	if (group->mcast && group->joins == joins && group->user.mtu != mtu)
		group->up.fail(&group->up, RCLINK_DOWN_REASON_MTU_CHANGED, 0,
			       0, RCL_QP_NONE);
	mutex_unlock(&group->lock);
}

/**
 * rcl_group_leave - the mirror of rcl_group_attach() and rcl_group_join()
 * @group: locked, attached, maybe joined
 *
 * Context: may sleep, for flushes; takes the RTNL lock.
 */
void rcl_group_leave(struct rcl_group *group)
{
	struct rcl_mcast *mcast = group->mcast;

	lockdep_assert_held(&group->lock);
	if (mcast) {
		/* Under the name that the device has now. */
		rcl_dev_name(group->user.ib, group->last.device);
		group->last.port = group->user.port;
		rcl_group_set_mcast(group, NULL);
		rcl_mcast_destroy(mcast);
	}
	if (rcl_mcast_sa_is_asked(&group->sa))
		rcl_mcast_sa_leave(&group->sa);
	rcl_dev_detach(&group->user);
	group->attached = false;
}
