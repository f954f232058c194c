// SPDX-License-Identifier: GPL-2.0
/*
 * What recurs while the state stays the same is counted, not added: a user
 * whose channels fail on purpose, or a daemon that never gets as far as to
 * prepare, does not push out what explains the state. Changes of state do, such
 * as those of a daemon that gets that far and fails: so what took the link down
 * when it was last up is kept apart.
 */
#include "record.h"

#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>

static struct rcl_entry *rcl_record_at(struct rcl_record *record, u64 number)
{
	return &record->ring[(number - 1) % RCLINK_RECORD_MAX];
}

static u64 rcl_record_first(const struct rcl_record *record)
{
	return record->count < RCLINK_RECORD_MAX ? 1 :
	       record->count - RCLINK_RECORD_MAX + 1;
}

static bool rcl_record_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* All pooled QPs count as one: otherwise many could fail in turn. */
static bool rcl_record_is_same(const struct rcl_entry *a,
			       const struct rcl_entry *b)
{
	return a->kind == b->kind && a->to == b->to && a->step == b->step &&
	       a->reason.reason == b->reason.reason &&
	       a->reason.wc_status == b->reason.wc_status &&
	       a->reason.vendor_err == b->reason.vendor_err &&
	       a->reason.mtu == b->reason.mtu && !a->qp == !b->qp &&
	       rcl_record_same_text(a->text, b->text);
}

/* The same entry since the last change of state, or NULL. */
static struct rcl_entry *rcl_record_again(struct rcl_record *record,
					  const struct rcl_entry *entry)
{
	u64 number;

	if (entry->kind == RCLINK_ENTRY_KIND_STATE)
		return NULL;
	for (number = record->count; number >= rcl_record_first(record);
	     number--) {
		struct rcl_entry *old = rcl_record_at(record, number);

		if (old->kind == RCLINK_ENTRY_KIND_STATE)
			return NULL;
		if (rcl_record_is_same(old, entry))
			return old;
	}
	return NULL;
}

static void rcl_record_free_text(const struct rcl_entry *entry)
{
	if (entry->kind == RCLINK_ENTRY_KIND_NOTE)
		kfree(entry->text);
}

/* Neither kind of entry owns its text. */
static void rcl_record_keep(struct rcl_record *record)
{
	u64 first = record->count;
	u64 number;

	while (first > rcl_record_first(record) &&
	       record->count - first < RCL_RECORD_KEPT - 1 &&
	       rcl_record_at(record, first - 1)->kind ==
	       RCLINK_ENTRY_KIND_FAILURE)
		first--;
	record->nkept = 0;
	record->last_kept = record->count;
	for (number = first; number <= record->count; number++)
		record->kept[record->nkept++] = *rcl_record_at(record, number);
}

/**
 * rcl_record_add - record that something happened
 * @record: of the link
 * @entry: all but @last and @times; the text of a note is taken over
 */
void rcl_record_add(struct rcl_record *record, const struct rcl_entry *entry)
{
	struct rcl_entry *at = rcl_record_again(record, entry);
	struct rcl_entry new = *entry;

	new.last = entry->time;
	new.times = 1;
	if (at) {
		new.time = at->time;
		new.times += at->times;
	} else {
		at = rcl_record_at(record, ++record->count);
	}
	rcl_record_free_text(at);
	*at = new;
	if (new.kind == RCLINK_ENTRY_KIND_STATE &&
	    new.from == RCLINK_LINK_STATE_UP && new.to != new.from)
		rcl_record_keep(record);
}

/* Among those that are no longer in the ring. */
static const struct rcl_entry *
rcl_record_find_kept(const struct rcl_record *record, u64 *number)
{
	u64 kept = record->last_kept - record->nkept + 1;
	u64 want = *number < kept ? kept : *number;

	if (!record->nkept || want > record->last_kept ||
	    want >= rcl_record_first(record))
		return NULL;
	*number = want;
	return &record->kept[array_index_nospec((u32)(want - kept),
						RCL_RECORD_KEPT)];
}

/**
 * rcl_record_find - look at the entries one after the other
 * @record: of the link
 * @number: the lowest that will do; set to that of the entry found
 *
 * Return: the entry, or NULL after the last one.
 */
const struct rcl_entry *rcl_record_find(const struct rcl_record *record,
					u64 *number)
{
	const struct rcl_entry *kept = rcl_record_find_kept(record, number);

	if (kept)
		return kept;
	if (*number < rcl_record_first(record))
		*number = rcl_record_first(record);
	if (*number > record->count)
		return NULL;
	return &record->ring[(*number - 1) % RCLINK_RECORD_MAX];
}

/**
 * rcl_record_wipe - free what the record holds
 * @record: not used any more
 */
void rcl_record_wipe(struct rcl_record *record)
{
	u64 number;

	for (number = rcl_record_first(record); number <= record->count;
	     number++)
		rcl_record_free_text(rcl_record_at(record, number));
}
