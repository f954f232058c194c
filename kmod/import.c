// SPDX-License-Identifier: GPL-2.0
#include "import.h"

#include <linux/string.h>

#include "epoch.h"
#include "lessee.h"
#include "msg.h"

#define RCL_WINDOW_LEN	24	/* bytes of a window in IMPORTED */

/**
 * rcl_import_ask - ask the peer for a region
 * @ep: of a link that is up
 * @call: of kind RCL_CALL_IMPORT, not yet asked
 *
 * Return: 0, -EAGAIN when no question can be asked now, or what
 * rcl_ctrl_send() says.
 */
int rcl_import_ask(struct rcl_epoch *ep, struct rcl_call *call)
{
	struct rcl_lease *lease = rcl_pool_find(&ep->pool, call->lessee);
	struct rcl_msg msg = {
		.type = RCL_MSG_IMPORT,
		.cookie = ep->pool.cookie + 1,
		.len = strlen(call->name),
		.data = (const u8 *)call->name,
	};
	int ret;

	if (!lease) {
		list_del(&call->node);
		rcl_call_finish(call, -ECONNRESET);
		return 0;
	}
	if (!rcl_ctrl_can_ask(&ep->ctrl))
		return -EAGAIN;
	msg.offset = rcl_pool_index(&ep->pool, lease);
	ret = rcl_ctrl_send(&ep->ctrl, &msg);
	if (ret)
		return ret;
	call->cookie = ++ep->pool.cookie;
	list_move_tail(&call->node, &ep->pool.imports);
	return 0;
}

/**
 * rcl_import_question - answer the peer, who asks for a region
 * @ep: of a link that is up
 * @msg: IMPORT, hostile
 *
 * Return: 0, -EPROTO, or what rcl_ctrl_send() says.
 */
int rcl_import_question(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_msg answer = {
		.type = RCL_MSG_IMPORTED,
		.cookie = msg->cookie,
	};
	u8 data[RCL_WINDOW_LEN];
	char name[RCLINK_DEV_SERVICE_LEN];
	struct rcl_window window;
	int ret;

	ret = rcl_msg_get_name(msg, name, sizeof(name));
	if (ret)
		return ret;
	if (msg->offset >= ep->pool.n)
		return -EPROTO;
	if (rcl_export_find(&ep->pool.exports, name,
			    ep->pool.lease[msg->offset].lessee, &window)) {
		answer.status = RCL_MSG_REFUSED;
		return rcl_ctrl_send(&ep->ctrl, &answer);
	}
	rcl_msg_put(data, window.addr, 8);
	rcl_msg_put(data + 8, window.len, 8);
	rcl_msg_put(data + 16, window.rkey, 4);
	rcl_msg_put(data + 20, window.rights, 4);
	answer.len = sizeof(data);
	answer.data = data;
	return rcl_ctrl_send(&ep->ctrl, &answer);
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

	list_for_each_entry(call, &ep->pool.imports, node)
		if (call->cookie == msg->cookie)
			break;
	if (list_entry_is_head(call, &ep->pool.imports, node))
		return -EPROTO;
	if (!msg->status && msg->len != RCL_WINDOW_LEN)
		return -EPROTO;
	list_del(&call->node);
	if (msg->status) {
		rcl_call_finish(call, -ENOENT);
		return 0;
	}
	call->window.addr = rcl_msg_get(msg->data, 8);
	call->window.len = rcl_msg_get(msg->data + 8, 8);
	call->window.rkey = rcl_msg_get(msg->data + 16, 4);
	call->window.rights = rcl_msg_get(msg->data + 20, 4);
	rcl_call_finish(call, 0);
	return 0;
}
