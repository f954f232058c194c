// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a link's epochs: how it is published, and how an epoch ends. All
 * of it runs in the link's work item, or in its chore.
 *
 * What takes long with an epoch that is not up is the link's chore, another
 * work item, so that the epoch that is up goes on. While the chore has a slot's
 * epoch the work item leaves that slot alone, but for notes, and takes no
 * request, so that nobody finds the link between two states.
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
 * rcl_state_expect - something has to happen within some time
 * @slot: of an epoch
 * @ms: how long
 */
void rcl_state_expect(struct rcl_slot *slot, unsigned int ms)
{
	slot->due = rcl_due_in(ms);
}

/**
 * rcl_state_is_late - has it not happened?
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
 * Return: true if so, for what befalls channels.
 */
bool rcl_state_is_calm(const struct rcl_link *link)
{
	return rcl_due_lies_ahead(link->calm);
}

/* In jiffies, 0 for never. */
static u64 rcl_state_next(const struct rcl_slot *slot)
{
	struct rcl_link *link = slot->link;
	u64 next = 0;

	/* Its chore wakes it. */
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
	/* Something may have waited for that. */
	if (rcl_state_is_calm(link))
		next = rcl_due_first(next, link->calm);
	return next;
}

/**
 * rcl_state_set_timer - be woken when something is due
 * @link: any
 *
 * The timer only wakes the work item, which alone judges what is late, so a
 * timer that is no longer needed may run.
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
 * @slot: one of the link, as it is now
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
 * Whose end dials does it: now, or when it is there again and looks.
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
 * rcl_state_set - an epoch comes into another state
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
	if (state == RCLINK_LINK_STATE_UP || state == RCLINK_LINK_STATE_DOWN)
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
 * rcl_state_forget - no epoch is left that could fail, or be given up
 * @slot: without one
 */
void rcl_state_forget(struct rcl_slot *slot)
{
	spin_lock_irq(&slot->link->lock);
	slot->owner = 0;
	memset(&slot->failure, 0, sizeof(slot->failure));
	spin_unlock_irq(&slot->link->lock);
}

/**
 * rcl_state_send_off - let the chore have a slot's epoch
 * @slot: not up
 * @req: what for, NULL: to stop it
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
 * Return: true if so, or if it is being made.
 */
bool rcl_state_rotates(const struct rcl_link *link)
{
	return link->next->epoch || link->busy == link->next;
}

/*
 * A flush, or what the device said of the QP, may have been noted before its
 * cause: after the stop all completions have, but a device event takes its own
 * way.
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

/* Of something that a completion or another event may explain. */
static bool rcl_state_is_a_sign(const struct rcl_reason *why)
{
	enum rcl_weight weight = rcl_reason_weight(why);

	return weight == RCL_WEIGHT_FLUSH || weight == RCL_WEIGHT_EVENT;
}

/* Nobody leases anything of an epoch that was never up. */
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

/* The verbs objects go. */
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

/* Nothing is waited for any more, nor is anybody kept waiting for it. */
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
	/* Who ended it by intention ended its channels, too. */
	rcl_state_end_leases(slot, rcl_reason_errno(why.reason),
			     rcl_policy_resumes(&slot->epoch->policy) &&
			     !rcl_reason_is_wish(why.reason), NULL);
	if (rcl_state_is_a_sign(&why))
		why = rcl_state_cause(slot);
	rcl_state_ended(slot, why);
}

/* The one that is up must not wait for that. */
static void rcl_state_give_up(struct rcl_slot *slot,
			      const struct rcl_reason *why)
{
	rcl_state_unsettle(slot);
	slot->link->ends = *why;
	rcl_state_send_off(slot, NULL);
}

/**
 * rcl_state_stop - end all traffic of an epoch that is given up
 * @slot: that the chore has, for that
 *
 * Context: may sleep.
 */
void rcl_state_stop(struct rcl_slot *slot)
{
	struct rcl_link *link = slot->link;

	if (slot->epoch->ctrl.bye)
		rcl_ctrl_flush(&slot->epoch->ctrl);
	rcl_epoch_stop(slot->epoch);
	if (rcl_state_is_a_sign(&link->ends))
		link->ends = rcl_state_cause(slot);
}

/**
 * rcl_state_given_up - the end of an epoch beside the one that was up
 * @slot: stopped; never was up, so nobody leased anything of it
 *
 * Context: may sleep.
 */
void rcl_state_given_up(struct rcl_slot *slot)
{
	rcl_state_ended(slot, slot->link->ends);
}

/*
 * What is up ends by intention, and so must the one that was to take its place;
 * its chore may have it, and hears later.
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
	if (!next->failure.reason)
		next->failure.reason = reason;
	spin_unlock_irq(&link->lock);
}

/* A standby that is being stopped takes nobody's place. */
static bool rcl_state_has_next(const struct rcl_link *link)
{
	return link->next->epoch &&
	       (link->next != link->busy || link->asked);
}

/**
 * rcl_state_fail - an epoch ends, as something was noted
 * @slot: prepared, connected or up; the chore does not have it
 * @why: that
 *
 * An epoch that was to take its place, and still may, has it then. One that was
 * to take the place of another one that is still there is stopped first, by the
 * chore, and down later.
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
	rcl_state_event(link->live, RCLINK_EVENT_KIND_CHANGED);
}

/**
 * rcl_state_down - an epoch ends
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
 * Nothing more is sealed with that, no answer, and no goodbye.
 *
 * Context: may sleep, for a drain.
 * Return: false if it is not one.
 */
bool rcl_state_break_off(struct rcl_slot *slot)
{
	if (READ_ONCE(slot->failure.reason) != RCLINK_DOWN_REASON_SNAPSHOT)
		return false;
	rcl_state_down(slot, RCLINK_DOWN_REASON_SNAPSHOT);
	return true;
}

/**
 * rcl_state_move - the next epoch takes the place of the one that is up
 * @link: whose other epoch has proven that it works
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
	/* Whoever looks finds it up, before and after. */
	spin_lock_irq(&link->lock);
	swap(link->live, link->next);
	link->live->state = RCLINK_LINK_STATE_UP;
	old->state = RCLINK_LINK_STATE_IDLE;
	spin_unlock_irq(&link->lock);
}
