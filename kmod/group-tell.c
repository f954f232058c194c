// SPDX-License-Identifier: GPL-2.0
/* What is told of a group: to who asks, and to who listens. */
#include "group-tell.h"

#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "event.h"
#include "group-base.h"
#include "group.h"
#include "trace.h"

static u32 rcl_group_state(const struct rcl_group *group)
{
	return group->joined ? RCLINK_GROUP_STATE_JOINED :
			       RCLINK_GROUP_STATE_DOWN;
}

/**
 * rcl_group_tell - tell the listeners about a group
 * @group: as it is now, locked
 * @kind: enum rclink_event_kind
 *
 * Context: may sleep.
 */
void rcl_group_tell(struct rcl_group *group, u32 kind)
{
	const struct rcl_group_event event = {
		.kind = kind,
		.id = group->id,
		.name = group->conf.name,
		.state = rcl_group_state(group),
		.reason = group->reason,
		.key = rcl_talk_id(&group->talk),
	};

	lockdep_assert_held(&group->lock);
	trace_rcl_group_state(event.name, kind, event.state,
			      event.reason.reason, event.reason.wc_status);
	rcl_event_send_group(&event);
}

/**
 * rcl_group_tell_key - tell the listeners when the group has another key
 * @group: locked
 *
 * Context: may sleep.
 */
void rcl_group_tell_key(struct rcl_group *group)
{
	u64 key = rcl_talk_id(&group->talk);

	lockdep_assert_held(&group->lock);
	if (key == group->told_key)
		return;
	group->told_key = key;
	rcl_group_tell(group, RCLINK_EVENT_KIND_REKEYED);
}

/**
 * rcl_group_read - look at a group
 * @group: any
 * @info: filled in
 *
 * Context: may sleep.
 */
void rcl_group_read(struct rcl_group *group, struct rcl_group_info *info)
{
	memset(info, 0, sizeof(*info));
	/* What was told before has happened before. */
	info->event_seq = rcl_event_last();
	info->id = group->id;
	spin_lock_irq(&group->note_lock);
	info->conf = group->conf;
	spin_unlock_irq(&group->note_lock);
	mutex_lock(&group->lock);
	info->state = rcl_group_state(group);
	info->reason = group->reason;
	if (group->joined) {
		strscpy(info->conf.device, dev_name(&group->user.ib->dev),
			sizeof(info->conf.device));
		info->conf.port = group->user.port;
		info->conf.gid_index = group->user.gid_index;
		memcpy(info->gid, group->user.gid, sizeof(info->gid));
		info->mtu = group->mtu;
	}
	info->joins = group->joins;
	info->conf.addr.qkey = group->qkey;
	mutex_unlock(&group->lock);
	rcl_keeper_read(&group->keeper, &info->links);
	rcl_talk_read(&group->talk, &info->talk);
	rcl_hall_read(&group->hall, &info->consumers, &info->missed);
}
