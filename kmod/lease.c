// SPDX-License-Identifier: GPL-2.0
/*
 * A lease is opened by a question and its answer. It ends in three steps, so
 * that no packet or receive of the old lessee survives: RECYCLE i with my new
 * QPN and PSN (I am in INIT), RECYCLED with yours (you are in RTR), GO (I am in
 * RTS, now you). Number i is leased again only after GO. The registrations of
 * the old lessee end meanwhile, in a work item of its own; the handles that
 * named them at the other end are gone with the channel there.
 *
 * Both ends may begin at once. Then the question of the initiator counts: it
 * answers the other one with BUSY, and the acceptor answers as if it had not
 * asked. That BUSY arrives when nobody waits for it any more.
 *
 * Between open and end, each end says once that its lessee has posted a
 * receive: HEARS. Until then the other end holds back what would need one.
 *
 * All of this runs in the link's work item.
 */
#include "lease.h"

#include <linux/random.h>
#include <linux/string.h>

#include "due.h"
#include "epoch.h"
#include "import.h"
#include "lease-base.h"
#include "lessee.h"
#include "member.h"
#include "msg.h"
#include "offer.h"
#include "resume.h"
#include "service.h"
#include "stall.h"

#define RCL_OPENS_MAX	256	/* waiting on one link: a pass looks at all */

static bool rcl_lease_gives_way(const struct rcl_epoch *ep)
{
	return ep->pool.role != RCLINK_ROLE_INITIATOR;
}

static void rcl_lease_put_id(const struct rcl_lease *lease,
			     struct rcl_msg *msg)
{
	msg->qpn = lease->qp->qp->qp_num;
	msg->psn = lease->qp->psn;
}

static int rcl_lease_get_id(const struct rcl_msg *msg, struct rcl_qp_id *id)
{
	id->qpn = msg->qpn;
	id->psn = msg->psn;
	return rcl_qpn_is_usable(id->qpn) && id->psn <= RCL_24BIT_MAX ?
	       0 : -EPROTO;
}

static void rcl_lease_enqueue(struct rcl_pool *pool, struct rcl_call *call)
{
	list_add_tail(&call->node, &pool->calls);
	pool->nopens += call->kind == RCL_CALL_OPEN;
}

/* At the head: it has waited long enough. */
static void rcl_lease_requeue(struct rcl_pool *pool, struct rcl_call *call)
{
	list_add(&call->node, &pool->calls);
	pool->nopens += call->kind == RCL_CALL_OPEN;
}

static void rcl_lease_dequeue(struct rcl_pool *pool, struct rcl_call *call)
{
	list_del(&call->node);
	pool->nopens -= call->kind == RCL_CALL_OPEN;
}

static void rcl_lease_close(struct rcl_epoch *ep, struct rcl_lessee *lessee,
			    int why)
{
	struct rcl_pool *pool = &ep->pool;
	struct rcl_call *call, *next;
	struct rcl_lease *lease;

	list_for_each_entry_safe(call, next, &pool->calls, node) {
		if (call->lessee != lessee)
			continue;
		rcl_lease_dequeue(pool, call);
		rcl_call_finish(call, why);
	}
	rcl_lease_cancel(pool, lessee, why);
	lease = rcl_pool_find(pool, lessee);
	if (!lease)
		return;
	if (lease->call) {
		rcl_call_finish(lease->call, why);
		lease->call = NULL;
	} else if (lease->state == RCL_LEASE_OPEN) {
		rcl_lease_end(ep, lease, why);
	} else if (lease->state == RCL_LEASE_RESUMING) {
		rcl_resume_close(ep, lease, why);
	}
}

/**
 * rcl_lease_call - take on a call
 * @ep: of a link that is up
 * @call: with the reference of the inbox
 *
 * Call rcl_lease_continue() afterwards.
 */
void rcl_lease_call(struct rcl_epoch *ep, struct rcl_call *call)
{
	struct rcl_pool *pool = &ep->pool;

	if (call->kind == RCL_CALL_CLOSE) {
		rcl_lease_close(ep, call->lessee, call->why);
		rcl_call_finish(call, 0);
	} else if (call->kind == RCL_CALL_OPEN &&
		   pool->nopens >= RCL_OPENS_MAX) {
		rcl_call_finish(call, -EAGAIN);
	} else {
		/* The limit stays if the link is rotated meanwhile. */
		if (!call->until)
			call->until = rcl_due_in(rcl_heartbeat_limit(ep));
		rcl_lease_enqueue(pool, call);
	}
}

/* The two ends search from opposite sides, so that they seldom meet. */
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

static bool rcl_lease_some_come_back(const struct rcl_pool *pool)
{
	const struct rcl_lease *lease;

	rcl_pool_for_each(lease, pool)
		if (rcl_lease_comes_back(lease))
			return true;
	return false;
}

static int rcl_lease_ask_open(struct rcl_epoch *ep, struct rcl_call *call)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_OPEN,
		.len = strlen(call->name),
		.data = (const u8 *)call->name,
	};
	/* The peer may take each QP that comes back, again and again. */
	bool late = !call->wait && !rcl_due_lies_ahead(call->until);
	struct rcl_lease *lease;
	int ret;

	/* Otherwise the answer could come too late. */
	if (ep->pool.still)
		return 0;
	lease = late ? NULL : rcl_lease_find_free(ep);
	if (!lease && !late &&
	    (call->wait || rcl_lease_some_come_back(&ep->pool)))
		return 0;
	if (!lease) {
		rcl_lease_dequeue(&ep->pool, call);
		rcl_call_finish(call, -EAGAIN);
		return 0;
	}
	msg.id = get_random_u32();
	ret = rcl_lease_send(ep, lease, &msg);
	if (ret)
		return ret;
	rcl_lease_dequeue(&ep->pool, call);
	lease->call = call;
	call->lessee->id = msg.id;
	lease->state = RCL_LEASE_OPENING;
	return 0;
}

/* A QP that has failed here is given up at both ends. */
static int rcl_lease_ask_step(struct rcl_epoch *ep, struct rcl_lease *lease,
			      struct rcl_msg *msg, enum rcl_lease_state next)
{
	int ret;

	msg->status = lease->failed ? RCL_MSG_FAILED : RCL_MSG_OK;
	ret = rcl_lease_send(ep, lease, msg);
	if (ret)
		return ret;
	if (lease->failed)
		rcl_lease_die(ep, lease);
	else
		lease->state = next;
	return 0;
}

static int rcl_lease_ask_recycle(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_msg msg = { .type = RCL_MSG_RECYCLE };

	rcl_lease_put_id(lease, &msg);
	return rcl_lease_ask_step(ep, lease, &msg, RCL_LEASE_RECYCLING);
}

static int rcl_lease_ask_go(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_msg msg = { .type = RCL_MSG_GO };

	return rcl_lease_ask_step(ep, lease, &msg, RCL_LEASE_FREE);
}

static int rcl_lease_ask_hears(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_msg msg = { .type = RCL_MSG_HEARS };
	int ret = 0;

	/* Nothing arrives at a QP that has failed. */
	if (READ_ONCE(lease->lessee->hears) && !lease->lessee->told &&
	    !READ_ONCE(lease->lessee->stalled)) {
		ret = rcl_lease_send(ep, lease, &msg);
		lease->lessee->told = !ret;
	}
	return ret;
}

static int rcl_lease_ask(struct rcl_epoch *ep)
{
	struct rcl_pool *pool = &ep->pool;
	struct rcl_call *call, *next;
	struct rcl_lease *lease;
	int ret;

	ret = rcl_resume_ask(ep);
	rcl_pool_for_each(lease, pool) {
		if (ret)
			break;
		if (lease->state == RCL_LEASE_STOPPED)
			ret = rcl_lease_ask_recycle(ep, lease);
		else if (lease->state == RCL_LEASE_READY)
			ret = rcl_lease_ask_go(ep, lease);
		else if (lease->state == RCL_LEASE_OPEN)
			ret = rcl_lease_ask_hears(ep, lease) ? :
			      rcl_stall_ask(ep, lease);
	}
	list_for_each_entry_safe(call, next, &pool->calls, node) {
		if (ret)
			break;
		if (call->kind == RCL_CALL_OPEN)
			ret = rcl_lease_ask_open(ep, call);
		else if (call->kind == RCL_CALL_GROUP)
			ret = rcl_member_ask(ep, call);
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
			   const char *name, u32 id)
{
	struct rcl_lessee *lessee = rcl_service_offer(ep->pool.link, name);
	int ret = PTR_ERR_OR_ZERO(lessee);

	if (!ret) {
		lessee->id = id;
		ret = rcl_lease_begin(lease, ep, lessee);
	}
	if (!ret)
		return RCL_MSG_OK;
	return ret == -ECONNREFUSED ? RCL_MSG_REFUSED : RCL_MSG_BUSY;
}

static int rcl_lease_question_open(struct rcl_epoch *ep,
				   struct rcl_lease *lease,
				   const struct rcl_msg *msg,
				   struct rcl_msg *answer)
{
	char name[RCLINK_DEV_SERVICE_LEN];
	int ret;

	ret = rcl_msg_get_name(msg, name, sizeof(name));
	if (ret)
		return ret;
	if (lease->state == RCL_LEASE_OPENING && rcl_lease_gives_way(ep)) {
		if (lease->call)
			rcl_lease_requeue(&ep->pool, lease->call);
		lease->call = NULL;
		lease->state = RCL_LEASE_FREE;
	}
	/* A peer that asks this has no channel here that could be resumed. */
	if (lease->state == RCL_LEASE_RESUMING) {
		rcl_lease_let_go(ep, lease, -ECONNRESET);
		lease->state = RCL_LEASE_FREE;
	}
	switch (lease->state) {
	case RCL_LEASE_FREE:
		answer->status = rcl_lease_accept(ep, lease, name, msg->id);
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

static int rcl_lease_question_recycle(struct rcl_epoch *ep,
				      struct rcl_lease *lease,
				      const struct rcl_msg *msg,
				      struct rcl_msg *answer)
{
	struct rcl_qp_id id;

	if (!msg->status && rcl_lease_get_id(msg, &id))
		return -EPROTO;
	if (lease->state == RCL_LEASE_OPEN ||
	    lease->state == RCL_LEASE_RESUMING)
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
	    rcl_epoch_rewire(ep, lease->qp->index, &id)) {
		answer->status = RCL_MSG_FAILED;
		rcl_lease_die(ep, lease);
		return 0;
	}
	rcl_lease_put_id(lease, answer);
	lease->state = RCL_LEASE_ANSWERED;
	rcl_lease_expect(ep, lease);
	return 0;
}

static int rcl_lease_question_go(struct rcl_epoch *ep, struct rcl_lease *lease,
				 const struct rcl_msg *msg)
{
	if (lease->state != RCL_LEASE_ANSWERED)
		return -EPROTO;
	if (msg->status || rcl_epoch_go(ep, lease->qp->index))
		rcl_lease_die(ep, lease);
	else
		lease->state = RCL_LEASE_FREE;
	return 0;
}

/**
 * rcl_lease_question - answer a question of the peer
 * @ep: of a link that is up
 * @msg: OPEN, RECYCLE, GO, HEARS, RESUME, IMPORT or GROUP, hostile
 *
 * Return: 0, -EPROTO, or what rcl_ctrl_send() returns.
 */
int rcl_lease_question(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_msg answer = {
		.cookie = msg->cookie,
		.index = msg->index,
	};
	struct rcl_lease *lease;
	int ret;

	if (msg->type == RCL_MSG_IMPORT)
		return rcl_import_question(ep, msg);
	if (msg->type == RCL_MSG_GROUP)
		return rcl_member_question(ep, msg);
	if (msg->index >= ep->pool.n)
		return -EPROTO;
	lease = &ep->pool.lease[msg->index];
	switch (msg->type) {
	case RCL_MSG_OPEN:
		answer.type = RCL_MSG_OPENED;
		ret = rcl_lease_question_open(ep, lease, msg, &answer);
		break;
	case RCL_MSG_RECYCLE:
		answer.type = RCL_MSG_RECYCLED;
		ret = rcl_lease_question_recycle(ep, lease, msg, &answer);
		break;
	case RCL_MSG_GO:
		answer.type = RCL_MSG_GONE;
		ret = rcl_lease_question_go(ep, lease, msg);
		break;
	case RCL_MSG_RESUME:
		answer.type = RCL_MSG_RESUMED;
		ret = rcl_resume_question(ep, lease, msg, &answer);
		break;
	case RCL_MSG_HEARS:
		answer.type = RCL_MSG_HEARD;
		answer.status = rcl_stall_heard(ep, lease, msg);
		ret = 0;
		break;
	default:
		return -EPROTO;
	}
	return ret ? : rcl_ctrl_send(&ep->ctrl, &answer);
}

/* The peer has leased it, so a failure here must end with RECYCLE. */
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

static int rcl_lease_answer_opened(struct rcl_epoch *ep,
				   struct rcl_lease *lease,
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
		rcl_lease_requeue(&ep->pool, call);
	else
		rcl_call_finish(call, msg->status == RCL_MSG_REFUSED ?
				      -ECONNREFUSED : -EAGAIN);
	return 0;
}

static int rcl_lease_answer_recycled(struct rcl_epoch *ep,
				     struct rcl_lease *lease,
				     const struct rcl_msg *msg)
{
	u32 i = lease->qp->index;
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
 * Answers that need no attention: to GO, to a HEARS that was no probe, to what
 * was said of a QP that failed, to a question of the end that gave way, and to
 * one about a channel that has ended here meanwhile.
 */
static bool rcl_lease_is_late(const struct rcl_epoch *ep,
			      const struct rcl_lease *lease,
			      const struct rcl_msg *msg)
{
	bool asked = msg->cookie == lease->cookie;

	if (lease->state == RCL_LEASE_DEAD)
		return true;
	switch (msg->type) {
	case RCL_MSG_GONE:
		return true;
	case RCL_MSG_HEARD:
		return !asked || !lease->probed ||
		       lease->state != RCL_LEASE_OPEN;
	case RCL_MSG_RESUMED:
		return !asked || lease->state != RCL_LEASE_RESUMING;
	default:
		return msg->status == RCL_MSG_BUSY && rcl_lease_gives_way(ep) &&
		       (!asked || (lease->state != RCL_LEASE_OPENING &&
				   lease->state != RCL_LEASE_RECYCLING));
	}
}

/**
 * rcl_lease_answer - the peer answered
 * @ep: of a link that is up
 * @msg: OPENED, RECYCLED, GONE, HEARD, RESUMED, IMPORTED or GROUPED, hostile
 *
 * Return: 0, or -EPROTO.
 */
int rcl_lease_answer(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_lease *lease;

	if (msg->type == RCL_MSG_IMPORTED)
		return rcl_import_answer(ep, msg);
	if (msg->type == RCL_MSG_GROUPED)
		return rcl_member_answer(ep, msg);
	if (msg->index >= ep->pool.n)
		return -EPROTO;
	lease = &ep->pool.lease[msg->index];
	if (msg->type == RCL_MSG_HEARD && msg->status == RCL_MSG_REFUSED)
		ep->pool.mortal = true;
	if (rcl_lease_is_late(ep, lease, msg))
		return 0;
	if (msg->cookie != lease->cookie)
		return -EPROTO;
	if (msg->type == RCL_MSG_OPENED)
		return rcl_lease_answer_opened(ep, lease, msg);
	if (msg->type == RCL_MSG_RESUMED)
		return rcl_resume_answer(ep, lease, msg);
	if (msg->type == RCL_MSG_HEARD) {
		rcl_stall_answered(ep, lease, msg);
		return 0;
	}
	return rcl_lease_answer_recycled(ep, lease, msg);
}

/*
 * With @later there is another epoch, in which OPEN calls go on. An importer
 * asks again by itself, because all of its keys must be of one epoch; an errand
 * must end with this epoch.
 */
static void rcl_lease_end_calls(struct list_head *calls,
				struct list_head *later)
{
	struct rcl_call *call, *next;

	list_for_each_entry_safe(call, next, calls, node) {
		list_del(&call->node);
		if (later && call->kind == RCL_CALL_OPEN)
			list_add_tail(&call->node, later);
		else
			rcl_call_finish(call, later ? -EAGAIN : -ENOTCONN);
	}
}

/**
 * rcl_lease_detach_all - the epoch ends: nobody may post any more
 * @ep: before rcl_epoch_stop()
 * @why: errno for lessees that end with it
 * @suspended: list for lessees that wait for the next epoch; NULL for none
 * @calls: list for calls that wait for it, if it exists; NULL to fail them
 *
 * Context: may sleep.
 */
void rcl_lease_detach_all(struct rcl_epoch *ep, int why,
			  struct list_head *suspended, struct list_head *calls)
{
	struct rcl_pool *pool = &ep->pool;
	struct rcl_lease *lease;

	rcl_pool_for_each(lease, pool) {
		struct rcl_lessee *lessee = lease->lessee;

		if (lease->call)
			rcl_lease_enqueue(pool, lease->call);
		lease->call = NULL;
		if (!lessee || lease->state == RCL_LEASE_DEAD)
			continue;
		if (suspended && lessee->ops->suspend(lessee))
			rcl_resume_later(lessee, rcl_pool_index(pool, lease),
					 suspended);
		else
			lessee->ops->detach(lessee, why);
	}
	rcl_lease_end_calls(&pool->calls, calls);
	rcl_lease_end_calls(&pool->asked, calls);
}

/**
 * rcl_lease_stopped_all - nothing completes any more on QPs that have stopped
 * @ep: after rcl_epoch_drain()
 *
 * Context: may sleep.
 */
void rcl_lease_stopped_all(struct rcl_epoch *ep)
{
	struct rcl_pool *pool = &ep->pool;
	struct rcl_lease *lease;

	/* A QP that has not may access memory until it is destroyed. */
	rcl_pool_for_each(lease, pool)
		if (lease->lessee && lease->qp->state == RCL_QP_DRAINED)
			lease->lessee->ops->stopped(lease->lessee);
}

/**
 * rcl_lease_gone_all - nothing completes any more
 * @ep: after rcl_epoch_stop()
 *
 * Context: may sleep, until all registrations have ended.
 */
void rcl_lease_gone_all(struct rcl_epoch *ep)
{
	struct rcl_pool *pool = &ep->pool;
	struct rcl_lease *lease;

	rcl_pool_for_each(lease, pool) {
		struct rcl_lessee *lessee = rcl_lease_take_out(lease);

		if (lessee)
			rcl_lessee_leave(lessee, &pool->errands);
	}
	rcl_offer_end(pool);
	rcl_errands_wait(&pool->errands);
}
