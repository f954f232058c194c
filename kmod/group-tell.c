// SPDX-License-Identifier: GPL-2.0
/* What listeners are told about a group. */
#include "group-tell.h"

#include "event.h"
#include "group-base.h"
#include "trace.h"

static void rcl_group_tell_with(struct rcl_group *group, u32 kind, u64 key)
{
	const struct rcl_group_event event = {
		.kind = kind,
		.id = group->id,
		.name = group->conf.name,
		.state = rcl_group_state(group),
		.reason = group->reason,
		.key = key,
	};

	lockdep_assert_held(&group->lock);
	trace_rcl_group_state(event.name, kind, event.state,
			      event.reason.reason, event.reason.wc_status);
	rcl_event_send_group(&event);
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
	rcl_group_tell_with(group, kind, rcl_talk_key(&group->talk, NULL));
}

/**
 * rcl_group_tell_key - tell the listeners when the group has another key
 * @group: locked
 *
 * Context: may sleep.
 */
void rcl_group_tell_key(struct rcl_group *group)
{
	u64 key = rcl_talk_key(&group->talk, NULL);

	lockdep_assert_held(&group->lock);
	/* After a lost key, the same one or another one follows. */
	if (!key || key == group->told_key)
		return;
	group->told_key = key;
	rcl_group_tell_with(group, RCLINK_EVENT_KIND_REKEYED, key);
}
