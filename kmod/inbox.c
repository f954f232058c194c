// SPDX-License-Identifier: GPL-2.0
/*
 * What others leave for a link's work item: notes of failures, requests, pings,
 * and a kick. Nothing here looks at the epoch or changes the state.
 */
#include "inbox.h"

#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "lessee.h"
#include "life.h"
#include "ping.h"
#include "queues.h"
#include "recorder.h"
#include "trace.h"
#include "tripwire.h"

#define RCL_PINGS_MAX	64	/* waiting on one link */
#define RCL_CALLS_PASS	64	/* taken out in one pass */

/* Written under rcl_sleep_lock, read with the preparing link locked. */
static bool rcl_inbox_asleep;

/* The caller holds a reference to the link, or one of its epochs. */
static void rcl_inbox_kick(struct rcl_link *link)
{
	rcl_queue_work(RCL_QUEUE_LINKS, &link->work);
}

static void rcl_inbox_up_kick(struct rcl_upcall *up)
{
	rcl_inbox_kick(container_of(up, struct rcl_slot, up)->link);
}

/*
 * The epoch is to end. Of notes that explain equally much, the first counts.
 * Any context.
 */
static void rcl_inbox_note(struct rcl_slot *slot,
			   const struct rcl_reason *reason, u32 qp)
{
	bool completion = reason->reason == RCLINK_DOWN_REASON_COMPLETION;
	struct rcl_reason *note = &slot->failure;
	struct rcl_link *link = slot->link;
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	if (completion && reason->wc_status != IB_WC_WR_FLUSH_ERR)
		link->stats.completion_errors++;
	rcl_tripwire_count(&link->stats, reason);
	if (!completion || reason->wc_status != IB_WC_WR_FLUSH_ERR)
		rcl_recorder_failure(slot, reason, qp);
	if (rcl_reason_weight(note) < rcl_reason_weight(reason))
		*note = *reason;
	spin_unlock_irqrestore(&link->lock, flags);
	rcl_inbox_kick(link);
}

static void rcl_inbox_up_fail(struct rcl_upcall *up, u32 reason, u32 wc_status,
			      u32 vendor_err, u32 qp)
{
	struct rcl_slot *slot = container_of(up, struct rcl_slot, up);
	struct rcl_reason why = {
		reason, wc_status, vendor_err, slot->used.mtu
	};

	trace_rcl_link_fail(slot->link->name, reason, wc_status, vendor_err);
	rcl_inbox_note(slot, &why, qp);
}

/* The lessee of that QP hears of it, too; the link may have to be wary. */
static void rcl_inbox_up_fault(struct rcl_upcall *up, u32 reason,
			       u32 wc_status, u32 vendor_err, u32 qp)
{
	struct rcl_slot *slot = container_of(up, struct rcl_slot, up);
	struct rcl_reason why = { reason, wc_status, vendor_err };
	struct rcl_link *link = slot->link;
	unsigned long flags;
	bool wary;

	trace_rcl_link_fail(link->name, reason, wc_status, vendor_err);
	spin_lock_irqsave(&link->lock, flags);
	if (reason == RCLINK_DOWN_REASON_COMPLETION)
		link->stats.chan_errors++;
	rcl_tripwire_count(&link->stats, &why);
	rcl_recorder_failure(slot, &why, qp);
	wary = slot == link->live && rcl_tripwire_is_access(&why);
	link->wary |= wary;
	spin_unlock_irqrestore(&link->lock, flags);
	if (wary)
		rcl_inbox_kick(link);
}

/**
 * rcl_inbox_owner_gone - a netlink socket was closed
 * @link: any; an epoch ends if that socket was bringing it up
 * @owner: port ID of the socket
 *
 * Context: process context.
 */
void rcl_inbox_owner_gone(struct rcl_link *link, u32 owner)
{
	bool owned = false;
	int i;

	spin_lock_irq(&link->lock);
	for (i = 0; i < ARRAY_SIZE(link->slots); i++) {
		struct rcl_slot *slot = &link->slots[i];

		if (slot->owner != owner)
			continue;
		owned = true;
		if (!slot->failure.reason)
			slot->failure.reason = RCLINK_DOWN_REASON_OWNER_GONE;
	}
	spin_unlock_irq(&link->lock);
	if (owned)
		rcl_inbox_kick(link);
}

/**
 * rcl_inbox_set_asleep - forbid links to prepare epochs, or allow it again
 * @asleep: true to forbid it
 *
 * Links keep the epochs that they have until rcl_inbox_end_epochs().
 */
void rcl_inbox_set_asleep(bool asleep)
{
	WRITE_ONCE(rcl_inbox_asleep, asleep);
}

/**
 * rcl_inbox_is_asleep - are links forbidden to prepare epochs?
 *
 * Context: the link stays locked until its slot has an owner: so either
 * rcl_inbox_end_epochs() finds that owner, or this finds what was set before.
 * Return: true if so.
 */
bool rcl_inbox_is_asleep(void)
{
	return READ_ONCE(rcl_inbox_asleep);
}

/**
 * rcl_inbox_end_epochs - end all epochs of a link
 * @link: any
 * @reason: enum rclink_down_reason
 *
 * An epoch in the making is not there yet, but its slot has an owner.
 *
 * Context: process context.
 */
void rcl_inbox_end_epochs(struct rcl_link *link, u32 reason)
{
	const struct rcl_reason why = { .reason = reason };
	/* No other cause justifies what would still be sealed for it. */
	bool any = reason == RCLINK_DOWN_REASON_SNAPSHOT;
	int i;

	spin_lock_irq(&link->lock);
	for (i = 0; i < ARRAY_SIZE(link->slots); i++) {
		struct rcl_slot *slot = &link->slots[i];

		if ((slot->epoch || slot->owner) &&
		    (any || rcl_reason_weight(&slot->failure) <
			    RCL_WEIGHT_CAUSE))
			slot->failure = why;
	}
	spin_unlock_irq(&link->lock);
	rcl_inbox_kick(link);
}

/**
 * rcl_inbox_rests - does a link have no epoch, and none in the making?
 * @link: any
 *
 * Context: process context.
 * Return: true if so; then it has no key, either.
 */
bool rcl_inbox_rests(struct rcl_link *link)
{
	bool rests = true;
	int i;

	spin_lock_irq(&link->lock);
	for (i = 0; i < ARRAY_SIZE(link->slots); i++) {
		const struct rcl_slot *slot = &link->slots[i];

		/* The state changes once all of the epoch is gone. */
		rests &= !slot->owner &&
			 (slot->state == RCLINK_LINK_STATE_IDLE ||
			  slot->state == RCLINK_LINK_STATE_DOWN);
	}
	spin_unlock_irq(&link->lock);
	return rests;
}

/**
 * rcl_inbox_next_request - take the next request out
 * @link: of the work item
 *
 * Return: the request with the queue's reference, or NULL.
 */
struct rcl_request *rcl_inbox_next_request(struct rcl_link *link)
{
	struct rcl_request *req;

	spin_lock_irq(&link->lock);
	req = list_first_entry_or_null(&link->requests, struct rcl_request,
				       node);
	if (req)
		list_del(&req->node);
	spin_unlock_irq(&link->lock);
	return req;
}

/**
 * rcl_inbox_next_ping - take the next ping out
 * @link: of the work item
 *
 * Return: the ping, or NULL.
 */
struct rcl_ping *rcl_inbox_next_ping(struct rcl_link *link)
{
	struct rcl_ping *ping;

	spin_lock_irq(&link->lock);
	ping = list_first_entry_or_null(&link->pings, struct rcl_ping, node);
	if (ping) {
		list_del(&ping->node);
		link->npings--;
	}
	spin_unlock_irq(&link->lock);
	return ping;
}

/**
 * rcl_inbox_next_call - take the next call out
 * @link: of the work item
 * @n: number taken out in this pass; NULL to take all that there are
 *
 * Callers that ask again at once must not monopolize the work item: the rest is
 * left to another pass. So are calls behind an RCL_CALL_CLOSE, for which a
 * device may take its time to flush a QP: the peer is heard before the next.
 *
 * Return: the call with the inbox's reference, or NULL.
 */
struct rcl_call *rcl_inbox_next_call(struct rcl_link *link, u32 *n)
{
	struct rcl_call *call;

	if (n && (*n)++ == RCL_CALLS_PASS) {
		rcl_inbox_kick(link);
		return NULL;
	}
	spin_lock_irq(&link->lock);
	call = list_first_entry_or_null(&link->calls, struct rcl_call, node);
	if (call)
		list_del(&call->node);
	spin_unlock_irq(&link->lock);
	if (n && call && call->kind == RCL_CALL_CLOSE)
		*n = RCL_CALLS_PASS;
	return call;
}

/**
 * rcl_inbox_is_dead - has deletion begun?
 * @link: any
 *
 * Return: true if so; then nothing more comes in.
 */
bool rcl_inbox_is_dead(struct rcl_link *link)
{
	bool dead;

	spin_lock_irq(&link->lock);
	dead = link->dead;
	spin_unlock_irq(&link->lock);
	return dead;
}

/**
 * rcl_inbox_give_back - the chore, which takes long, is over
 * @link: of the chore
 */
void rcl_inbox_give_back(struct rcl_link *link)
{
	spin_lock_irq(&link->lock);
	link->done = true;
	spin_unlock_irq(&link->lock);
	rcl_inbox_kick(link);
}

static bool rcl_inbox_take_note(struct rcl_link *link, bool *note)
{
	bool noted;

	spin_lock_irq(&link->lock);
	noted = *note;
	*note = false;
	spin_unlock_irq(&link->lock);
	return noted;
}

/**
 * rcl_inbox_take_back - is the chore over?
 * @link: of the work item
 *
 * Return: true, once, if so.
 */
bool rcl_inbox_take_back(struct rcl_link *link)
{
	return rcl_inbox_take_note(link, &link->done);
}

/**
 * rcl_inbox_take_wary - has access failed on a channel?
 * @link: of the work item
 *
 * Return: true, once, for all failures so far.
 */
bool rcl_inbox_take_wary(struct rcl_link *link)
{
	return rcl_inbox_take_note(link, &link->wary);
}

/*
 * The epoch is up, or it may be up at the peer, which has then left the epoch
 * that is up here: there is nothing more for an owner to do.
 */
static bool rcl_inbox_needs_no_owner(const struct rcl_slot *slot)
{
	return slot->state == RCLINK_LINK_STATE_UP ||
	       (slot != slot->link->live && slot->proven & RCL_PROVEN_SAID);
}

/**
 * rcl_inbox_failure - must the epoch end?
 * @slot: of the work item; a note that the owner is gone is dropped if none is
 *	needed
 *
 * Return: the noted reason, or RCLINK_DOWN_REASON_NONE.
 */
struct rcl_reason rcl_inbox_failure(struct rcl_slot *slot)
{
	struct rcl_link *link = slot->link;
	struct rcl_reason failure;

	spin_lock_irq(&link->lock);
	if (slot->failure.reason == RCLINK_DOWN_REASON_OWNER_GONE &&
	    rcl_inbox_needs_no_owner(slot))
		memset(&slot->failure, 0, sizeof(slot->failure));
	failure = slot->failure;
	spin_unlock_irq(&link->lock);
	return failure;
}

/**
 * rcl_request_new - allocate a request
 * @kind: what is asked
 * @owner: netlink socket that asks
 *
 * Context: may sleep.
 * Return: the request with one reference, or NULL.
 */
struct rcl_request *rcl_request_new(enum rcl_request_kind kind, u32 owner)
{
	struct rcl_request *req;

	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return NULL;
	refcount_set(&req->ref, 1);
	init_completion(&req->done);
	req->kind = kind;
	req->owner = owner;
	return req;
}

/**
 * rcl_request_put - drop a reference; wipes the key with the last one
 * @req: may be freed
 */
void rcl_request_put(struct rcl_request *req)
{
	if (refcount_dec_and_test(&req->ref))
		kfree_sensitive(req);
}

/**
 * rcl_inbox_request - have a link do something
 * @link: the caller holds a reference
 * @req: the caller holds a reference; has the result after 0
 *
 * A fatal signal interrupts the wait; an epoch that the request prepares after
 * that is given up.
 *
 * Context: may sleep, for as long as the device, a neighbour entry
 * (rcl_path_resolve) or a drain takes.
 * Return: 0 if @req->ret is valid, -ENOENT if the link is being deleted, or
 * -EINTR.
 */
int rcl_inbox_request(struct rcl_link *link, struct rcl_request *req)
{
	int ret = 0;

	spin_lock_irq(&link->lock);
	if (link->dead) {
		spin_unlock_irq(&link->lock);
		return -ENOENT;
	}
	refcount_inc(&req->ref);
	list_add_tail(&req->node, &link->requests);
	spin_unlock_irq(&link->lock);
	rcl_inbox_kick(link);

	if (!wait_for_completion_killable(&req->done))
		return 0;
	spin_lock_irq(&link->lock);
	if (!completion_done(&req->done)) {
		req->abandoned = true;
		ret = -EINTR;
	}
	spin_unlock_irq(&link->lock);
	return ret;
}

/**
 * rcl_inbox_ask_ping - queue a request for round trips
 * @link: the caller holds a reference
 * @ping: handed back by its done() after success
 *
 * Context: any with interrupts on.
 * Return: 0, -EBUSY if RCL_PINGS_MAX wait already, or -ENOENT if the link is
 * being deleted.
 */
int rcl_inbox_ask_ping(struct rcl_link *link, struct rcl_ping *ping)
{
	int ret = 0;

	spin_lock_irq(&link->lock);
	if (link->dead)
		ret = -ENOENT;
	else if (link->npings == RCL_PINGS_MAX)
		ret = -EBUSY;
	else
		link->npings++;
	if (!ret)
		list_add_tail(&ping->node, &link->pings);
	spin_unlock_irq(&link->lock);
	rcl_inbox_kick(link);
	return ret;
}

/**
 * rcl_inbox_ask_call - ask the pool for something
 * @link: the caller holds a reference
 * @call: finished later, after success; the inbox takes a reference
 *
 * Context: any with interrupts on.
 * Return: 0, -ESHUTDOWN if the link is being deleted, or -ENOTCONN for an
 * errand while rcl_inbox_shut() refuses those.
 */
int rcl_inbox_ask_call(struct rcl_link *link, struct rcl_call *call)
{
	int ret = 0;

	spin_lock_irq(&link->lock);
	if (link->dead) {
		ret = -ESHUTDOWN;
	} else if (link->shut && call->kind == RCL_CALL_RENEW) {
		ret = -ENOTCONN;
	} else {
		refcount_inc(&call->ref);
		list_add_tail(&call->node, &link->calls);
	}
	spin_unlock_irq(&link->lock);
	rcl_inbox_kick(link);
	return ret;
}

/**
 * rcl_inbox_ask_again - requeue calls that another epoch did not get to
 * @link: of the work item
 * @calls: with the inbox's references; empty afterwards
 */
void rcl_inbox_ask_again(struct rcl_link *link, struct list_head *calls)
{
	spin_lock_irq(&link->lock);
	list_splice_init(calls, &link->calls);
	spin_unlock_irq(&link->lock);
}

/**
 * rcl_inbox_shut - keep errands, which the work item awaits, from awaiting it
 * @link: of the work item
 * @shut: true to refuse their calls, also those queued; false to accept them
 *
 * Context: may sleep.
 */
void rcl_inbox_shut(struct rcl_link *link, bool shut)
{
	struct rcl_call *call, *next;
	LIST_HEAD(refused);

	spin_lock_irq(&link->lock);
	link->shut = shut;
	list_for_each_entry_safe(call, next, &link->calls, node)
		if (shut && call->kind == RCL_CALL_RENEW)
			list_move_tail(&call->node, &refused);
	spin_unlock_irq(&link->lock);
	list_for_each_entry_safe(call, next, &refused, node) {
		list_del(&call->node);
		rcl_call_finish(call, -ENOTCONN);
	}
}

/**
 * rcl_inbox_end - begin to delete a link
 * @link: the caller holds a reference
 *
 * The link takes nothing on any more; what it has taken on is finished first.
 *
 * Context: process context.
 */
void rcl_inbox_end(struct rcl_link *link)
{
	spin_lock_irq(&link->lock);
	link->dead = true;
	spin_unlock_irq(&link->lock);
	rcl_inbox_kick(link);
}

/**
 * rcl_inbox_init - prepare a link to be told things
 * @link: zeroed
 */
void rcl_inbox_init(struct rcl_link *link)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(link->slots); i++) {
		struct rcl_slot *slot = &link->slots[i];

		slot->link = link;
		slot->state = RCLINK_LINK_STATE_IDLE;
		slot->up.kick = rcl_inbox_up_kick;
		slot->up.fail = rcl_inbox_up_fail;
		slot->up.fault = rcl_inbox_up_fault;
	}
	link->live = &link->slots[0];
	link->next = &link->slots[1];
	spin_lock_init(&link->lock);
	INIT_LIST_HEAD(&link->requests);
	INIT_LIST_HEAD(&link->pings);
	INIT_LIST_HEAD(&link->calls);
}
