// SPDX-License-Identifier: GPL-2.0
#include "member.h"

#include <linux/string.h>

#include "epoch.h"
#include "keeper.h"
#include "lessee.h"
#include "msg.h"

#define RCL_GRANT_LEN	(8 + 4 + 4 + RCLINK_KEY_LEN)	/* in GROUPED */

/**
 * rcl_member_ask - ask the peer for the key of a group
 * @ep: of a link that is up
 * @call: of kind RCL_CALL_GROUP, not yet asked
 *
 * Return: as rcl_ctrl_ask().
 */
int rcl_member_ask(struct rcl_epoch *ep, struct rcl_call *call)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_GROUP,
		.id_high = call->grant.id >> 32,
		.id_low = call->grant.id,
		.len = strlen(call->name),
		.data = (const u8 *)call->name,
	};
	int ret;

	ret = rcl_ctrl_ask(&ep->ctrl, &msg, &call->cookie);
	if (!ret)
		list_move_tail(&call->node, &ep->pool.asked);
	return ret;
}

static void rcl_member_put(u8 *data, const struct rcl_group_grant *grant)
{
	rcl_msg_put(data, grant->id, 8);
	rcl_msg_put(data + 8, grant->qkey, 4);
	rcl_msg_put(data + 12, grant->sender, 4);
	memcpy(data + 16, grant->key, sizeof(grant->key));
}

/**
 * rcl_member_question - answer the peer's question for the key of a group
 * @ep: of a link that is up
 * @msg: GROUP, hostile
 *
 * Return: 0, -EPROTO, or what rcl_ctrl_send() returns.
 */
int rcl_member_question(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_msg answer = {
		.type = RCL_MSG_GROUPED,
		.cookie = msg->cookie,
	};
	u64 has = (u64)msg->id_high << 32 | msg->id_low;
	char name[RCLINK_NAME_MAX + 1];
	struct rcl_group_grant grant;
	u8 data[RCL_GRANT_LEN];
	int ret;

	ret = rcl_msg_get_name(msg, name, sizeof(name));
	if (ret)
		return ret;
	ret = rcl_keeper_ask(ep->pool.link, name, has, &grant);
	if (ret == 1) {
		rcl_member_put(data, &grant);
		answer.data = data;
		answer.len = sizeof(data);
	} else if (ret) {
		answer.status = ret == -EBUSY ? RCL_MSG_BUSY : RCL_MSG_REFUSED;
	}
	ret = rcl_ctrl_send(&ep->ctrl, &answer);
	memzero_explicit(&grant, sizeof(grant));
	memzero_explicit(data, sizeof(data));
	return ret;
}

/* No data means that the key of the member is still the newest. */
static int rcl_member_get(const struct rcl_msg *msg,
			  struct rcl_group_grant *grant)
{
	if (!msg->len)
		return 0;
	if (msg->len != RCL_GRANT_LEN)
		return -EPROTO;
	grant->id = rcl_msg_get(msg->data, 8);
	grant->qkey = rcl_msg_get(msg->data + 8, 4);
	grant->sender = rcl_msg_get(msg->data + 12, 4);
	memcpy(grant->key, msg->data + 16, sizeof(grant->key));
	if (!grant->id || !grant->sender ||
	    grant->sender >= RCLINK_GROUP_MEMBERS_MAX)
		return -EPROTO;
	return 0;
}

/**
 * rcl_member_answer - handle the peer's answer
 * @ep: of a link that is up
 * @msg: GROUPED, hostile
 *
 * Return: 0, or -EPROTO.
 */
int rcl_member_answer(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_call *call;
	int ret;

	call = rcl_pool_find_asked(&ep->pool, msg->cookie);
	if (!call)
		return -EPROTO;
	ret = msg->status ? 0 : rcl_member_get(msg, &call->grant);
	/* The slot would keep the key until another message comes. */
	memzero_explicit((u8 *)msg->data, msg->len);
	if (ret)
		return ret;
	list_del(&call->node);
	rcl_call_finish(call, msg->status ? -EACCES : 0);
	return 0;
}
