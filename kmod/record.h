/* SPDX-License-Identifier: GPL-2.0 */
/* The newest entries of what happened to a link: a ring, pure arithmetic. */
#ifndef RCL_RECORD_H
#define RCL_RECORD_H

#include <linux/types.h>

#include "reason.h"

/**
 * struct rcl_entry - one thing that happened
 * @time: when it happened first, in ns since boot
 * @last: when it happened last
 * @epoch: of the link
 * @tx_messages: counters of the link, as of @last
 * @rx_messages: see struct rcl_stats
 * @tx_bytes: see struct rcl_stats
 * @rx_bytes: see struct rcl_stats
 * @rx_unauthenticated: see struct rcl_stats, modulo 2^32
 * @completion_errors: see struct rcl_stats, modulo 2^32
 * @downs: see struct rcl_stats, modulo 2^32
 * @times: how often it happened, without a change of state in between
 * @qp: its index, or RCL_QP_NONE
 * @reason: of a failure, or of a link that is down
 * @text: constant, or NULL; for a note, allocated and owned by the record
 * @kind: enum rclink_entry_kind
 * @from: enum rclink_link_state before, 0 when the link was created
 * @to: enum rclink_link_state after
 * @step: enum rclink_step that was refused, 0 for others
 */
struct rcl_entry {
	u64 time;
	u64 last;
	u64 epoch;
	u64 tx_messages;
	u64 rx_messages;
	u64 tx_bytes;
	u64 rx_bytes;
	u32 rx_unauthenticated;
	u32 completion_errors;
	u32 downs;
	u32 times;
	u32 qp;
	struct rcl_reason reason;
	const char *text;
	u8 kind;
	u8 from;
	u8 to;
	u8 step;
};

#define RCL_RECORD_KEPT	4

/**
 * struct rcl_record - the newest entries of a link
 * @count: entries ever made; the last one has this number, the first one 1
 * @ring: entry n is at (n - 1) % RCLINK_RECORD_MAX
 * @nkept: how many entries are in @kept
 * @last_kept: number of the last of these
 * @kept: copies of what took the link down when it was last up, and of the
 *	failures just before: exchanges that fail must not push them out
 */
struct rcl_record {
	u64 count;
	struct rcl_entry ring[RCLINK_RECORD_MAX];
	u32 nkept;
	u64 last_kept;
	struct rcl_entry kept[RCL_RECORD_KEPT];
};

void rcl_record_add(struct rcl_record *record, const struct rcl_entry *entry);
const struct rcl_entry *rcl_record_find(const struct rcl_record *record,
					u64 *number);
void rcl_record_wipe(struct rcl_record *record);

#endif /* RCL_RECORD_H */
