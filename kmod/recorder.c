// SPDX-License-Identifier: GPL-2.0
/*
 * The flight recorder of a link. Nothing in an entry is secret: it names a QP
 * by its index, and holds no PSN, rkey, address or key.
 */
#include "recorder.h"

#include <linux/lockdep.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "inbox.h"
#include "life.h"
#include "upcall.h"

static void rcl_recorder_add(struct rcl_slot *slot, struct rcl_entry *entry)
{
	struct rcl_link *link = slot->link;
	const struct rcl_stats *stats = &link->stats;

	lockdep_assert_held(&link->lock);
	entry->time = ktime_get_boottime_ns();
	entry->epoch = slot->number;
	entry->tx_messages = READ_ONCE(stats->tx_messages);
	entry->rx_messages = READ_ONCE(stats->rx_messages);
	entry->tx_bytes = READ_ONCE(stats->tx_bytes);
	entry->rx_bytes = READ_ONCE(stats->rx_bytes);
	entry->rx_unauthenticated = READ_ONCE(stats->rx_unauthenticated);
	entry->completion_errors = READ_ONCE(stats->completion_errors);
	entry->downs = READ_ONCE(stats->downs);
	rcl_record_add(link->record, entry);
}

/**
 * rcl_recorder_state - the state has changed
 * @slot: with its new state and reason
 * @from: enum rclink_link_state before, 0 if the link was just created
 *
 * Context: the link's lock is held.
 */
void rcl_recorder_state(struct rcl_slot *slot, u32 from)
{
	struct rcl_entry entry = {
		.kind = slot == slot->link->live ?
			RCLINK_ENTRY_KIND_STATE : RCLINK_ENTRY_KIND_STANDBY,
		.from = from,
		.to = slot->state,
		.reason = slot->reason,
		.qp = RCL_QP_NONE,
	};

	if (slot->state == RCLINK_LINK_STATE_PREPARED)
		entry.text = slot->used.gid_reason;
	rcl_recorder_add(slot, &entry);
}

/**
 * rcl_recorder_failure - a work request failed, or the device reported an event
 * @slot: whose epoch it was
 * @reason: what happened
 * @qp: index of the QP, or RCL_QP_NONE
 *
 * Context: the link's lock is held.
 */
void rcl_recorder_failure(struct rcl_slot *slot,
			  const struct rcl_reason *reason, u32 qp)
{
	struct rcl_entry entry = {
		.kind = RCLINK_ENTRY_KIND_FAILURE,
		.reason = *reason,
		.qp = qp,
	};

	rcl_recorder_add(slot, &entry);
}

/**
 * rcl_recorder_refused - a request was refused
 * @slot: that it was about; for PREPARE, where the epoch was to be made
 * @req: with its result; only steps of an exchange are recorded
 *
 * Context: the link's lock is held.
 */
void rcl_recorder_refused(struct rcl_slot *slot, const struct rcl_request *req)
{
	static const u8 steps[RCL_REQ_MAX] = {
		[RCL_REQ_PREPARE] = RCLINK_STEP_PREPARE,
		[RCL_REQ_CONNECT] = RCLINK_STEP_CONNECT,
		[RCL_REQ_ACTIVATE] = RCLINK_STEP_ACTIVATE,
	};
	struct rcl_entry entry = {
		.kind = RCLINK_ENTRY_KIND_REFUSED,
		.step = steps[req->kind],
		.qp = RCL_QP_NONE,
		.text = req->why,
	};

	/* No epoch was made. */
	if (req->kind == RCL_REQ_PREPARE)
		slot = slot->link->live;
	if (entry.step)
		rcl_recorder_add(slot, &entry);
}

/**
 * rcl_recorder_note - record what userspace knows and the kernel cannot
 * @link: any
 * @text: at most RCLINK_NOTE_MAX bytes; copied
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rcl_recorder_note(struct rcl_link *link, const char *text)
{
	struct rcl_entry entry = {
		.kind = RCLINK_ENTRY_KIND_NOTE,
		.qp = RCL_QP_NONE,
	};

	entry.text = kstrdup(text, GFP_KERNEL);
	if (!entry.text)
		return -ENOMEM;
	spin_lock_irq(&link->lock);
	rcl_recorder_add(link->live, &entry);
	spin_unlock_irq(&link->lock);
	return 0;
}

/**
 * rcl_recorder_read - look at the entries one after the other
 * @link: any
 * @number: the lowest that will do
 * @info: filled in
 *
 * Context: process context.
 * Return: 0, or -ENODATA after the last entry.
 */
int rcl_recorder_read(struct rcl_link *link, u64 number,
		      struct rcl_entry_info *info)
{
	const struct rcl_entry *entry;

	info->number = number;
	spin_lock_irq(&link->lock);
	entry = rcl_record_find(link->record, &info->number);
	if (entry) {
		info->entry = *entry;
		if (entry->text) {
			strscpy(info->text, entry->text, sizeof(info->text));
			info->entry.text = info->text;
		}
	}
	spin_unlock_irq(&link->lock);
	return entry ? 0 : -ENODATA;
}
