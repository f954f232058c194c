// SPDX-License-Identifier: GPL-2.0
/*
 * Whatever happens to a link, a netlink request, a completion, a device event,
 * a timer, becomes a note under link->lock and a kick of link->work. The work
 * item alone changes the state and touches the epoch. It never runs twice at
 * the same time for one link, so the epoch needs no lock of its own, and what
 * the outside may read of it is published under link->lock.
 *
 * The epoch's verbs objects are stopped before anything that their completion
 * handlers use goes away; only then notes of that epoch are thrown away.
 */
#include "life.h"

#include <linux/delay.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "epoch.h"
#include "event.h"
#include "fsm.h"
#include "inbox.h"
#include "lease.h"
#include "lessee.h"
#include "msg.h"
#include "path.h"
#include "ping.h"
#include "recorder.h"
#include "resume.h"
#include "trace.h"
#include "tripwire.h"

#define RCL_PREPARED_MS	30000	/* for the rest of the exchange */
#define RCL_HELLO_MS	10000	/* for the hello after activate */
#define RCL_ANSWER_MS	10000	/* for an answer of the peer's kernel */
#define RCL_BYE_MS	200	/* for the peer to acknowledge a goodbye */
#define RCL_CAUSE_MS	100	/* for the event that explains a flush */

enum rcl_proven {
	RCL_PROVEN_HEARD = BIT(0),	/* the peer's hello came in */
	RCL_PROVEN_ANSWERED = BIT(1),	/* our hello was answered */
	RCL_PROVEN_BOTH = RCL_PROVEN_HEARD | RCL_PROVEN_ANSWERED,
};

static void rcl_life_timer(struct timer_list *timer)
{
	struct rcl_link *link = container_of(timer, struct rcl_link, timer);

	link->up.kick(&link->up);
}

/* Something has to happen within that time. */
static void rcl_life_expect(struct rcl_link *link, unsigned int ms)
{
	link->expecting = true;
	link->due = jiffies + msecs_to_jiffies(ms);
}

static bool rcl_life_is_late(const struct rcl_link *link)
{
	return link->expecting && time_after_eq(jiffies, link->due);
}

/*
 * The timer only wakes the work item, which alone judges what is late, so a
 * timer that is no longer needed may run.
 */
static void rcl_life_set_timer(struct rcl_link *link)
{
	unsigned long due;
	bool wake;

	wake = link->state == RCLINK_LINK_STATE_UP &&
	       rcl_heartbeat_due(link->epoch, &due);
	if (link->expecting && (!wake || time_before(link->due, due))) {
		due = link->due;
		wake = true;
	}
	if (wake)
		mod_timer(&link->timer, due);
}

/**
 * rcl_life_event - tell the listeners about a link
 * @link: as it is now
 * @kind: enum rclink_event_kind
 *
 * Context: may sleep.
 */
void rcl_life_event(struct rcl_link *link, u32 kind)
{
	struct rcl_event event = {
		.kind = kind,
		.id = link->id,
		.name = link->name,
	};

	spin_lock_irq(&link->lock);
	event.state = link->state;
	event.reason = link->reason;
	event.epoch = link->epoch_number;
	spin_unlock_irq(&link->lock);
	rcl_event_send(&event);
}

static void rcl_life_set_state(struct rcl_link *link,
			       enum rclink_link_state state,
			       const struct rcl_reason *reason)
{
	enum rclink_link_state old;

	spin_lock_irq(&link->lock);
	old = link->state;
	link->state = state;
	link->reason = *reason;
	if (state == RCLINK_LINK_STATE_UP || state == RCLINK_LINK_STATE_DOWN)
		link->owner = 0;
	rcl_recorder_state(link, old);
	spin_unlock_irq(&link->lock);
	trace_rcl_link_state(link->name, link->epoch_number, old, state,
			     reason->reason, reason->wc_status);
	rcl_life_event(link, RCLINK_EVENT_KIND_CHANGED);
}

/* No epoch is left that could note one. */
static void rcl_life_forget_failure(struct rcl_link *link)
{
	spin_lock_irq(&link->lock);
	memset(&link->failure, 0, sizeof(link->failure));
	spin_unlock_irq(&link->lock);
}

/*
 * A flush may have been noted before its cause: after the stop all completions
 * have, but a device event takes its own way.
 */
static struct rcl_reason rcl_life_cause(struct rcl_link *link)
{
	unsigned long end = jiffies + msecs_to_jiffies(RCL_CAUSE_MS);
	struct rcl_reason why;

	while ((why = rcl_inbox_failure(link)).wc_status ==
	       IB_WC_WR_FLUSH_ERR && time_before(jiffies, end))
		usleep_range(500, 1000);
	return why;
}

static void rcl_life_end_leases(struct rcl_link *link, u32 reason)
{
	struct rcl_epoch *ep = link->epoch;
	/* Who ended it by intention ended its channels, too. */
	bool resumes = !rcl_reason_is_wish(reason) &&
		       ep->policy.v[RCL_P_RECOVER] == RCLINK_RECOVER_RESUME;

	if (link->state == RCLINK_LINK_STATE_UP)
		memcpy(link->was, link->peer, sizeof(link->was));
	rcl_lease_detach_all(ep, resumes ? &link->suspended : NULL);
	rcl_epoch_stop(ep);
	rcl_inbox_shut(link, true);
	rcl_lease_gone_all(ep);
	rcl_inbox_shut(link, false);
	if (!resumes)
		rcl_resume_lose_all(&link->suspended, -ENOTCONN);
}

/* Ends the epoch; the link must be prepared, connected or up. */
static void rcl_life_down(struct rcl_link *link, u32 reason, u32 wc_status)
{
	struct rcl_reason why = { reason, wc_status };
	struct rcl_epoch *ep = link->epoch;

	link->expecting = false;
	rcl_life_end_leases(link, reason);
	if (reason == RCLINK_DOWN_REASON_COMPLETION)
		why = rcl_life_cause(link);
	if (why.wc_status == IB_WC_WR_FLUSH_ERR)
		link->stats.unexplained_errors++;
	rcl_tripwire_log(link->name, &why);
	rcl_ping_abort(ep, -ENOTCONN, rcl_reason_text(&why));
	spin_lock_irq(&link->lock);
	link->epoch = NULL;
	link->owner = 0;
	spin_unlock_irq(&link->lock);
	rcl_epoch_destroy(ep);

	rcl_life_forget_failure(link);
	link->stats.downs++;
	rcl_life_set_state(link, RCLINK_LINK_STATE_DOWN, &why);
}

static void rcl_life_goodbye(struct rcl_link *link, u32 reason)
{
	struct rcl_msg bye = {
		.type = RCL_MSG_BYE,
		.cookie = reason == RCLINK_DOWN_REASON_REPLACED ?
				  RCL_MSG_AGAIN : 0,
	};

	if (link->state == RCLINK_LINK_STATE_UP &&
	    !rcl_ctrl_send(&link->epoch->ctrl, &bye))
		rcl_ctrl_flush(&link->epoch->ctrl, RCL_BYE_MS);
	rcl_life_down(link, reason, 0);
}

static int rcl_life_prepare(struct rcl_link *link, struct rcl_request *req)
{
	static const struct rcl_reason none;
	struct rcl_policy policy;
	struct rcl_epoch *ep;
	bool agreed;
	int ret;

	spin_lock_irq(&link->lock);
	policy = link->policy;
	spin_unlock_irq(&link->lock);
	agreed = policy.v[RCL_P_GID_INDEX] == RCLINK_GID_INDEX_AUTO;
	ret = rcl_policy_narrow(&policy, &req->path, &req->why);
	if (ret)
		return ret;
	agreed &= policy.v[RCL_P_GID_INDEX] != RCLINK_GID_INDEX_AUTO;

	ep = rcl_epoch_create(&policy, link->epoch_number + 1, &link->up,
			      &link->stats, &req->why);
	if (IS_ERR(ep)) {
		rcl_life_forget_failure(link);
		return PTR_ERR(ep);
	}

	spin_lock_irq(&link->lock);
	link->epoch = ep;
	link->epoch_number = ep->number;
	link->owner = req->owner;
	link->role = 0;
	memset(link->peer, 0, sizeof(link->peer));
	memset(&link->used, 0, sizeof(link->used));
	strscpy(link->used.device, dev_name(&ep->user.ib->dev),
		sizeof(link->used.device));
	link->used.port = ep->user.port;
	link->used.link_layer = ep->local.link_layer;
	memcpy(link->used.gid, ep->local.gid, sizeof(link->used.gid));
	link->used.lid = ep->local.lid;
	link->used.gid_reason = agreed ? "agreed with the peer" :
					 ep->gid_reason;
	spin_unlock_irq(&link->lock);
	link->proven = 0;

	req->epoch = ep->number;
	req->end = ep->local;
	rcl_life_set_state(link, RCLINK_LINK_STATE_PREPARED, &none);
	rcl_life_expect(link, RCL_PREPARED_MS);
	return 0;
}

static int rcl_life_owns(struct rcl_link *link, struct rcl_request *req)
{
	if (req->owner != link->owner) {
		req->why = "another process is bringing this link up";
		return -EBUSY;
	}
	if (req->epoch != link->epoch->number) {
		req->why = "epoch is not the one of the exchange under way";
		return -ESTALE;
	}
	return 0;
}

static int rcl_life_connect(struct rcl_link *link, struct rcl_request *req)
{
	static const struct rcl_reason none;
	struct rcl_epoch *ep = link->epoch;
	int ret;

	ret = rcl_life_owns(link, req);
	if (ret)
		return ret;
	ret = rcl_endpoint_check(&ep->local, &req->end,
				 ep->policy.v[RCL_P_LOOPBACK], &req->why);
	if (ret)
		return ret;
	ret = rcl_path_resolve(ep->sgid, &ep->policy, &ep->local, &req->end,
			       &ep->ah, &req->why);
	if (ret)
		return ret;

	spin_lock_irq(&link->lock);
	ep->remote = req->end;
	ep->mtu = min(ep->local.mtu, ep->remote.mtu);
	ep->number = max(ep->number, ep->remote.epoch);
	link->epoch_number = ep->number;
	link->role = req->role;
	strscpy(link->peer, req->peer, sizeof(link->peer));
	link->used.mtu = ep->mtu;
	spin_unlock_irq(&link->lock);

	ret = rcl_epoch_connect(ep);
	if (ret) {
		req->why = "the device refused the peer's values (INIT to RTR)";
		rcl_life_down(link, RCLINK_DOWN_REASON_LOCAL_ERROR, 0);
		return ret;
	}
	req->epoch = ep->number;
	rcl_life_set_state(link, RCLINK_LINK_STATE_CONNECTED, &none);
	return 0;
}

static int rcl_life_activate(struct rcl_link *link, struct rcl_request *req)
{
	struct rcl_msg hello = {
		.type = RCL_MSG_HELLO,
		.cookie = RCL_MSG_VERSION,
	};
	struct rcl_epoch *ep = link->epoch;
	int ret;

	ret = rcl_life_owns(link, req);
	if (ret)
		return ret;
	if (ep->ctrl.started) {
		req->why = "the link has been activated already";
		return -EBUSY;
	}
	ep->lock = &link->lock;
	ep->pool.link = link->name;
	ep->pool.exports = &link->exports;
	ep->pool.role = link->role;
	ret = rcl_epoch_activate(ep, req->key, link->role);
	if (!ret)
		ret = rcl_ctrl_send(&ep->ctrl, &hello);
	if (ret) {
		req->why = "the device refused RTR to RTS, REG_MR or hello";
		rcl_life_down(link, RCLINK_DOWN_REASON_LOCAL_ERROR, 0);
		return ret;
	}
	rcl_life_expect(link, RCL_HELLO_MS);
	return 0;
}

/* What is not up answers at once. */
static void rcl_life_refuse(struct rcl_link *link)
{
	struct rcl_call *call;
	struct rcl_ping *ping;

	while ((call = rcl_inbox_next_call(link))) {
		bool close = call->kind == RCL_CALL_CLOSE;

		if (close && !list_empty(&call->lessee->node))
			rcl_resume_lose(call->lessee, call->why);
		rcl_call_finish(call, close ? 0 : -ENOTCONN);
	}
	while ((ping = rcl_inbox_next_ping(link)))
		rcl_ping_finish(ping, -ENOTCONN,
				"the link is not up: connect it first");
}

/* Requests that were taken on before are done by now. */
static void rcl_life_end_now(struct rcl_link *link)
{
	if (link->epoch)
		rcl_life_goodbye(link, RCLINK_DOWN_REASON_DISCONNECTED);
	rcl_life_refuse(link);
	rcl_resume_lose_all(&link->suspended, -ENOTCONN);
	rcl_life_event(link, RCLINK_EVENT_KIND_DELETED);
	complete_all(&link->ended);
}

static int rcl_life_handle(struct rcl_link *link, struct rcl_request *req)
{
	static const enum rcl_input inputs[] = {
		[RCL_REQ_PREPARE] = RCL_IN_PREPARE,
		[RCL_REQ_CONNECT] = RCL_IN_CONNECT,
		[RCL_REQ_ACTIVATE] = RCL_IN_ACTIVATE,
		[RCL_REQ_DISCONNECT] = RCL_IN_DISCONNECT,
		[RCL_REQ_REPLACE] = RCL_IN_REPLACE,
	};
	int next;

	next = rcl_fsm_next(link->state, inputs[req->kind], &req->why);
	if (next < 0 && req->kind == RCL_REQ_DISCONNECT &&
	    rcl_resume_lose_all(&link->suspended, -ENOTCONN))
		return 0;
	if (next < 0)
		return next;

	switch (req->kind) {
	case RCL_REQ_PREPARE:
		return rcl_life_prepare(link, req);
	case RCL_REQ_CONNECT:
		return rcl_life_connect(link, req);
	case RCL_REQ_ACTIVATE:
		return rcl_life_activate(link, req);
	case RCL_REQ_REPLACE:
		rcl_life_goodbye(link, RCLINK_DOWN_REASON_REPLACED);
		return 0;
	default:
		rcl_life_goodbye(link, RCLINK_DOWN_REASON_DISCONNECTED);
		return 0;
	}
}

/* Who asked for a prepared link may be gone by the time that it is ready. */
static void rcl_life_finish(struct rcl_link *link, struct rcl_request *req,
			    int ret)
{
	bool orphan;

	spin_lock_irq(&link->lock);
	req->ret = ret;
	req->finished = true;
	orphan = req->abandoned && req->kind == RCL_REQ_PREPARE && !ret;
	if (ret)
		rcl_recorder_refused(link, req);
	spin_unlock_irq(&link->lock);
	if (orphan)
		rcl_life_down(link, RCLINK_DOWN_REASON_OWNER_GONE, 0);
	if (ret)
		trace_rcl_link_err(link->name, req->kind, ret);
	complete(&req->done);
	rcl_request_put(req);
}

static int rcl_life_hello(struct rcl_link *link, const struct rcl_msg *msg)
{
	static const struct rcl_reason none;
	struct rcl_msg ack = { .type = RCL_MSG_HELLO_ACK };
	const char *why;
	int ret = 0;

	if (link->state != RCLINK_LINK_STATE_CONNECTED)
		return -EPROTO;
	if (msg->type == RCL_MSG_HELLO) {
		if (link->proven & RCL_PROVEN_HEARD)
			return -EPROTO;
		if (msg->cookie != RCL_MSG_VERSION)
			return -EPROTONOSUPPORT;
		ret = rcl_ctrl_send(&link->epoch->ctrl, &ack);
		link->proven |= RCL_PROVEN_HEARD;
	} else {
		link->proven |= RCL_PROVEN_ANSWERED;
	}
	if (ret || link->proven != RCL_PROVEN_BOTH)
		return ret;

	ret = rcl_fsm_next(link->state, RCL_IN_PROVEN, &why);
	if (ret < 0)
		return ret;
	link->expecting = false;
	rcl_heartbeat_start(link->epoch);
	/* They go on with the same peer only. */
	if (link->epoch->policy.v[RCL_P_RECOVER] != RCLINK_RECOVER_RESUME ||
	    strcmp(link->was, link->peer))
		rcl_resume_lose_all(&link->suspended, -ECONNRESET);
	rcl_resume_begin(link->epoch, &link->suspended);
	link->stats.epochs++;
	rcl_life_set_state(link, ret, &none);
	return 0;
}

static int rcl_life_message(struct rcl_link *link, const struct rcl_msg *msg,
			    ktime_t arrived)
{
	struct rcl_epoch *ep = link->epoch;

	if (link->state == RCLINK_LINK_STATE_UP) {
		rcl_heartbeat_heard(ep, msg);
		/* Who answers heartbeats may owe other answers. */
		if (rcl_msg_is_answer(msg->type) &&
		    msg->type != RCL_MSG_BEAT_ACK)
			link->expecting = false;
	}
	switch (msg->type) {
	case RCL_MSG_HELLO:
	case RCL_MSG_HELLO_ACK:
		return rcl_life_hello(link, msg);
	case RCL_MSG_PONG:
	case RCL_MSG_FILLED:
	case RCL_MSG_CHECKED:
		return rcl_ping_answer(ep, msg, arrived);
	case RCL_MSG_PING:
	case RCL_MSG_FILL:
	case RCL_MSG_CHECK:
		return rcl_ping_question(ep, msg);
	case RCL_MSG_BYE:
		return msg->cookie == RCL_MSG_AGAIN ? -EREMCHG : -ECONNRESET;
	default:
		/* Who is up has seen to it that we are, too. */
		if (link->state != RCLINK_LINK_STATE_UP)
			return -EPROTO;
		if (msg->type == RCL_MSG_BEAT || msg->type == RCL_MSG_BEAT_ACK)
			return rcl_heartbeat_message(ep, msg);
		if (rcl_msg_is_answer(msg->type))
			return rcl_lease_answer(ep, msg);
		return rcl_lease_question(ep, msg);
	}
}

/* A peer that never stops to ask must not keep the work item for itself. */
static int rcl_life_receive(struct rcl_link *link)
{
	struct rcl_epoch *ep = link->epoch;
	struct rcl_ctrl_slot *slot;
	struct rcl_msg msg;
	int ret;
	int i;

	for (i = 0; i < RCL_CTRL_SLOTS; i++) {
		ret = rcl_ctrl_recv(&ep->ctrl, &slot, &msg);
		if (ret <= 0)
			return ret;
		ret = rcl_life_message(link, &msg, slot->arrived);
		if (!ret)
			ret = rcl_ctrl_repost(&ep->ctrl, slot);
		if (ret)
			return ret;
	}
	link->up.kick(&link->up);
	return 0;
}

static int rcl_life_ping(struct rcl_link *link)
{
	struct rcl_pinger *pinger = &link->epoch->pinger;
	struct rcl_ping *ping;
	int ret;

	ret = rcl_ping_continue(link->epoch);
	while (!ret && !pinger->ping) {
		ping = rcl_inbox_next_ping(link);
		if (!ping)
			return 0;
		rcl_ping_start(link->epoch, ping);
		ret = rcl_ping_continue(link->epoch);
	}
	return ret;
}

static int rcl_life_lease(struct rcl_link *link)
{
	struct rcl_call *call;

	while ((call = rcl_inbox_next_call(link)))
		rcl_lease_call(link->epoch, call);
	return rcl_lease_continue(link->epoch);
}

/* While something waits for the peer, an answer must come now and then. */
static int rcl_life_ask(struct rcl_link *link)
{
	struct rcl_epoch *ep = link->epoch;
	int ret;

	/* Pings could fill the window for ever. */
	ret = rcl_life_lease(link);
	if (!ret)
		ret = rcl_life_ping(link);
	/* Last: a question of the others shows as much as a heartbeat. */
	if (!ret)
		ret = rcl_heartbeat_look(ep);
	if (ep->ctrl.questions == ep->heartbeat.asked && !ep->pinger.ping)
		link->expecting = false;
	else if (!link->expecting)
		rcl_life_expect(link, RCL_ANSWER_MS);
	return ret;
}

/* A goodbye explains the failures that come with it. */
static void rcl_life_traffic(struct rcl_link *link)
{
	struct rcl_ctrl *ctrl = &link->epoch->ctrl;
	struct rcl_reason failure;
	int ret;

	rcl_ctrl_poll(ctrl);
	ret = rcl_life_receive(link);
	if (!ret && link->state == RCLINK_LINK_STATE_UP)
		ret = rcl_life_ask(link);
	/* A software device may have completed by now what was just posted. */
	if (rcl_ctrl_poll(ctrl) || rcl_qp_arm(ctrl->qp))
		link->up.kick(&link->up);
	failure = rcl_inbox_failure(link);
	if (failure.reason && ret != -ECONNRESET && ret != -EREMCHG)
		rcl_life_down(link, failure.reason, failure.wc_status);
	else if (ret)
		rcl_life_down(link, rcl_reason_of(ret), 0);
	else if (rcl_life_is_late(link))
		rcl_life_down(link, RCLINK_DOWN_REASON_TIMED_OUT, 0);
	else
		rcl_life_set_timer(link);
}

/*
 * A link that was dead before the requests were taken out gets no more of them,
 * so only then is it the end.
 */
static void rcl_life_work(struct work_struct *work)
{
	struct rcl_link *link = container_of(work, struct rcl_link, work);
	/* What is written back to make room may have to go over this link. */
	unsigned int noio = memalloc_noio_save();
	bool dead = rcl_inbox_is_dead(link);
	struct rcl_request *req;

	do {
		if (link->epoch)
			rcl_life_traffic(link);
		req = rcl_inbox_next_request(link);
		if (req)
			rcl_life_finish(link, req, rcl_life_handle(link, req));
	} while (req);
	if (link->state != RCLINK_LINK_STATE_UP)
		rcl_life_refuse(link);
	if (dead && !completion_done(&link->ended))
		rcl_life_end_now(link);
	memalloc_noio_restore(noio);
}

/**
 * rcl_life_create - begin the life of a link
 * @link: zeroed but for its name, id and policy
 */
void rcl_life_create(struct rcl_link *link)
{
	rcl_inbox_init(link);
	INIT_WORK(&link->work, rcl_life_work);
	INIT_LIST_HEAD(&link->suspended);
	rcl_exports_init(&link->exports);
	timer_setup(&link->timer, rcl_life_timer, 0);
	init_completion(&link->ended);
	spin_lock_irq(&link->lock);
	link->state = RCLINK_LINK_STATE_IDLE;
	rcl_recorder_state(link, 0);
	spin_unlock_irq(&link->lock);
}

/**
 * rcl_life_destroy - end the life of a link
 * @link: that was deleted, and that nobody knows any more
 *
 * Context: may sleep.
 */
void rcl_life_destroy(struct rcl_link *link)
{
	timer_delete_sync(&link->timer);
	cancel_work_sync(&link->work);
	rcl_record_wipe(&link->record);
}
