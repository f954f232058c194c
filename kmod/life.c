// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever happens to a link (a netlink request, a completion, a device event,
 * a timer) becomes a note under link->lock and a kick of link->work. The work
 * item alone changes the state and touches the epochs. It never runs twice at
 * the same time for one link, so an epoch needs no lock of its own, and what
 * others may read of it is published under link->lock. Whatever takes long with
 * an epoch that is not up is left to link->chore, see state.c.
 *
 * A link has one epoch, and a second one while it is rotated, which takes the
 * place of the first once its hello has made the round trip both ways.
 *
 * An epoch's verbs objects are stopped before anything that their completion
 * handlers use goes away; only after that are notes of the epoch thrown away.
 */
#include "life.h"

#include <linux/sched/mm.h>
#include <rdma/ib_verbs.h>

#include "bringup.h"
#include "compat.h"
#include "due.h"
#include "epoch.h"
#include "fsm.h"
#include "inbox.h"
#include "lease.h"
#include "lease-base.h"
#include "lessee.h"
#include "msg.h"
#include "ping.h"
#include "probe.h"
#include "recorder.h"
#include "resume.h"
#include "stall.h"
#include "state.h"
#include "trace.h"
#include "tripwire.h"

#define RCL_STILL_MS	1000	/* for what is in flight before a link moves */
#define RCL_CALM_MS	60000	/* between rotations for channels */
#define RCL_MOVE_MS	5000	/* for the peer to be ready to move, too */
#define RCL_WALK_PASS	65536	/* bytes of a buffer that one pass looks at */

static void rcl_life_timer(struct timer_list *timer)
{
	struct rcl_link *link = container_of(timer, struct rcl_link, timer);

	link->live->up.kick(&link->live->up);
}

/* The chore waits for a standby's goodbye; nothing follows a dead link's. */
static void rcl_life_say_bye(struct rcl_slot *slot, u32 reason, bool wait)
{
	rcl_ctrl_say_bye(&slot->epoch->ctrl,
			 reason != RCLINK_DOWN_REASON_DISCONNECTED &&
			 !rcl_inbox_is_dead(slot->link), wait);
}

/* The peer may be up, or have moved, before this end. */
static void rcl_life_goodbye(struct rcl_slot *slot, u32 reason)
{
	struct rcl_slot *next = slot->link->next;

	if (slot != next && next->epoch && rcl_reason_is_wish(reason))
		rcl_life_say_bye(next, reason, true);
	rcl_life_say_bye(slot, reason, slot != next);
	rcl_state_down(slot, reason);
}

/* A link that is not up answers at once. */
static void rcl_life_refuse(struct rcl_link *link, bool all)
{
	struct rcl_call *call;
	struct rcl_ping *ping;
	u32 n = 0;

	while ((call = rcl_inbox_next_call(link, all ? NULL : &n))) {
		bool close = call->kind == RCL_CALL_CLOSE;

		if (close && !list_empty(&call->lessee->node))
			rcl_resume_lose(call->lessee, call->why);
		rcl_call_finish(call, close ? 0 : -ENOTCONN);
	}
	while ((ping = rcl_inbox_next_ping(link)))
		rcl_ping_finish(ping, -ENOTCONN,
				"the link is not up: connect it first");
}

/* Requests that were accepted earlier are done by now. */
static void rcl_life_end_now(struct rcl_link *link)
{
	if (link->live->epoch)
		rcl_life_goodbye(link->live, RCLINK_DOWN_REASON_DISCONNECTED);
	rcl_life_refuse(link, true);
	rcl_resume_lose_all(&link->suspended, -ECONNRESET);
	rcl_state_event(link->live, RCLINK_EVENT_KIND_DELETED);
	complete_all(&link->ended);
}

/* The slot that this process is bringing up, or else the live one. */
static struct rcl_slot *rcl_life_slot(struct rcl_link *link,
				      const struct rcl_request *req)
{
	if (req->kind == RCL_REQ_PREPARE)
		return req->rotate &&
		       link->live->state == RCLINK_LINK_STATE_UP ?
		       link->next : link->live;
	if (req->kind != RCL_REQ_CONNECT && req->kind != RCL_REQ_ACTIVATE)
		return link->live;
	/* The epoch may be gone: then the request does not mean what is up. */
	if (link->next->owner == req->owner ||
	    (link->live->state == RCLINK_LINK_STATE_UP &&
	     link->live->number != req->epoch))
		return link->next;
	return link->live;
}

static void rcl_life_rotate(struct rcl_slot *slot)
{
	slot->epoch->heartbeat.rotate = true;
	rcl_state_unwanted(slot);
}

/*
 * Rotate to give a channel that failed through no fault of its own another QP,
 * and because a key found out is good for as long as the epoch lives. But not
 * where that would end others' channels, at either end, nor for each failure:
 * whoever may open a channel can cause some, and a rotation does not mend what
 * fails again at once. That waits until it is time, or another epoch comes.
 */
static void rcl_life_beware(struct rcl_slot *slot)
{
	struct rcl_link *link = slot->link;
	bool wary;

	if (rcl_state_rotates(link) ||
	    !rcl_policy_resumes(&slot->epoch->policy) ||
	    rcl_state_is_calm(link))
		return;
	wary = !slot->epoch->pool.mortal && rcl_inbox_take_wary(link);
	if (!wary && !rcl_stall_due(slot->epoch))
		return;
	link->calm = rcl_due_in(RCL_CALM_MS);
	rcl_tripwire_log_rotation(link->name, wary);
	rcl_life_rotate(slot);
}

/* Ends the epoch that is up, or the one that is to take its place. */
static int rcl_life_replace(struct rcl_slot *slot, struct rcl_request *req)
{
	struct rcl_slot *next = slot->link->next;

	if (next->epoch && req->epoch == next->number)
		slot = next;
	if (req->epoch != slot->number) {
		req->why = "epoch is neither the one that is up nor the next";
		return -ESTALE;
	}
	rcl_life_goodbye(slot, RCLINK_DOWN_REASON_REPLACED);
	return 0;
}

/*
 * An exchange may be about to bring the link up, over another path or at all,
 * and hears that nobody wants that. Saying so again changes nothing.
 */
static bool rcl_life_stay_down(struct rcl_slot *slot)
{
	static const struct rcl_reason wish = {
		RCLINK_DOWN_REASON_DISCONNECTED
	};
	bool lost = rcl_resume_lose_all(&slot->link->suspended, -ECONNRESET);

	if (slot->state != RCLINK_LINK_STATE_DOWN ||
	    slot->reason.reason == wish.reason)
		return lost;
	rcl_state_set(slot, RCLINK_LINK_STATE_DOWN, &wish);
	return true;
}

/* Applies in any state. */
static bool rcl_life_is_stale(const struct rcl_slot *slot,
			      struct rcl_request *req)
{
	u64 newest = slot->epoch ? slot->number : slot->link->counted;

	if ((req->kind != RCL_REQ_CONNECT && req->kind != RCL_REQ_ACTIVATE) ||
	    req->epoch >= newest)
		return false;
	req->why = "epoch is older than the link's: start a new exchange";
	return true;
}

/* -EINPROGRESS: the chore has the request. */
static int rcl_life_handle(struct rcl_slot *slot, struct rcl_request *req)
{
	int ret;

	if (rcl_life_is_stale(slot, req))
		return -ESTALE;
	ret = rcl_fsm_check(slot->state, req->kind, &req->why);
	if (ret && req->kind == RCL_REQ_DISCONNECT && rcl_life_stay_down(slot))
		return 0;
	if (ret)
		return ret;

	switch (req->kind) {
	case RCL_REQ_PREPARE:
	case RCL_REQ_CONNECT:
	case RCL_REQ_ACTIVATE:
		return rcl_bringup_begin(slot, req) ? : -EINPROGRESS;
	case RCL_REQ_REPLACE:
		return rcl_life_replace(slot, req);
	case RCL_REQ_ROTATE:
		rcl_life_rotate(slot);
		return 0;
	default:
		rcl_life_goodbye(slot, RCLINK_DOWN_REASON_DISCONNECTED);
		return 0;
	}
}

/* Whoever asked for a prepared link may be gone by the time it is ready. */
static void rcl_life_finish(struct rcl_slot *slot, struct rcl_request *req,
			    int ret)
{
	struct rcl_link *link = slot->link;
	bool orphan;

	if (ret)
		trace_rcl_link_err(link->name, req->kind, ret);
	spin_lock_irq(&link->lock);
	req->ret = ret;
	orphan = req->abandoned && req->kind == RCL_REQ_PREPARE && !ret;
	if (ret)
		rcl_recorder_refused(slot, req);
	complete(&req->done);
	spin_unlock_irq(&link->lock);
	if (orphan)
		rcl_state_down(slot, RCLINK_DOWN_REASON_OWNER_GONE);
	rcl_request_put(req);
}

/* False while the chore has a slot's epoch. */
static bool rcl_life_take_back(struct rcl_link *link)
{
	struct rcl_request *req = link->asked;
	struct rcl_slot *slot = link->busy;

	if (!rcl_inbox_take_back(link))
		return false;
	link->busy = NULL;
	link->asked = NULL;
	if (req)
		rcl_life_finish(slot, req, rcl_bringup_end(slot, req));
	else
		rcl_state_given_up(slot);
	return true;
}

/* False when there is no request that can be handled now. */
static bool rcl_life_next_request(struct rcl_link *link)
{
	struct rcl_request *req;
	struct rcl_slot *slot;
	int ret;

	if (link->busy)
		return rcl_life_take_back(link);
	req = rcl_inbox_next_request(link);
	if (!req)
		return false;
	slot = rcl_life_slot(link, req);
	ret = rcl_life_handle(slot, req);
	if (ret != -EINPROGRESS)
		rcl_life_finish(slot, req, ret);
	return true;
}

/* Both ends hear each other. */
static void rcl_life_up(struct rcl_slot *slot)
{
	struct rcl_link *link = slot->link;
	bool moves = slot != link->live;

	slot->due = 0;
	if (moves)
		rcl_state_move(link);
	/* The new epoch has other keys. */
	rcl_inbox_take_wary(link);
	rcl_heartbeat_start(slot->epoch);
	/* The peer reads nothing while it ends the other epoch and all MRs. */
	if (slot->beside)
		slot->epoch->heartbeat.patient = rcl_due_in(RCL_MOVE_MS);
	/* Suspended lessees go on only with the same peer. */
	if (!rcl_policy_resumes(&slot->epoch->policy) ||
	    strcmp(link->was, slot->peer))
		rcl_resume_lose_all(&link->suspended, -ECONNRESET);
	rcl_resume_begin(slot->epoch, &link->suspended);
	link->stats.epochs++;
	rcl_state_set(slot, RCLINK_LINK_STATE_UP, NULL);
}

/*
 * What is in flight for too long is not waited for. The answer to an open is,
 * or the rotation is given up.
 */
static bool rcl_life_is_still(const struct rcl_slot *slot)
{
	struct rcl_epoch *ep = slot->link->live->epoch;

	return (!rcl_due_lies_ahead(slot->still_by) ||
		rcl_lease_is_still(ep)) && rcl_lease_all_decided(ep);
}

/*
 * Where the link would move, the answer to a hello says that nothing is in
 * flight any more, or that it was for too long to wait for.
 */
static int rcl_life_settle(struct rcl_slot *slot)
{
	struct rcl_msg ack = { .type = RCL_MSG_HELLO_ACK };
	struct rcl_link *link = slot->link;
	int ret;

	if (slot->state != RCLINK_LINK_STATE_CONNECTED ||
	    !(slot->proven & RCL_PROVEN_HEARD))
		return 0;
	if (slot != link->live && !slot->still_by &&
	    !(slot->proven & RCL_PROVEN_SAID)) {
		rcl_lease_keep_still(link->live->epoch, true);
		slot->still_by = rcl_due_in(RCL_STILL_MS);
		rcl_state_expect(slot, RCL_MOVE_MS);
	}
	if (!(slot->proven & RCL_PROVEN_SAID)) {
		if (slot->still_by && !rcl_life_is_still(slot))
			return 0;
		ret = rcl_ctrl_send(&slot->epoch->ctrl, &ack);
		if (ret)
			return ret;
		slot->proven |= RCL_PROVEN_SAID;
	}
	/* An owner that is gone has given up the link it was bringing up. */
	if (slot->proven != RCL_PROVEN_ALL || !slot->epoch->probe.through ||
	    rcl_inbox_failure(slot).reason)
		return 0;
	rcl_life_up(slot);
	return 0;
}

static int rcl_life_hello(struct rcl_slot *slot, const struct rcl_msg *msg)
{
	int ret;

	if (slot->state != RCLINK_LINK_STATE_CONNECTED)
		return -EPROTO;
	if (msg->type == RCL_MSG_HELLO_ACK) {
		slot->proven |= RCL_PROVEN_ANSWERED;
	} else {
		if (slot->proven & RCL_PROVEN_HEARD)
			return -EPROTO;
		if (msg->cookie != RCL_MSG_VERSION)
			return -EPROTONOSUPPORT;
		slot->proven |= RCL_PROVEN_HEARD;
		ret = rcl_probe_post(slot->epoch);
		if (ret)
			return ret;
	}
	return rcl_life_settle(slot);
}

/*
 * A peer that is up has our answer to its hello, and the probe before that; but
 * it may say something before we know that the probe has arrived.
 */
static int rcl_life_overtaken(struct rcl_slot *slot, u8 type)
{
	if (type == RCL_MSG_HELLO || type == RCL_MSG_HELLO_ACK ||
	    type == RCL_MSG_BYE)
		return 0;
	if (slot->state != RCLINK_LINK_STATE_CONNECTED ||
	    slot->proven != RCL_PROVEN_ALL)
		return 0;
	slot->epoch->probe.through = true;
	return rcl_life_settle(slot);
}

static int rcl_life_talk(struct rcl_slot *slot, const struct rcl_msg *msg,
			 ktime_t arrived)
{
	struct rcl_epoch *ep = slot->epoch;

	rcl_heartbeat_heard(ep, msg);
	/* A peer that answers heartbeats may owe other answers. */
	if (rcl_msg_is_answer(msg->type) && msg->type != RCL_MSG_BEAT_ACK)
		slot->due = 0;
	switch (msg->type) {
	case RCL_MSG_PONG:
	case RCL_MSG_FILLED:
	case RCL_MSG_CHECKED:
		return rcl_ping_answer(ep, msg, arrived);
	case RCL_MSG_PING:
	case RCL_MSG_FILL:
	case RCL_MSG_CHECK:
		return rcl_ping_question(ep, msg);
	default:
		if (rcl_heartbeat_rotation_asked(ep, msg) &&
		    !rcl_state_rotates(slot->link))
			rcl_state_unwanted(slot);
		if (msg->type == RCL_MSG_BEAT || msg->type == RCL_MSG_BEAT_ACK)
			return rcl_heartbeat_message(ep, msg);
		if (rcl_msg_is_answer(msg->type))
			return rcl_lease_answer(ep, msg);
		return rcl_lease_question(ep, msg);
	}
}

static int rcl_life_message(struct rcl_slot *slot, const struct rcl_msg *msg,
			    ktime_t arrived)
{
	int ret;

	ret = rcl_life_overtaken(slot, msg->type);
	if (ret)
		return ret;
	switch (msg->type) {
	case RCL_MSG_HELLO:
	case RCL_MSG_HELLO_ACK:
		return rcl_life_hello(slot, msg);
	case RCL_MSG_BYE:
		return msg->cookie == RCL_MSG_AGAIN ? -EREMCHG : -ECONNRESET;
	default:
		/* A peer that is up has made sure that we are, too. */
		return slot->state == RCLINK_LINK_STATE_UP ?
		       rcl_life_talk(slot, msg, arrived) : -EPROTO;
	}
}

/* 1 for a message, 0 if there is none now, or an errno that ends the epoch. */
static int rcl_life_next(struct rcl_slot *slot, u32 *walked)
{
	struct rcl_ctrl *ctrl = &slot->epoch->ctrl;
	struct rcl_ctrl_slot *in;
	struct rcl_msg msg;
	int ret;

	ret = rcl_ctrl_recv(ctrl, &in, &msg);
	if (ret <= 0)
		return ret;
	ret = rcl_life_message(slot, &msg, in->arrived);
	*walked += rcl_ping_walks(&msg);
	return ret ? : rcl_ctrl_repost(ctrl, in) ? : 1;
}

/* A peer that never stops asking must not keep the work item to itself. */
static int rcl_life_receive(struct rcl_slot *slot)
{
	u32 walked = 0;
	int ret;
	int i;

	for (i = 0; i < RCL_CTRL_SLOTS && walked < RCL_WALK_PASS; i++) {
		ret = rcl_life_next(slot, &walked);
		/* What crosses a failure of ours is not the peer's fault. */
		if (ret == -EPROTO && !rcl_inbox_failure(slot).reason)
			slot->link->stats.rx_malformed++;
		if (ret <= 0)
			return ret;
	}
	slot->up.kick(&slot->up);
	return 0;
}

static int rcl_life_ping(struct rcl_link *link)
{
	struct rcl_pinger *pinger = &link->live->epoch->pinger;
	struct rcl_ping *ping;
	int ret;

	ret = rcl_ping_continue(link->live->epoch);
	while (!ret && !pinger->ping) {
		ping = rcl_inbox_next_ping(link);
		if (!ping)
			return 0;
		rcl_ping_start(link->live->epoch, ping);
		ret = rcl_ping_continue(link->live->epoch);
	}
	return ret;
}

static int rcl_life_lease(struct rcl_link *link)
{
	struct rcl_call *call;
	u32 n = 0;

	while ((call = rcl_inbox_next_call(link, &n)))
		rcl_lease_call(link->live->epoch, call);
	return rcl_lease_continue(link->live->epoch);
}

/* While something waits for the peer, an answer must come now and then. */
static int rcl_life_ask(struct rcl_link *link)
{
	struct rcl_slot *slot = link->live;
	struct rcl_epoch *ep = slot->epoch;
	u64 due = rcl_lease_owes(ep);
	int ret;

	if (due && !rcl_due_lies_ahead(due))
		return -ETIMEDOUT;
	rcl_life_beware(slot);
	rcl_stall_look(ep);
	ret = rcl_heartbeat_ask_rotation(ep);
	/* Pings could fill the window forever; leases leave room for them. */
	if (!ret)
		ret = rcl_life_lease(link);
	if (!ret)
		ret = rcl_life_ping(link);
	/* Last: any question asked above shows as much as a heartbeat. */
	if (!ret)
		ret = rcl_heartbeat_look(ep);
	if (rcl_heartbeat_is_alone(ep) && !ep->pinger.ping)
		slot->due = 0;
	else if (!slot->due)
		rcl_state_expect(slot, rcl_heartbeat_limit(ep));
	return ret;
}

/* A peer that ends a link says so on all its epochs: one, if it has moved. */
static struct rcl_slot *rcl_life_ends(struct rcl_slot *slot, int ret)
{
	struct rcl_slot *live = slot->link->live;

	return ret == -ECONNRESET && live->state == RCLINK_LINK_STATE_UP ?
	       live : slot;
}

/*
 * What has come in is read before the peer is judged, in as many passes as that
 * takes; but a peer that never stops asking is judged all the same.
 */
static bool rcl_life_is_behind(const struct rcl_ctrl *ctrl)
{
	return ctrl->behind < RCL_CTRL_SLOTS && rcl_ctrl_can_recv(ctrl);
}

/* A goodbye explains failures that come with it; a final one, also a leave. */
static void rcl_life_traffic(struct rcl_slot *slot)
{
	struct rcl_ctrl *ctrl = &slot->epoch->ctrl;
	struct rcl_reason failure;
	int ret;

	rcl_ctrl_poll(ctrl);
	ret = rcl_life_receive(slot);
	if (!ret)
		ret = rcl_life_settle(slot);
	/* What would fail with the epoch may go on in the next one. */
	if (!ret && slot->state == RCLINK_LINK_STATE_UP &&
	    !rcl_life_is_behind(ctrl) && !rcl_inbox_failure(slot).reason)
		ret = rcl_life_ask(slot->link);
	/* A software device may already have completed what was just posted. */
	if (rcl_ctrl_poll(ctrl) || rcl_qp_arm(ctrl->qp))
		slot->up.kick(&slot->up);
	if (!ret && rcl_life_is_behind(ctrl)) {
		ctrl->behind++;
		return;
	}
	ctrl->behind = 0;
	failure = rcl_inbox_failure(slot);
	if (failure.reason == RCLINK_DOWN_REASON_OWNER_GONE ||
	    (ret != -ECONNRESET && rcl_reason_is_leave(failure.reason)))
		rcl_life_goodbye(slot, failure.reason);
	else if (failure.reason && ret != -ECONNRESET && ret != -EREMCHG)
		rcl_state_fail(slot, &failure);
	else if (ret)
		rcl_state_down(rcl_life_ends(slot, ret), rcl_reason_of(ret));
	else if (rcl_state_is_late(slot))
		rcl_state_down(slot, rcl_probe_is_lost(slot->epoch) ?
			       RCLINK_DOWN_REASON_MTU :
			       RCLINK_DOWN_REASON_TIMED_OUT);
}

/* Which slot is the live one may change meanwhile. */
static void rcl_life_look(struct rcl_link *link)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(link->slots); i++)
		if (link->slots[i].epoch && &link->slots[i] != link->busy &&
		    !rcl_state_break_off(&link->slots[i]))
			rcl_life_traffic(&link->slots[i]);
	rcl_state_set_timer(link);
}

/*
 * Only a link that was dead before its requests were taken out gets no more of
 * them, so only then can it end.
 */
static void rcl_life_work(struct work_struct *work)
{
	struct rcl_link *link = container_of(work, struct rcl_link, work);
	unsigned int noio = memalloc_noio_save();
	bool dead = rcl_inbox_is_dead(link);

	do
		rcl_life_look(link);
	while (rcl_life_next_request(link));
	if (link->live->state != RCLINK_LINK_STATE_UP)
		rcl_life_refuse(link, false);
	if (dead && !link->busy && !completion_done(&link->ended))
		rcl_life_end_now(link);
	memalloc_noio_restore(noio);
}

/**
 * rcl_life_create - begin the life of a link
 * @link: zeroed but for its name, record and traffic
 */
void rcl_life_create(struct rcl_link *link)
{
	rcl_inbox_init(link);
	INIT_WORK(&link->work, rcl_life_work);
	INIT_WORK(&link->chore, rcl_bringup_chore);
	INIT_LIST_HEAD(&link->suspended);
	rcl_exports_init(&link->exports);
	timer_setup(&link->timer, rcl_life_timer, 0);
	init_completion(&link->ended);
	spin_lock_irq(&link->lock);
	rcl_recorder_state(link->live, 0);
	spin_unlock_irq(&link->lock);
}

/**
 * rcl_life_destroy - end the life of a link
 * @link: was deleted, and nobody knows it any more
 *
 * Context: may sleep.
 */
void rcl_life_destroy(struct rcl_link *link)
{
	rcl_compat_timer_delete_sync(&link->timer);
	/* The chore has nothing left to do, but may be about to say so. */
	cancel_work_sync(&link->chore);
	cancel_work_sync(&link->work);
	rcl_record_wipe(link->record);
}
