// SPDX-License-Identifier: GPL-2.0
/*
 * A lease is opened by a question and its answer. It ends in three steps, so
 * that no packet, receive or right of the old lessee survives: RECYCLE i with
 * my new QPN and PSN (I am in INIT), RECYCLED with yours (you are in RTR), GO
 * (I am in RTS, now you). Number i is leased again only after GO.
 *
 * Both ends may begin at once. Then the question of the initiator counts: it
 * answers the other one with BUSY, and the acceptor answers as if it had not
 * asked. That BUSY comes when nobody waits for it any more.
 *
 * Between open and end, each end says once that its lessee has posted a
 * receive: HEARS. The other one keeps back until then what would need one.
 *
 * All of this runs in the link's work item.
 */
#include "lease.h"

#include <linux/string.h>

#include "epoch.h"
#include "import.h"
#include "lessee.h"
#include "msg.h"
#include "service.h"
#include "upcall.h"

/* Before the pool there is the control QP. */
static u32 rcl_lease_qp(const struct rcl_epoch *ep,
			const struct rcl_lease *lease)
{
	return 1 + rcl_pool_index(&ep->pool, lease);
}

static bool rcl_lease_gives_way(const struct rcl_epoch *ep)
{
	return ep->pool.role != RCLINK_ROLE_INITIATOR;
}

static int rcl_lease_send(struct rcl_epoch *ep, struct rcl_lease *lease,
			  struct rcl_msg *msg)
{
	int ret;

	if (!rcl_ctrl_can_ask(&ep->ctrl))
		return -EAGAIN;
	msg->cookie = ++ep->pool.cookie;
	msg->offset = rcl_pool_index(&ep->pool, lease);
	ret = rcl_ctrl_send(&ep->ctrl, msg);
	if (!ret)
		lease->cookie = msg->cookie;
	return ret;
}

/* The lease ends here: afterwards the QP is in INIT, or has failed. */
static void rcl_lease_end(struct rcl_epoch *ep, struct rcl_lease *lease,
			  int why)
{
	struct rcl_lessee *lessee = lease->lessee;

	if (lessee)
		lessee->ops->detach(lessee, why);
	if (!rcl_qp_stop(lease->qp, rcl_qp_drain_end())) {
		/* It may still access memory, or complete, until destroyed. */
		lease->state = RCL_LEASE_DEAD;
		ep->user.up->fail(ep->user.up, RCLINK_DOWN_REASON_QP_FATAL, 0,
				  0, lease->qp->index);
		return;
	}
	lease->state = RCL_LEASE_STOPPED;
	lease->failed = rcl_epoch_renew(ep, rcl_lease_qp(ep, lease));
	lessee = rcl_lease_take_out(lease);
	if (lessee) {
		lessee->ops->gone(lessee);
		rcl_lessee_put(lessee);
	}
}

/*
 * This number carries nothing any more in this epoch. When it was the last one,
 * the next epoch helps who waits for a QP.
 */
static void rcl_lease_die(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	u32 i;

	lease->state = RCL_LEASE_DEAD;
	for (i = 0; i < ep->pool.n; i++)
		if (ep->pool.lease[i].state != RCL_LEASE_DEAD)
			return;
	ep->user.up->fail(ep->user.up, RCLINK_DOWN_REASON_LOCAL_ERROR, 0, 0,
			  lease->qp->index);
}

static void rcl_lease_put_id(const struct rcl_lease *lease,
			     struct rcl_msg *msg)
{
	msg->len = lease->qp->qp->qp_num;
	msg->seed = lease->qp->psn;
}

static int rcl_lease_get_id(const struct rcl_msg *msg, struct rcl_qp_id *id)
{
	id->qpn = msg->len;
	id->psn = msg->seed;
	return rcl_qpn_is_usable(id->qpn) && id->psn <= RCL_24BIT_MAX ?
	       0 : -EPROTO;
}

static int rcl_lease_begin(struct rcl_lease *lease, struct rcl_epoch *ep,
			   struct rcl_lessee *lessee)
{
	const struct rcl_grant grant = {
		.qp = lease->qp,
		.pd = ep->pd,
		.reg = &ep->reg,
		.exports = &ep->pool.exports,
		.access = ep->access,
		.max_sge = rcl_epoch_pool_size(ep).sge,
	};
	int ret;

	rcl_lease_put_in(lease, lessee);
	ret = lessee->ops->attach(lessee, &grant);
	if (ret)
		rcl_lessee_put(rcl_lease_take_out(lease));
	else
		lease->state = RCL_LEASE_OPEN;
	return ret;
}

static void rcl_lease_close(struct rcl_epoch *ep, struct rcl_lessee *lessee)
{
	struct rcl_pool *pool = &ep->pool;
	struct rcl_call *call, *next;
	struct rcl_lease *lease;

	list_for_each_entry_safe(call, next, &pool->calls, node) {
		if (call->lessee != lessee)
			continue;
		list_del(&call->node);
		rcl_call_finish(call, -ECANCELED);
	}
	lease = rcl_pool_find(pool, lessee);
	if (!lease)
		return;
	if (lease->call) {
		rcl_call_finish(lease->call, -ECANCELED);
		lease->call = NULL;
	} else if (lease->state == RCL_LEASE_OPEN) {
		rcl_lease_end(ep, lease, -ESHUTDOWN);
	}
}

/**
 * rcl_lease_call - take a call on
 * @ep: of a link that is up
 * @call: with the reference of the inbox
 *
 * To be followed by rcl_lease_continue().
 */
void rcl_lease_call(struct rcl_epoch *ep, struct rcl_call *call)
{
	if (call->kind != RCL_CALL_CLOSE) {
		list_add_tail(&call->node, &ep->pool.calls);
		return;
	}
	rcl_lease_close(ep, call->lessee);
	rcl_call_finish(call, 0);
}

/* The ends begin to look at opposite ends, so that they seldom meet. */
static struct rcl_lease *rcl_lease_find_free(struct rcl_epoch *ep)
{
	struct rcl_pool *pool = &ep->pool;
	u32 i;

	for (i = 0; i < pool->n; i++) {
		struct rcl_lease *lease = &pool->lease[rcl_lease_gives_way(ep) ?
						       pool->n - 1 - i : i];

		if (lease->state == RCL_LEASE_FREE)
			return lease;
	}
	return NULL;
}

static int rcl_lease_ask_open(struct rcl_epoch *ep, struct rcl_call *call)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_OPEN,
		.len = strlen(call->name),
		.data = (const u8 *)call->name,
	};
	struct rcl_lease *lease = rcl_lease_find_free(ep);
	int ret;

	if (!lease && call->wait)
		return 0;
	if (!lease) {
		list_del(&call->node);
		rcl_call_finish(call, -EAGAIN);
		return 0;
	}
	ret = rcl_lease_send(ep, lease, &msg);
	if (ret)
		return ret;
	list_del(&call->node);
	lease->call = call;
	lease->state = RCL_LEASE_OPENING;
	return 0;
}

static int rcl_lease_ask_recycle(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_RECYCLE,
		.status = lease->failed ? RCL_MSG_FAILED : RCL_MSG_OK,
	};
	int ret;

	rcl_lease_put_id(lease, &msg);
	ret = rcl_lease_send(ep, lease, &msg);
	if (ret)
		return ret;
	if (lease->failed)
		rcl_lease_die(ep, lease);
	else
		lease->state = RCL_LEASE_RECYCLING;
	return 0;
}

static int rcl_lease_ask_go(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_GO,
		.status = lease->failed ? RCL_MSG_FAILED : RCL_MSG_OK,
	};
	int ret;

	ret = rcl_lease_send(ep, lease, &msg);
	if (ret)
		return ret;
	if (lease->failed)
		rcl_lease_die(ep, lease);
	else
		lease->state = RCL_LEASE_FREE;
	return 0;
}

static int rcl_lease_ask_hears(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_msg msg = { .type = RCL_MSG_HEARS };
	int ret = 0;

	if (READ_ONCE(lease->lessee->hears) && !lease->lessee->told) {
		ret = rcl_lease_send(ep, lease, &msg);
		lease->lessee->told = !ret;
	}
	return ret;
}

static int rcl_lease_ask(struct rcl_epoch *ep)
{
	struct rcl_pool *pool = &ep->pool;
	struct rcl_call *call, *next;
	int ret = 0;
	u32 i;

	for (i = 0; i < pool->n && !ret; i++) {
		struct rcl_lease *lease = &pool->lease[i];

		if (lease->state == RCL_LEASE_STOPPED)
			ret = rcl_lease_ask_recycle(ep, lease);
		else if (lease->state == RCL_LEASE_READY)
			ret = rcl_lease_ask_go(ep, lease);
		else if (lease->state == RCL_LEASE_OPEN)
			ret = rcl_lease_ask_hears(ep, lease);
	}
	list_for_each_entry_safe(call, next, &pool->calls, node) {
		if (ret)
			break;
		if (call->kind == RCL_CALL_OPEN)
			ret = rcl_lease_ask_open(ep, call);
		else
			ret = rcl_import_ask(ep, call);
	}
	return ret;
}

/**
 * rcl_lease_continue - ask the peer what can be asked now
 * @ep: of a link that is up
 *
 * Return: 0, or an errno that ends the epoch.
 */
int rcl_lease_continue(struct rcl_epoch *ep)
{
	int ret = rcl_lease_ask(ep);

	/* An answer or a completion that makes room is on its way. */
	return ret == -EAGAIN ? 0 : ret;
}

static u8 rcl_lease_accept(struct rcl_epoch *ep, struct rcl_lease *lease,
			   const char *name)
{
	struct rcl_lessee *lessee = rcl_service_offer(ep->pool.link, name);

	if (IS_ERR(lessee))
		return PTR_ERR(lessee) == -ECONNREFUSED ? RCL_MSG_REFUSED :
							  RCL_MSG_BUSY;
	return rcl_lease_begin(lease, ep, lessee) ? RCL_MSG_BUSY : RCL_MSG_OK;
}

static int rcl_lease_opened(struct rcl_epoch *ep, struct rcl_lease *lease,
			    const struct rcl_msg *msg, struct rcl_msg *answer)
{
	char name[RCLINK_DEV_SERVICE_LEN];
	int ret;

	ret = rcl_msg_get_name(msg, name, sizeof(name));
	if (ret)
		return ret;
	if (lease->state == RCL_LEASE_OPENING && rcl_lease_gives_way(ep)) {
		if (lease->call)
			list_add(&lease->call->node, &ep->pool.calls);
		lease->call = NULL;
		lease->state = RCL_LEASE_FREE;
	}
	switch (lease->state) {
	case RCL_LEASE_FREE:
		answer->status = rcl_lease_accept(ep, lease, name);
		return 0;
	case RCL_LEASE_OPENING:
		answer->status = RCL_MSG_BUSY;
		return 0;
	case RCL_LEASE_DEAD:
		answer->status = RCL_MSG_FAILED;
		return 0;
	default:
		return -EPROTO;
	}
}

static int rcl_lease_recycled(struct rcl_epoch *ep, struct rcl_lease *lease,
			      const struct rcl_msg *msg, struct rcl_msg *answer)
{
	struct rcl_qp_id id;

	if (!msg->status && rcl_lease_get_id(msg, &id))
		return -EPROTO;
	if (lease->state == RCL_LEASE_OPEN)
		rcl_lease_end(ep, lease, -ECONNRESET);
	if (lease->state == RCL_LEASE_RECYCLING && !rcl_lease_gives_way(ep)) {
		answer->status = RCL_MSG_BUSY;
		return 0;
	}
	if (lease->state != RCL_LEASE_STOPPED &&
	    lease->state != RCL_LEASE_RECYCLING &&
	    lease->state != RCL_LEASE_DEAD)
		return -EPROTO;
	if (msg->status || lease->failed || lease->state == RCL_LEASE_DEAD ||
	    rcl_epoch_rewire(ep, rcl_lease_qp(ep, lease), &id)) {
		answer->status = RCL_MSG_FAILED;
		rcl_lease_die(ep, lease);
		return 0;
	}
	rcl_lease_put_id(lease, answer);
	lease->state = RCL_LEASE_ANSWERED;
	return 0;
}

static int rcl_lease_gone(struct rcl_epoch *ep, struct rcl_lease *lease,
			  const struct rcl_msg *msg)
{
	if (lease->state != RCL_LEASE_ANSWERED)
		return -EPROTO;
	if (msg->status || rcl_epoch_go(ep, rcl_lease_qp(ep, lease)))
		rcl_lease_die(ep, lease);
	else
		lease->state = RCL_LEASE_FREE;
	return 0;
}

/**
 * rcl_lease_question - answer a question of the peer
 * @ep: of a link that is up
 * @msg: OPEN, RECYCLE, GO, HEARS or IMPORT, hostile
 *
 * Return: 0, -EPROTO, or what rcl_ctrl_send() says.
 */
int rcl_lease_question(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_msg answer = {
		.cookie = msg->cookie,
		.offset = msg->offset,
	};
	struct rcl_lease *lease;
	int ret;

	if (msg->type == RCL_MSG_IMPORT)
		return rcl_import_question(ep, msg);
	if (msg->offset >= ep->pool.n)
		return -EPROTO;
	lease = &ep->pool.lease[msg->offset];
	if (msg->type == RCL_MSG_OPEN) {
		answer.type = RCL_MSG_OPENED;
		ret = rcl_lease_opened(ep, lease, msg, &answer);
	} else if (msg->type == RCL_MSG_RECYCLE) {
		answer.type = RCL_MSG_RECYCLED;
		ret = rcl_lease_recycled(ep, lease, msg, &answer);
	} else if (msg->type == RCL_MSG_GO) {
		answer.type = RCL_MSG_GONE;
		ret = rcl_lease_gone(ep, lease, msg);
	} else {
		answer.type = RCL_MSG_HEARD;
		ret = 0;
		/* Else it has ended here, and the peer is about to hear it. */
		if (lease->state == RCL_LEASE_OPEN)
			lease->lessee->ops->heard(lease->lessee);
	}
	return ret ? : rcl_ctrl_send(&ep->ctrl, &answer);
}

/* The peer has leased it, so what goes wrong here ends with RECYCLE. */
static void rcl_lease_open_ok(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_call *call = lease->call;
	int ret;

	lease->call = NULL;
	lease->state = RCL_LEASE_OPEN;
	if (!call) {
		rcl_lease_end(ep, lease, -ECANCELED);
		return;
	}
	kref_get(&call->lessee->ref);
	ret = rcl_lease_begin(lease, ep, call->lessee);
	if (ret)
		rcl_lease_end(ep, lease, ret);
	rcl_call_finish(call, ret);
}

static int rcl_lease_on_opened(struct rcl_epoch *ep, struct rcl_lease *lease,
			       const struct rcl_msg *msg)
{
	struct rcl_call *call = lease->call;

	if (lease->state != RCL_LEASE_OPENING)
		return -EPROTO;
	if (msg->status == RCL_MSG_OK) {
		rcl_lease_open_ok(ep, lease);
		return 0;
	}
	lease->call = NULL;
	if (msg->status == RCL_MSG_FAILED)
		rcl_lease_die(ep, lease);
	else
		lease->state = RCL_LEASE_FREE;
	if (!call)
		return 0;
	if (msg->status == RCL_MSG_FAILED)
		list_add(&call->node, &ep->pool.calls);
	else
		rcl_call_finish(call, msg->status == RCL_MSG_REFUSED ?
				      -ECONNREFUSED : -EAGAIN);
	return 0;
}

static int rcl_lease_on_recycled(struct rcl_epoch *ep, struct rcl_lease *lease,
				 const struct rcl_msg *msg)
{
	u32 i = rcl_lease_qp(ep, lease);
	struct rcl_qp_id id;

	if (lease->state != RCL_LEASE_RECYCLING)
		return -EPROTO;
	if (msg->status == RCL_MSG_FAILED) {
		rcl_lease_die(ep, lease);
		return 0;
	}
	if (msg->status || rcl_lease_get_id(msg, &id))
		return -EPROTO;
	lease->failed = rcl_epoch_rewire(ep, i, &id) || rcl_epoch_go(ep, i);
	lease->state = RCL_LEASE_READY;
	return 0;
}

/*
 * Answers that need no attention: to GO and HEARS, to what was told of a QP
 * that failed, and to a question of the end that gave way.
 */
static bool rcl_lease_is_late(const struct rcl_epoch *ep,
			      const struct rcl_lease *lease,
			      const struct rcl_msg *msg)
{
	return msg->type == RCL_MSG_GONE || msg->type == RCL_MSG_HEARD ||
	       lease->state == RCL_LEASE_DEAD ||
	       (msg->status == RCL_MSG_BUSY && rcl_lease_gives_way(ep) &&
		(msg->cookie != lease->cookie ||
		 (lease->state != RCL_LEASE_OPENING &&
		  lease->state != RCL_LEASE_RECYCLING)));
}

/**
 * rcl_lease_answer - the peer answered
 * @ep: of a link that is up
 * @msg: OPENED, RECYCLED, GONE, HEARD or IMPORTED, hostile
 *
 * Return: 0, or -EPROTO.
 */
int rcl_lease_answer(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_lease *lease;

	if (msg->type == RCL_MSG_IMPORTED)
		return rcl_import_answer(ep, msg);
	if (msg->offset >= ep->pool.n)
		return -EPROTO;
	lease = &ep->pool.lease[msg->offset];
	if (rcl_lease_is_late(ep, lease, msg))
		return 0;
	if (msg->cookie != lease->cookie)
		return -EPROTO;
	if (msg->type == RCL_MSG_OPENED)
		return rcl_lease_on_opened(ep, lease, msg);
	return rcl_lease_on_recycled(ep, lease, msg);
}

static void rcl_lease_fail_calls(struct list_head *calls)
{
	struct rcl_call *call, *next;

	list_for_each_entry_safe(call, next, calls, node) {
		list_del(&call->node);
		rcl_call_finish(call, -ENOTCONN);
	}
}

/**
 * rcl_lease_detach_all - the epoch ends: nobody may post any more
 * @ep: before rcl_epoch_stop()
 *
 * Context: may sleep.
 */
void rcl_lease_detach_all(struct rcl_epoch *ep)
{
	struct rcl_pool *pool = &ep->pool;
	u32 i;

	for (i = 0; i < pool->n; i++) {
		struct rcl_lease *lease = &pool->lease[i];

		if (lease->call)
			rcl_call_finish(lease->call, -ENOTCONN);
		lease->call = NULL;
		if (lease->state == RCL_LEASE_OPEN)
			lease->lessee->ops->detach(lease->lessee, -ENOTCONN);
	}
	rcl_lease_fail_calls(&pool->calls);
	rcl_lease_fail_calls(&pool->imports);
}

/**
 * rcl_lease_gone_all - nothing completes any more
 * @ep: after rcl_epoch_stop()
 *
 * Context: may sleep.
 */
void rcl_lease_gone_all(struct rcl_epoch *ep)
{
	struct rcl_pool *pool = &ep->pool;
	struct rcl_lessee *lessee;
	u32 i;

	for (i = 0; i < pool->n; i++) {
		lessee = rcl_lease_take_out(&pool->lease[i]);
		if (!lessee)
			continue;
		lessee->ops->gone(lessee);
		rcl_lessee_put(lessee);
	}
}
