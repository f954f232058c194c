// SPDX-License-Identifier: GPL-2.0
/* A member asks for the key of its group, over the link to its keeper. */
#include "group-ask.h"

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "due.h"
#include "group-base.h"
#include "link.h"

#define RCL_GROUP_ASK_MS	30000	/* between questions for a newer key */

static void rcl_group_granted(struct rcl_group *group,
			      const struct rcl_group_grant *grant)
{
	mutex_lock(&group->lock);
	group->qkey = grant->qkey;
	if (group->mcast && rcl_mcast_set_qkey(group->mcast, grant->qkey))
		group->up.fail(&group->up, RCLINK_DOWN_REASON_LOCAL_ERROR, 0,
			       0, RCL_QP_NONE);
	mutex_unlock(&group->lock);
	rcl_talk_install(&group->talk, grant, false);
}

static struct rcl_call *rcl_group_question(struct rcl_group *group, u64 has)
{
	struct rcl_call *call = NULL;
	struct rcl_link *link;

	link = rcl_link_get(group->conf.from);
	if (!link)
		return NULL;
	call = rcl_call_new(RCL_CALL_GROUP, NULL, GFP_KERNEL);
	if (!call)
		goto out;
	strscpy(call->name, group->conf.name, sizeof(call->name));
	call->grant.id = has;
	call->grant.age = rcl_group_seal_age();
	if (rcl_inbox_ask_call(link, call)) {
		rcl_call_put(call);
		call = NULL;
	}
out:
	rcl_link_put(link);
	return call;
}

/**
 * rcl_group_ask - get the newest key from its keeper
 * @group: group whose tick this is
 *
 * There may be a newer key when somebody uses an unknown one, or after a while.
 * A late answer has used up a sender number of the key, so it is still waited
 * for.
 *
 * Context: may sleep, at most RCL_GROUP_TICK_MS for the answer.
 */
void rcl_group_ask(struct rcl_group *group)
{
	unsigned long tick = msecs_to_jiffies(RCL_GROUP_TICK_MS);
	struct rcl_call *call;
	bool unknown;
	u64 id;

	id = rcl_talk_key(&group->talk, &unknown);
	if (!group->call) {
		if (id && !unknown && rcl_due_lies_ahead(group->ask_at))
			return;
		group->call = rcl_group_question(group, id);
	}
	call = group->call;
	if (!call || !wait_for_completion_timeout(&call->done, tick))
		return;
	if (!call->ret) {
		group->ask_at = rcl_due_in(RCL_GROUP_ASK_MS);
		/*
		 * An answer without a sender number has no key: the one that
		 * was asked about is the newest, and may have been lost since.
		 */
		if (call->grant.sender && call->grant.id != id)
			rcl_group_granted(group, &call->grant);
	}
	group->call = NULL;
	rcl_call_put(call);
}

/**
 * rcl_group_ask_no_more - give up the pending question
 * @group: locked; its tick was stopped
 *
 * Context: process context.
 */
void rcl_group_ask_no_more(struct rcl_group *group)
{
	lockdep_assert_held(&group->lock);
	if (group->call)
		rcl_call_put(group->call);
	group->call = NULL;
}
