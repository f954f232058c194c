// SPDX-License-Identifier: GPL-2.0
/* The ring of a record: which entries stay, their numbers and counts. */
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#define NO_QP	(~0U)

struct rig {
	struct rcl_record record;
	u64 now;
};

FIXTURE(record)
{
	struct rig rig;
};

FIXTURE_SETUP(record)
{
}

/* The sanitizer finds a text that is leaked, or freed twice. */
FIXTURE_TEARDOWN(record)
{
	rcl_record_wipe(&self->rig.record);
}

static void add(struct rig *rig, struct rcl_entry entry)
{
	entry.time = ++rig->now;
	rcl_record_add(&rig->record, &entry);
}

static void add_state(struct rig *rig, u8 to)
{
	const struct rcl_entry entry = {
		.kind = RCLINK_ENTRY_KIND_STATE,
		.to = to,
		.qp = NO_QP,
	};

	add(rig, entry);
}

static void add_note(struct rig *rig, const char *text)
{
	const struct rcl_entry entry = {
		.kind = RCLINK_ENTRY_KIND_NOTE,
		.text = strdup(text),
		.qp = NO_QP,
	};

	add(rig, entry);
}

static void add_failure(struct rig *rig, u32 qp, u32 wc_status)
{
	const struct rcl_entry entry = {
		.kind = RCLINK_ENTRY_KIND_FAILURE,
		.qp = qp,
		.reason = { RCLINK_DOWN_REASON_COMPLETION, wc_status },
	};

	add(rig, entry);
}

static const struct rcl_entry *at(struct rig *rig, u64 number)
{
	u64 found = number;
	const struct rcl_entry *entry = rcl_record_find(&rig->record, &found);

	return found == number ? entry : NULL;
}

TEST_F(record, an_empty_one_has_nothing)
{
	u64 number = 0;

	EXPECT_EQ(NULL, rcl_record_find(&self->rig.record, &number));
	number = ~0ULL;
	EXPECT_EQ(NULL, rcl_record_find(&self->rig.record, &number));
}

TEST_F(record, the_newest_stay_in_order_under_their_numbers)
{
	u64 all = 3 * RCLINK_RECORD_MAX + 5;
	const struct rcl_entry *entry;
	u64 number = 1;
	u64 i;

	for (i = 1; i <= all; i++)
		add_state(&self->rig, i);
	for (i = all - RCLINK_RECORD_MAX + 1; i <= all; i++, number++) {
		entry = rcl_record_find(&self->rig.record, &number);
		ASSERT_NE(NULL, entry);
		EXPECT_EQ(i, number);
		EXPECT_EQ(i, entry->time);
		EXPECT_EQ((u8)i, entry->to);
	}
	EXPECT_EQ(NULL, rcl_record_find(&self->rig.record, &number));
}

TEST_F(record, a_full_one_loses_nothing_and_one_more_the_first)
{
	u64 number = 1;
	int i;

	for (i = 0; i < RCLINK_RECORD_MAX; i++)
		add_state(&self->rig, i);
	ASSERT_NE(NULL, rcl_record_find(&self->rig.record, &number));
	EXPECT_EQ(1, number);
	add_state(&self->rig, 0);
	ASSERT_NE(NULL, rcl_record_find(&self->rig.record, &number));
	EXPECT_EQ(2, number);
}

TEST_F(record, what_comes_again_is_counted)
{
	int i;

	add_state(&self->rig, 1);
	for (i = 0; i < 1000; i++) {
		add_note(&self->rig, "refused");
		add_failure(&self->rig, 1 + i % 64, 12);
		add_failure(&self->rig, 1 + i % 64, 10);
	}
	add_failure(&self->rig, 0, 10);
	EXPECT_EQ(5, self->rig.record.count);
	EXPECT_EQ(1000, at(&self->rig, 2)->times);
	EXPECT_EQ(2, at(&self->rig, 2)->time);
	EXPECT_EQ(self->rig.now - 3, at(&self->rig, 2)->last);
	EXPECT_STREQ("refused", at(&self->rig, 2)->text);
	EXPECT_EQ(1000, at(&self->rig, 3)->times);
	EXPECT_EQ(1 + 999 % 64, at(&self->rig, 3)->qp);
	/* the control QP is not one of the pool */
	EXPECT_EQ(1, at(&self->rig, 5)->times);
}

TEST_F(record, a_change_of_state_is_always_an_entry_and_begins_anew)
{
	add_state(&self->rig, 5);
	add_state(&self->rig, 5);
	add_note(&self->rig, "a");
	add_state(&self->rig, 5);
	add_note(&self->rig, "a");
	add_note(&self->rig, "b");
	add_note(&self->rig, "a");
	EXPECT_EQ(6, self->rig.record.count);
	EXPECT_EQ(1, at(&self->rig, 3)->times);
	EXPECT_EQ(2, at(&self->rig, 5)->times);
	EXPECT_EQ(self->rig.now, at(&self->rig, 5)->last);
}

static void go_down(struct rig *rig, int failures)
{
	const struct rcl_entry down = {
		.kind = RCLINK_ENTRY_KIND_STATE,
		.from = RCLINK_LINK_STATE_UP,
		.to = RCLINK_LINK_STATE_DOWN,
		.qp = NO_QP,
	};
	int i;

	add_state(rig, RCLINK_LINK_STATE_UP);
	for (i = 0; i < failures; i++)
		add_failure(rig, 1, 10 + i);
	add(rig, down);
}

/* Lists the numbers of all entries that can be read, in order. */
static int numbers(struct rig *rig, u64 *list)
{
	u64 number;
	int n = 0;

	for (number = 1; rcl_record_find(&rig->record, &number); number++)
		list[n++] = number;
	return n;
}

TEST_F(record, what_ended_the_last_up_stays)
{
	u64 list[RCLINK_RECORD_MAX + RCL_RECORD_KEPT];
	u64 down;
	int i, n;

	go_down(&self->rig, 2);
	for (i = 0; i < 5; i++)
		add_note(&self->rig, i % 2 ? "x" : "y");
	go_down(&self->rig, 5);
	down = self->rig.record.count;
	/* all, some or none of the kept entries are still in the ring */
	for (i = 0; i < 3 * RCLINK_RECORD_MAX; i++) {
		add_state(&self->rig, i % 2 ? RCLINK_LINK_STATE_DOWN :
			  RCLINK_LINK_STATE_PREPARED);
		n = numbers(&self->rig, list);
		ASSERT_NE(NULL, at(&self->rig, down));
		EXPECT_EQ(RCLINK_LINK_STATE_UP, at(&self->rig, down)->from);
		EXPECT_EQ(12, at(&self->rig, down - 3)->reason.wc_status);
		EXPECT_EQ(self->rig.record.count, list[n - 1]);
	}
	EXPECT_EQ(RCLINK_RECORD_MAX + RCL_RECORD_KEPT, n);
	EXPECT_EQ(down - 3, list[0]);
	EXPECT_EQ(down, list[3]);
	EXPECT_EQ(self->rig.record.count - RCLINK_RECORD_MAX + 1, list[4]);
}

TEST_F(record, only_failures_just_before_are_kept)
{
	u64 list[RCLINK_RECORD_MAX + RCL_RECORD_KEPT];
	int i;

	add_state(&self->rig, RCLINK_LINK_STATE_UP);
	add_failure(&self->rig, 0, 10);
	add_note(&self->rig, "owned by the ring");
	go_down(&self->rig, 0);
	for (i = 0; i < 2 * RCLINK_RECORD_MAX; i++)
		add_state(&self->rig, RCLINK_LINK_STATE_PREPARED);
	EXPECT_EQ(RCLINK_RECORD_MAX + 1, numbers(&self->rig, list));
	EXPECT_EQ(5, list[0]);
}

TEST_F(record, notes_that_fall_out_are_freed)
{
	char text[16];
	int i;

	for (i = 0; i < 2 * RCLINK_RECORD_MAX; i++) {
		snprintf(text, sizeof(text), "%d", i);
		add_note(&self->rig, text);
	}
	EXPECT_STREQ("64", at(&self->rig, 65)->text);
}

TEST_HARNESS_MAIN
