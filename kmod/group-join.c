// SPDX-License-Identifier: GPL-2.0
/*
 * A group joins in two steps where there is a subnet manager: that is asked,
 * and when it has answered there is a QP. In between the group has the device,
 * and hears of its end.
 */
#include "group-join.h"

#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "group-base.h"

static void rcl_group_received(struct rcl_mcast *mcast, u8 *data, u32 len,
			       const u8 *gid)
{
	struct rcl_group *group =
		container_of(mcast, struct rcl_group, mcast);
	struct rcl_heard heard = { .gid = gid };

	if (rcl_talk_hear(&group->talk, data, len, &heard))
		rcl_hall_tell(&group->hall, &heard);
}

static void rcl_group_sent(struct rcl_mcast *mcast)
{
	wake_up(&container_of(mcast, struct rcl_group, mcast)->room);
}

/**
 * rcl_group_attach - begin to join: take a port, and ask its subnet manager
 * @group: locked, not attached
 * @why: set to a sentence when it is refused
 *
 * Context: may sleep.
 * Return: 0, what rcl_group_conf_attach() says, or rcl_mcast_sa_ask().
 */
int rcl_group_attach(struct rcl_group *group, const char **why)
{
	bool sa = false;
	u32 mtu;
	int ret;

	lockdep_assert_held(&group->lock);
	ret = rcl_group_conf_attach(&group->conf, &group->user, &mtu, &sa, why);
	if (ret)
		return ret;
	if (sa)
		ret = rcl_mcast_sa_ask(&group->sa, &group->user,
				       group->conf.addr.gid, why);
	if (ret) {
		rcl_dev_detach(&group->user);
		return ret;
	}
	WRITE_ONCE(group->mtu, mtu);
	group->attached = true;
	return 0;
}

static int rcl_group_ask_address(struct rcl_group *group, const char **why)
{
	struct rcl_mcast_addr *addr = &group->mcast.addr;
	u32 mtu = group->mtu;
	int ret;

	*addr = group->conf.addr;
	addr->qkey = group->qkey;
	if (!rcl_mcast_sa_is_asked(&group->sa))
		return 0;
	ret = rcl_mcast_sa_get(&group->sa, addr, &mtu, why);
	if (ret && ret != -EINPROGRESS)
		group->reason = (struct rcl_reason){
			.reason = RCLINK_DOWN_REASON_SUBNET_MANAGER,
		};
	WRITE_ONCE(group->mtu, mtu);
	return ret;
}

/**
 * rcl_group_join - join, as far as that goes now
 * @group: locked, not joined; maybe attached
 * @why: set to a sentence when it is refused
 *
 * Context: may sleep; takes the RTNL lock.
 * Return: 0, -EINPROGRESS when the subnet manager has to answer first, which
 * kicks; or the errno of what refused, and the group is not attached.
 */
int rcl_group_join(struct rcl_group *group, const char **why)
{
	int ret = 0;

	lockdep_assert_held(&group->lock);
	if (!group->attached)
		ret = rcl_group_attach(group, why);
	if (ret)
		return ret;
	ret = rcl_group_ask_address(group, why);
	if (ret == -EINPROGRESS)
		return ret;
	group->mcast.received = rcl_group_received;
	group->mcast.sent = rcl_group_sent;
	group->mcast.up = &group->up;
	if (!ret)
		ret = rcl_mcast_create(&group->mcast, &group->user, why);
	if (ret) {
		rcl_group_leave(group);
		return ret;
	}
	WRITE_ONCE(group->joined, true);
	memset(&group->reason, 0, sizeof(group->reason));
	group->joins++;
	return 0;
}

/**
 * rcl_group_leave - the mirror of rcl_group_attach() and rcl_group_join()
 * @group: locked, attached, maybe joined
 *
 * Context: may sleep, for flushes; takes the RTNL lock.
 */
void rcl_group_leave(struct rcl_group *group)
{
	lockdep_assert_held(&group->lock);
	if (group->joined)
		rcl_mcast_destroy(&group->mcast);
	if (rcl_mcast_sa_is_asked(&group->sa))
		rcl_mcast_sa_leave(&group->sa);
	rcl_dev_detach(&group->user);
	group->attached = false;
	WRITE_ONCE(group->joined, false);
	wake_up_all(&group->room);
}
