// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a link's epochs: how it is published, and how an epoch ends. All
 * of it runs in the link's work item, or in its chore.
 *
 * What takes long with an epoch that is not up is done by the link's chore,
 * another work item, so that the epoch that is up goes on. While the chore has
 * a slot's epoch, the work item leaves that slot alone, except for notes, and
 * takes no requests, so that nobody finds the link between two states.
 */
#include "state.h"

#include <linux/delay.h>
#include <rdma/ib_verbs.h>

#include "due.h"
#include "epoch.h"
#include "event.h"
#include "heartbeat.h"
#include "inbox.h"
#include "lease.h"
#include "lease-base.h"
#include "life.h"
#include "ping.h"
#include "queues.h"
#include "recorder.h"
#include "resume.h"
#include "stall.h"
#include "trace.h"
#include "tripwire.h"

#define RCL_CAUSE_MS	100	/* for the event that explains a flush */

/**
 * rcl_state_expect - set a deadline for what has to happen next
 * @slot: of an epoch
 * @ms: time until then
 */
void rcl_state_expect(struct rcl_slot *slot, unsigned int ms)
{
	slot->due = rcl_due_in(ms);
}

/**
 * rcl_state_is_late - has the deadline passed?
 * @slot: of an epoch
 *
 * Return: true if so.
 */
bool rcl_state_is_late(const struct rcl_slot *slot)
{
	return slot->due && !rcl_due_lies_ahead(slot->due);
}

/**
 * rcl_state_is_calm - is it too early to rotate the link again?
 * @link: any
 *
 * Return: true if so; only rotations for what befalls channels wait for it.
 */
bool rcl_state_is_calm(const struct rcl_link *link)
{
	return rcl_due_lies_ahead(link->calm);
}

/* When to look again, in jiffies, 0 for never. */
static u64 rcl_state_next(const struct rcl_slot *slot)
{
	struct rcl_link *link = slot->link;
	u64 next = 0;

	/* The chore wakes the work item. */
	if (slot == link->busy)
		return 0;
	if (slot->still_by && !(slot->proven & RCL_PROVEN_SAID))
		next = get_jiffies_64() + 1;
	next = rcl_due_first(next, slot->due);
	if (slot->state != RCLINK_LINK_STATE_UP)
		return next;
	next = rcl_due_first(next, rcl_heartbeat_due(slot->epoch));
	next = rcl_due_first(next, rcl_stall_due(slot->epoch));
	next = rcl_due_first(next, rcl_lease_owes(slot->epoch));
	/* Something may wait for the calm to end. */
	if (rcl_state_is_calm(link))
		next = rcl_due_first(next, link->calm);
	return next;
}

/**
 * rcl_state_set_timer - be woken when something is due
 * @link: any
 *
 * The timer only wakes the work item, which alone judges what is late, so a
 * timer that is no longer needed may go off.
 */
void rcl_state_set_timer(struct rcl_link *link)
{
	u64 next = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(link->slots); i++)
		next = rcl_due_first(next, rcl_state_next(&link->slots[i]));
	if (next)
		mod_timer(&link->timer, (unsigned long)next);
}

/**
 * rcl_state_event - tell the listeners about a link
 * @slot: one of the link's, as it is now
 * @kind: enum rclink_event_kind
 *
 * Context: may sleep.
 */
void rcl_state_event(struct rcl_slot *slot, u32 kind)
{
	struct rcl_link *link = slot->link;
	struct rcl_event event = {
		.kind = kind,
		.id = link->id,
		.name = link->name,
	};

	spin_lock_irq(&link->lock);
	event.state = slot->state;
	event.reason = slot->reason;
	event.epoch = slot->number;
	spin_unlock_irq(&link->lock);
	rcl_event_send(&event);
}

/**
 * rcl_state_unwanted - somebody wants the link to have another epoch
 * @slot: that is up
 *
 * The side that dials makes it: now, or when it is back and looks.
 *
 * Context: may sleep.
 */
void rcl_state_unwanted(struct rcl_slot *slot)
{
	struct rcl_link *link = slot->link;

	spin_lock_irq(&link->lock);
	link->unwanted = slot->number;
	spin_unlock_irq(&link->lock);
	rcl_state_event(slot, RCLINK_EVENT_KIND_ROTATE);
}

/**
 * rcl_state_set - change the state of an epoch
 * @slot: of the epoch
 * @state: the new one
 * @reason: why it is down, else NULL
 *
 * Context: may sleep.
 */
void rcl_state_set(struct rcl_slot *slot, enum rclink_link_state state,
		   const struct rcl_reason *reason)
{
	static const struct rcl_reason none;
	struct rcl_link *link = slot->link;
	enum rclink_link_state old;

	if (!reason)
		reason = &none;
	spin_lock_irq(&link->lock);
	old = slot->state;
	slot->state = state;
	slot->reason = *reason;
	if (state == RCLINK_LINK_STATE_UP)
		slot->owner = 0;
	rcl_recorder_state(slot, old);
	spin_unlock_irq(&link->lock);
	trace_rcl_link_state(link->name, slot->number, old, state,
			     reason->reason, reason->wc_status);
	if (slot == link->live)
		rcl_state_event(slot, RCLINK_EVENT_KIND_CHANGED);
	else if (state == RCLINK_LINK_STATE_DOWN)
		rcl_state_event(slot, RCLINK_EVENT_KIND_STANDBY_DOWN);
}

/**
 * rcl_state_forget - no epoch is left that could fail or be given up
 * @slot: without an epoch
 */
void rcl_state_forget(struct rcl_slot *slot)
{
	spin_lock_irq(&slot->link->lock);
	slot->owner = 0;
	memset(&slot->failure, 0, sizeof(slot->failure));
	spin_unlock_irq(&slot->link->lock);
}

/**
 * rcl_state_send_off - hand a slot's epoch to the chore
 * @slot: not up
 * @req: what for, or NULL to stop the epoch
 */
void rcl_state_send_off(struct rcl_slot *slot, struct rcl_request *req)
{
	slot->link->busy = slot;
	slot->link->asked = req;
	rcl_queue_work(RCL_QUEUE_EPOCHS, &slot->link->chore);
}

/**
 * rcl_state_rotates - is there another epoch beside the one that is up?
 * @link: any
 *
 * Return: true if so, or if one is being made.
 */
bool rcl_state_rotates(const struct rcl_link *link)
{
	return link->next->epoch || link->busy == link->next;
}

/*
 * A flush, or what the device said of the QP, may have been noted before its
 * cause: after the stop all completions have been noted, but a device event
 * takes its own way.
 */
static struct rcl_reason rcl_state_cause(struct rcl_slot *slot)
{
	unsigned long end = jiffies + msecs_to_jiffies(RCL_CAUSE_MS);
	struct rcl_reason why = rcl_inbox_failure(slot);

	while (rcl_reason_weight(&why) == RCL_WEIGHT_FLUSH &&
	       time_before(jiffies, end)) {
		usleep_range(500, 1000);
		why = rcl_inbox_failure(slot);
	}
	return why;
}

/* Is it a sign of what a completion or another event may explain? */
static bool rcl_state_is_a_sign(const struct rcl_reason *why)
{
	enum rcl_weight weight = rcl_reason_weight(why);

	return weight == RCL_WEIGHT_FLUSH || weight == RCL_WEIGHT_EVENT;
}

/* An epoch that was never up has no lessees. */
static void rcl_state_end_leases(struct rcl_slot *slot, int why, bool resumes,
				 struct list_head *calls)
{
	struct rcl_link *link = slot->link;
	bool live = slot == link->live;
	struct rcl_epoch *ep = slot->epoch;

	if (slot->state == RCLINK_LINK_STATE_UP)
		memcpy(link->was, slot->peer, sizeof(link->was));
	rcl_lease_detach_all(ep, why, resumes ? &link->suspended : NULL,
			     calls);
	/* Destroying QPs may take long. */
	rcl_epoch_drain(ep);
	rcl_lease_stopped_all(ep);
	rcl_epoch_stop(ep);
	if (live)
		rcl_inbox_shut(link, true);
	rcl_lease_gone_all(ep);
	if (live)
		rcl_inbox_shut(link, false);
	rcl_resume_lose_broken(&link->suspended, why);
}

/* Free the verbs objects. */
static void rcl_state_free(struct rcl_slot *slot)
{
	struct rcl_epoch *ep = slot->epoch;

	spin_lock_irq(&slot->link->lock);
	slot->epoch = NULL;
	spin_unlock_irq(&slot->link->lock);
	rcl_epoch_destroy(ep);
	rcl_state_forget(slot);
}

static struct rcl_reason rcl_state_why(const struct rcl_slot *slot, u32 reason)
{
	return (struct rcl_reason){ .reason = reason, .mtu = slot->used.mtu };
}

/* The slot no longer waits for anything, nor keeps anybody waiting. */
static void rcl_state_unsettle(struct rcl_slot *slot)
{
	slot->due = 0;
	if (slot->still_by)
		rcl_lease_keep_still(slot->link->live->epoch, false);
	slot->still_by = 0;
}

/* Its QPs are gone. */
static void rcl_state_ended(struct rcl_slot *slot, struct rcl_reason why)
{
	struct rcl_link *link = slot->link;

	if (why.wc_status == IB_WC_WR_FLUSH_ERR)
		link->stats.unexplained_errors++;
	rcl_tripwire_log(link->name, slot == link->live, &why);
	rcl_ping_abort(slot->epoch, -ENOTCONN, rcl_reason_text(&why));
	rcl_state_free(slot);
	if (slot == link->live)
		link->stats.downs += slot->state == RCLINK_LINK_STATE_UP;
	rcl_state_set(slot, RCLINK_LINK_STATE_DOWN, &why);
}

static void rcl_state_end(struct rcl_slot *slot, struct rcl_reason why)
{
	rcl_state_unsettle(slot);
	/* Whoever ended it on purpose ended its channels, too. */
	rcl_state_end_leases(slot, rcl_reason_errno(why.reason),
			     rcl_policy_resumes(&slot->epoch->policy) &&
			     !rcl_reason_is_wish(why.reason), NULL);
	if (rcl_state_is_a_sign(&why))
		why = rcl_state_cause(slot);
	rcl_state_ended(slot, why);
}

/* The epoch that is up must not wait for that. */
static void rcl_state_give_up(struct rcl_slot *slot,
			      const struct rcl_reason *why)
{
	rcl_state_unsettle(slot);
	slot->link->ends = *why;
	rcl_state_send_off(slot, NULL);
}

/**
 * rcl_state_stop - end all traffic of an epoch that is given up
 * @slot: the chore has it, for that
 *
 * Context: may sleep.
 */
void rcl_state_stop(struct rcl_slot *slot)
{
	struct rcl_link *link = slot->link;

	if (slot->epoch->ctrl.bye)
		rcl_ctrl_flush(&slot->epoch->ctrl, 0);
	rcl_epoch_stop(slot->epoch);
	if (rcl_state_is_a_sign(&link->ends))
		link->ends = rcl_state_cause(slot);
}

/**
 * rcl_state_given_up - end an epoch beside the one that was up
 * @slot: stopped; was never up, so nobody leased anything of it
 *
 * Context: may sleep.
 */
void rcl_state_given_up(struct rcl_slot *slot)
{
	rcl_state_ended(slot, slot->link->ends);
}

/*
 * The epoch that is up ends on purpose, and so must the one that was to take
 * its place; the chore may have that one, and hears later.
 */
static void rcl_state_end_next(struct rcl_link *link, u32 reason)
{
	struct rcl_slot *next = link->next;

	if (next != link->busy) {
		if (next->epoch)
			rcl_state_end(next, rcl_state_why(next, reason));
		return;
	}
	spin_lock_irq(&link->lock);
	if (rcl_reason_weight(&next->failure) < RCL_WEIGHT_CAUSE)
		next->failure = (struct rcl_reason){ .reason = reason };
	spin_unlock_irq(&link->lock);
}

/* A standby that is being stopped takes nobody's place. */
static bool rcl_state_has_next(const struct rcl_link *link)
{
	return link->next->epoch &&
	       (link->next != link->busy || link->asked);
}

/**
 * rcl_state_fail - end an epoch because of what was noted
 * @slot: prepared, connected or up; the chore does not have it
 * @why: what was noted
 *
 * If another epoch was to take its place, and still may, it does so now. One
 * that was itself to take the place of an epoch that is still there is stopped
 * by the chore first, and goes down later.
 *
 * Context: may sleep, for a drain.
 */
void rcl_state_fail(struct rcl_slot *slot, const struct rcl_reason *why)
{
	struct rcl_link *link = slot->link;
	bool wish = rcl_reason_is_wish(why->reason);

	if (slot != link->live) {
		rcl_state_give_up(slot, why);
		return;
	}
	if (wish)
		rcl_state_end_next(link, why->reason);
	if (wish || !rcl_policy_resumes(&slot->epoch->policy))
		rcl_resume_lose_all(&link->suspended,
				    rcl_reason_errno(why->reason));
	rcl_state_end(slot, *why);
	if (!rcl_state_has_next(link))
		return;
	link->next->still_by = 0;
	spin_lock_irq(&link->lock);
	swap(link->live, link->next);
	spin_unlock_irq(&link->lock);
	/* The pass that is under way may have looked at it already. */
	link->live->up.kick(&link->live->up);
	rcl_state_event(link->live, RCLINK_EVENT_KIND_CHANGED);
}

/**
 * rcl_state_down - end an epoch
 * @slot: as for rcl_state_fail()
 * @reason: enum rclink_down_reason
 *
 * Context: may sleep, for a drain.
 */
void rcl_state_down(struct rcl_slot *slot, u32 reason)
{
	const struct rcl_reason why = rcl_state_why(slot, reason);

	rcl_state_fail(slot, &why);
}

/**
 * rcl_state_break_off - end an epoch whose key others may have
 * @slot: as for rcl_state_fail()
 *
 * Nothing more is sealed with that key, no answer and no goodbye.
 *
 * Context: may sleep, for a drain.
 * Return: false if it is not such an epoch.
 */
bool rcl_state_break_off(struct rcl_slot *slot)
{
	if (READ_ONCE(slot->failure.reason) != RCLINK_DOWN_REASON_SNAPSHOT)
		return false;
	rcl_state_down(slot, RCLINK_DOWN_REASON_SNAPSHOT);
	return true;
}

/**
 * rcl_state_move - let the next epoch take the place of the one that is up
 * @link: its other epoch has proven that it works
 *
 * Channels wait for it, if the operator said so.
 *
 * Context: may sleep, for a drain.
 */
void rcl_state_move(struct rcl_link *link)
{
	struct rcl_slot *old = link->live;
	LIST_HEAD(calls);

	old->due = 0;
	link->next->still_by = 0;
	rcl_state_end_leases(old, -ECONNRESET,
			     rcl_policy_resumes(&old->epoch->policy), &calls);
	rcl_inbox_ask_again(link, &calls);
	rcl_ping_abort(old->epoch, -EAGAIN,
		       "the link was moved to a new epoch meanwhile; try again");
	rcl_state_free(old);
	/* Whoever looks finds the link up, before and after. */
	spin_lock_irq(&link->lock);
	swap(link->live, link->next);
	link->live->state = RCLINK_LINK_STATE_UP;
	old->state = RCLINK_LINK_STATE_IDLE;
	spin_unlock_irq(&link->lock);
}
