// SPDX-License-Identifier: GPL-2.0
#include "import.h"

#include <linux/string.h>

#include "epoch.h"
#include "lessee.h"
#include "msg.h"
#include "offer.h"
#include "resume.h"

/**
 * rcl_import_ask - ask the peer for a region
 * @ep: of a link that is up
 * @call: of kind RCL_CALL_IMPORT or RCL_CALL_RENEW, not yet asked
 *
 * A channel that is to be resumed may ask once that is done, and a new one once
 * the peer has registered what it exports. The peer may never get that far:
 * until then it counts as busy, as if it had said so, and a caller that asks
 * again does so for RCL_FETCH_MS. RCL_CALL_RENEW waits here, and has a limit of
 * its own.
 *
 * Return: as rcl_ctrl_ask().
 */
int rcl_import_ask(struct rcl_epoch *ep, struct rcl_call *call)
{
	struct rcl_lease *lease = rcl_pool_find(&ep->pool, call->lessee);
	struct rcl_msg msg = {
		.type = RCL_MSG_IMPORT,
		.first = call->first,
		.len = strlen(call->name),
		.data = (const u8 *)call->name,
	};
	int ret;

	if (!lease) {
		list_del(&call->node);
		rcl_call_finish(call, -ECONNRESET);
		return 0;
	}
	if (lease->state == RCL_LEASE_RESUMING || !rcl_resume_may_import(ep)) {
		if (call->kind == RCL_CALL_RENEW)
			return 0;
		list_del(&call->node);
		rcl_call_finish(call, -EBUSY);
		return 0;
	}
	msg.index = rcl_pool_index(&ep->pool, lease);
	ret = rcl_ctrl_ask(&ep->ctrl, &msg, &call->cookie);
	if (!ret)
		list_move_tail(&call->node, &ep->pool.asked);
	return ret;
}

static u32 rcl_import_put(u8 *data, const struct rcl_window *window, u32 n)
{
	u32 i;

	rcl_msg_put(data, window->addr, 8);
	rcl_msg_put(data + 8, window->len, 8);
	rcl_msg_put(data + 16, window->shift, 4);
	rcl_msg_put(data + 20, window->rights, 4);
	data += RCL_WINDOW_LEN;
	for (i = 0; i < n; i++)
		rcl_msg_put(data + i * RCL_RKEY_LEN, window->rkeys[i],
			    RCL_RKEY_LEN);
	return RCL_WINDOW_LEN + n * RCL_RKEY_LEN;
}

/**
 * rcl_import_question - answer the peer, which asks for a region
 * @ep: of a link that is up
 * @msg: IMPORT, hostile
 *
 * Return: 0, -EPROTO, or what rcl_ctrl_send() returns.
 */
int rcl_import_question(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_msg answer = {
		.type = RCL_MSG_IMPORTED,
		.cookie = msg->cookie,
	};
	union {
		u8 bytes[RCL_MSG_DATA_MAX];
		u32 words[RCL_MSG_DATA_MAX / RCL_RKEY_LEN];
	} data;
	/* The keys are put where the message has them, to save stack. */
	struct rcl_window window = {
		.rkeys = data.words + RCL_WINDOW_LEN / RCL_RKEY_LEN,
	};
	char name[RCLINK_DEV_SERVICE_LEN];
	int ret;

	BUILD_BUG_ON(RCL_WINDOW_LEN + RCL_WINDOW_RKEYS * RCL_RKEY_LEN >
		     RCL_MSG_DATA_MAX);
	ret = rcl_msg_get_name(msg, name, sizeof(name));
	if (ret)
		return ret;
	if (msg->index >= ep->pool.n)
		return -EPROTO;
	ret = rcl_export_find(ep->pool.exports, name,
			      ep->pool.lease[msg->index].lessee, &window,
			      msg->first);
	/* What is exported to this link alone takes precedence. */
	if (ret == -ENOENT)
		ret = rcl_offer_find(ep, name, &window, msg->first);
	if (ret < 0) {
		answer.status = ret == -EBUSY ? RCL_MSG_BUSY : RCL_MSG_REFUSED;
		return rcl_ctrl_send(&ep->ctrl, &answer);
	}
	answer.len = rcl_import_put(data.bytes, &window, ret);
	answer.data = data.bytes;
	return rcl_ctrl_send(&ep->ctrl, &answer);
}

static int rcl_import_get_window(const struct rcl_msg *msg,
				 struct rcl_window *window)
{
	if (msg->len < RCL_WINDOW_LEN)
		return -EPROTO;
	window->addr = rcl_msg_get(msg->data, 8);
	window->len = rcl_msg_get(msg->data + 8, 8);
	window->shift = rcl_msg_get(msg->data + 16, 4);
	window->rights = rcl_msg_get(msg->data + 20, 4);
	if (!window->len || window->addr + window->len < window->addr ||
	    window->shift < RCL_EXTENT_SHIFT_MIN ||
	    window->shift > RCL_EXTENT_SHIFT_MAX ||
	    window->rights & ~RCLINK_REGION_RIGHTS ||
	    rcl_window_extents(window) > RCL_EXTENTS_MAX)
		return -EPROTO;
	return 0;
}

static int rcl_import_get(const struct rcl_msg *msg, struct rcl_call *call)
{
	u32 i, n;

	if (rcl_import_get_window(msg, &call->window))
		return -EPROTO;
	n = rcl_window_extents(&call->window);
	n = call->first < n ?
	    min_t(u32, n - call->first, RCL_WINDOW_RKEYS) : 0;
	if (msg->len != RCL_WINDOW_LEN + n * RCL_RKEY_LEN)
		return -EPROTO;
	for (i = 0; i < n; i++)
		call->rkeys[i] = rcl_msg_get(msg->data + RCL_WINDOW_LEN +
					     i * RCL_RKEY_LEN, RCL_RKEY_LEN);
	call->nrkeys = n;
	return 0;
}

/**
 * rcl_import_answer - the peer answered
 * @ep: of a link that is up
 * @msg: IMPORTED, hostile
 *
 * Return: 0, or -EPROTO.
 */
int rcl_import_answer(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_call *call;

	call = rcl_pool_find_asked(&ep->pool, msg->cookie);
	if (!call)
		return -EPROTO;
	if (!msg->status && call->lessee && rcl_import_get(msg, call))
		return -EPROTO;
	list_del(&call->node);
	if (msg->status == RCL_MSG_BUSY)
		rcl_call_finish(call, -EBUSY);
	else
		rcl_call_finish(call, msg->status ? -ENOENT : 0);
	return 0;
}
