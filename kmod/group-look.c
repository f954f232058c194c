// SPDX-License-Identifier: GPL-2.0
/*
 * The state of groups, for those who ask. No group is looked at with the table
 * locked, because its device may take long.
 */
#include "group-look.h"

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "event.h"
#include "group-base.h"

static void rcl_group_read_locked(struct rcl_group *group,
				  struct rcl_group_info *info)
{
	lockdep_assert_held(&group->lock);
	info->state = rcl_group_state(group);
	info->reason = group->reason;
	info->refusal = group->refusal;
	if (group->mcast) {
		rcl_dev_name(group->user.ib, info->conf.device);
		info->conf.port = group->user.port;
		info->conf.gid_index = group->user.gid_index;
		memcpy(info->gid, group->user.gid, sizeof(info->gid));
		info->mtu = group->mtu;
		info->conf.addr.lid = group->mcast->addr.lid;
	}
	info->joins = group->joins;
	info->conf.addr.qkey = group->qkey;
}

/*
 * Events up to event_seq happened before what is read here. The deletion is
 * told with the group locked and dead: while alive, it has not told that yet.
 */
static int rcl_group_read(struct rcl_group *group, struct rcl_group_info *info)
{
	bool dead;

	memset(info, 0, sizeof(*info));
	info->event_seq = rcl_event_last();
	info->id = group->id;
	spin_lock_irq(&group->note_lock);
	info->conf = group->conf;
	spin_unlock_irq(&group->note_lock);
	mutex_lock(&group->lock);
	dead = group->dead;
	rcl_group_read_locked(group, info);
	mutex_unlock(&group->lock);
	if (dead)
		return -ENOENT;
	rcl_keeper_read(&group->keeper, &info->links);
	rcl_talk_read(&group->talk, &info->talk);
	rcl_group_hear_read(&group->hear, &info->consumers, &info->missed);
	return 0;
}

/**
 * rcl_group_info - look at one group
 * @name: of the group
 * @info: filled in
 *
 * Context: may sleep.
 * Return: 0, -ENOENT, or -EINTR for a fatal signal.
 */
int rcl_group_info(const char *name, struct rcl_group_info *info)
{
	struct rcl_group *group = rcl_group_get(name);
	int ret;

	if (IS_ERR(group))
		return PTR_ERR(group);
	ret = rcl_group_read(group, info);
	rcl_group_put(group);
	return ret;
}

/**
 * rcl_group_info_next - look at the groups one after the other
 * @after: ID of the previous group, 0 for the first
 * @info: filled in
 *
 * Context: may sleep.
 * Return: 0, -ENOENT after the last one, or -EINTR for a fatal signal.
 */
int rcl_group_info_next(u32 after, struct rcl_group_info *info)
{
	struct rcl_group *group;
	int ret;

	do {
		group = rcl_group_get_next(after);
		if (IS_ERR(group))
			return PTR_ERR(group);
		after = group->id;
		ret = rcl_group_read(group, info);
		rcl_group_put(group);
	} while (ret);
	return 0;
}

/**
 * rcl_group_said - what does a member of a group say it exports?
 * @name: of the group
 * @sender: sender number of the member, unchecked
 * @list: set
 *
 * Context: may sleep.
 * Return: 0, -ENOENT when there is no such group or member, or -EINTR for a
 * fatal signal.
 */
int rcl_group_said(const char *name, u32 sender, struct rcl_announce_list *list)
{
	struct rcl_group *group = rcl_group_get(name);
	int ret;

	if (IS_ERR(group))
		return PTR_ERR(group);
	ret = rcl_talk_said(&group->talk, sender, list);
	rcl_group_put(group);
	return ret;
}
