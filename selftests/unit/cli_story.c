// SPDX-License-Identifier: GPL-2.0
/* A record as it is told: sentences, what repeats, and what to make of it. */
#include "story.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <kselftest_harness.h>

#include "advice.h"
#include "link.h"
#include "out.h"
#include "text.h"

#include "cli_spec.h"

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))
#define S	1000000000ULL

enum { IDLE = RCLINK_LINK_STATE_IDLE, PREPARED, CONNECTED, UP, DOWN };

FIXTURE(story)
{
	struct rcl_link_info info;
	struct rcl_entry entries[RCLINK_RECORD_MAX];
	struct rcl_story story;
	struct json_object *doc;
	char *text;
};

FIXTURE_SETUP(story)
{
	strcpy(self->info.name, "b");
	self->info.state = IDLE;
	self->story.info = &self->info;
	self->story.entries = self->entries;
	/* booted at the beginning of 2026 */
	self->story.realtime = 1767225600 * S;
}

FIXTURE_TEARDOWN(story)
{
	json_object_put(self->doc);
	free(self->text);
}

static struct rcl_entry *add(FIXTURE_DATA(story) *self, uint32_t kind,
			     const char *text)
{
	struct rcl_entry *e = &self->entries[self->story.num++];

	self->story.now += S;
	e->number = self->story.num;
	e->kind = kind;
	e->time = self->story.now;
	e->last = e->time;
	e->times = 1;
	e->epoch = self->info.epoch;
	snprintf(e->text, sizeof(e->text), "%s", text);
	return e;
}

static struct rcl_entry *go(FIXTURE_DATA(story) *self, uint32_t to,
			    uint32_t reason, const char *text)
{
	struct rcl_entry *e = add(self, RCLINK_ENTRY_KIND_STATE, text);

	e->from = self->story.num > 1 ? self->info.state : 0;
	e->to = to;
	e->reason = reason;
	self->info.state = to;
	self->info.reason = reason;
	self->info.counter[RCL_C_EPOCHS] += to == UP;
	snprintf(self->info.reason_text, sizeof(self->info.reason_text), "%s",
		 reason ? text : "");
	return e;
}

static void go_up(FIXTURE_DATA(story) *self)
{
	self->info.epoch++;
	go(self, PREPARED, 0, "a GID");
	go(self, CONNECTED, 0, "");
	go(self, UP, 0, "");
}

static void tell(FIXTURE_DATA(story) *self)
{
	size_t len;
	FILE *to = open_memstream(&self->text, &len);

	self->story.now += S;
	self->doc = rcl_story_doc(&self->story);
	rcl_story_print(to, self->doc);
	fclose(to);
}

#define EXPECT_TOLD(part) \
	EXPECT_NE(NULL, strstr(self->text, part)) TH_LOG("%s", self->text)
#define EXPECT_UNTOLD(part) \
	EXPECT_EQ(NULL, strstr(self->text, part)) TH_LOG("%s", self->text)

TEST_F(story, a_link_that_nobody_connected)
{
	go(self, IDLE, 0, "");
	tell(self);
	EXPECT_STREQ(
		"2026-01-01T00:00:01.000Z  the link was created\n"
		"\n"
		"b is idle since 2026-01-01T00:00:01.000Z, for 1.00 s.\n"
		"It never came up.\n"
		"There is no RDMA device or port that it may use.\n"
		"Most likely: nobody has tried to connect it.\n"
		"What to do: run `rclink connect` on one host while `rclink listen` runs on the other.\n",
		self->text);
}

TEST_F(story, a_link_that_is_up)
{
	go(self, IDLE, 0, "");
	go_up(self);
	strcpy(self->info.peer, "sha256:x");
	tell(self);
	EXPECT_TOLD("00:00:02.000Z  it was prepared; GID chosen: a GID, after 1.00 s idle\n");
	EXPECT_TOLD("00:00:04.000Z  it came up, after 1.00 s connected; epoch 1\n");
	EXPECT_TOLD("b is up since 2026-01-01T00:00:04.000Z, for 1.00 s; epoch 1, peer sha256:x.\n");
	EXPECT_UNTOLD("Most likely");
	EXPECT_UNTOLD("What to do");
	EXPECT_UNTOLD("never");
}

TEST_F(story, a_peer_that_is_gone)
{
	struct rcl_entry *e;

	go(self, IDLE, 0, "");
	go_up(self);
	e = add(self, RCLINK_ENTRY_KIND_FAILURE, "retry exceeded");
	e->reason = RCLINK_DOWN_REASON_COMPLETION;
	e->wc_status = 12;
	e->vendor_err = 0x81;
	e->has_qp = true;
	self->story.now += 3 * 3600 * S;
	e = go(self, DOWN, RCLINK_DOWN_REASON_COMPLETION, "retry exceeded");
	e->counter[RCL_C_TX_MESSAGES] = 14;
	e->counter[RCL_C_RX_MESSAGES] = 12;
	self->info.wc_status = 12;
	tell(self);
	EXPECT_TOLD("the control QP: retry exceeded (RETRY_EXC_ERR, vendor error 0x81)\n");
	EXPECT_TOLD("it went down: retry exceeded, after 3 h 0 min up; until then 14 messages sent, 12 received\n");
	EXPECT_TOLD("b is down since 2026-01-01T03:00:06.000Z, for 1.00 s: retry exceeded.\n");
	EXPECT_TOLD("Most likely: the peer lost its power");
	EXPECT_UNTOLD("never");
}

TEST_F(story, a_faulty_lease_is_named_by_its_index)
{
	struct rcl_entry *e;

	e = add(self, RCLINK_ENTRY_KIND_FAILURE, "remote access error");
	e->reason = RCLINK_DOWN_REASON_COMPLETION;
	e->wc_status = 10;
	e->has_qp = true;
	e->qp = 3;
	e->times = 12;
	e->last += S;
	add(self, RCLINK_ENTRY_KIND_FAILURE, "the port went down");
	tell(self);
	EXPECT_TOLD("pooled QP 3: remote access error (REM_ACCESS_ERR, vendor error 0x0); 12 times, last at 2026-01-01T00:00:02.000Z\n");
	EXPECT_TOLD("the device: the port went down\n");
}

TEST_F(story, a_link_that_never_came_up_says_what_was_tried)
{
	struct rcl_gid_info gid = { .index = 1, .gid = { 0xfe, 0x80 } };
	const struct rcl_dev_info devs[] = {
		{ .name = "rxe0", .port = 1, .port_state = 4, .reason = "v2",
		  .has_chosen = true, .chosen_gid = 1, .gids = &gid,
		  .ngids = 1 },
		{ .name = "rxe1", .port = 1, .port_state = 1,
		  .reason = "no RoCE v2 GID" },
	};

	self->story.devs = devs;
	self->story.ndevs = 2;
	go(self, IDLE, 0, "");
	add(self, RCLINK_ENTRY_KIND_REFUSED, "no GID")->step =
		RCLINK_STEP_PREPARE;
	tell(self);
	EXPECT_TOLD("the module refused to prepare: no GID\n");
	EXPECT_TOLD("It never came up.\n");
	EXPECT_TOLD("Tried last, at 2026-01-01T00:00:02.000Z: the module refused to prepare: no GID.\n");
	EXPECT_TOLD("rxe0 port 1 is active, GID fe80::: v2.\n");
	EXPECT_TOLD("rxe1 port 1 is down, and there is no GID to use: no RoCE v2 GID.\n");
	EXPECT_TOLD("What to do: see `rclink dev`");
}

TEST_F(story, a_sentence_of_the_exchange_explains_more_than_its_end)
{
	go(self, IDLE, 0, "");
	go_up(self);
	go(self, DOWN, RCLINK_DOWN_REASON_PEER_DISCONNECTED, "by the peer");
	go(self, PREPARED, 0, "");
	add(self, RCLINK_ENTRY_KIND_NOTE, "the peer said no");
	go(self, DOWN, RCLINK_DOWN_REASON_OWNER_GONE, "owner gone");
	tell(self);
	EXPECT_TOLD("Tried last, at 2026-01-01T00:00:07.000Z: the peer said no.\n");
	EXPECT_TOLD("What to do: do what that sentence says");
}

TEST_F(story, an_attempt_before_it_was_up_explains_nothing)
{
	go(self, IDLE, 0, "");
	add(self, RCLINK_ENTRY_KIND_NOTE, "connection refused");
	go_up(self);
	add(self, RCLINK_ENTRY_KIND_REFUSED, "it is up");
	go(self, DOWN, RCLINK_DOWN_REASON_PORT_DOWN, "the port went down");
	tell(self);
	EXPECT_UNTOLD("Tried last");
	EXPECT_TOLD("Most likely: the cable was pulled");
}

TEST_F(story, what_repeats_is_told_once)
{
	int i;

	go(self, IDLE, 0, "");
	for (i = 0; i < 4; i++) {
		go(self, PREPARED, 0, "");
		go(self, DOWN, RCLINK_DOWN_REASON_TIMED_OUT, "too late");
	}
	for (i = 0; i < 5; i++)
		add(self, RCLINK_ENTRY_KIND_NOTE, "again")->times = 2;
	tell(self);
	EXPECT_TOLD("idle\n2026-01-01T00:00:03.000Z  it went down: too late, after 1.00 s prepared\n"
		    "                          (the last 2 lines 4 times, last at 2026-01-01T00:00:09.000Z)\n"
		    "2026-01-01T00:00:10.000Z  again; 10 times, last at 2026-01-01T00:00:14.000Z\n\n");
	EXPECT_EQ(14, json_object_array_length(json_object_object_get(self->doc,
								      "record")));
}

TEST_F(story, a_full_record_says_what_is_lost)
{
	uint32_t i;

	for (i = 0; i < RCLINK_RECORD_MAX; i++)
		go(self, PREPARED + i % 4, 0, "")->number = 7 + i;
	tell(self);
	EXPECT_TOLD("                          (6 older entries are not kept)\n");
}

TEST_F(story, hostile_texts_are_bounded_and_printable)
{
	struct rcl_entry *e = add(self, RCLINK_ENTRY_KIND_NOTE, "");

	memset(e->text, '\x1b', sizeof(e->text) - 1);
	e = add(self, 99, "\n\r\xff");
	e->from = 99;
	e->to = 99;
	e->step = 99;
	e->reason = 99;
	e->wc_status = 99;
	self->info.reason = 99;
	self->info.state = 99;
	tell(self);
	EXPECT_UNTOLD("\x1b");
	EXPECT_UNTOLD("\r");
	EXPECT_UNTOLD("\xff");
	EXPECT_TOLD("???");
}

TEST(every_reason_has_its_advice)
{
	const struct rcl_advice *unknown = rcl_advice(99, 0);
	unsigned int i, status;

	for (i = 0; i < NUM(spec_enums); i++) {
		if (strcmp(spec_enums[i].set, "down-reason"))
			continue;
		EXPECT_NE(unknown, rcl_advice(spec_enums[i].value, 99))
			TH_LOG("%s has no line in advice.c",
			       spec_enums[i].word);
	}
	for (status = 0; rcl_wc_name(status); status++) {
		const struct rcl_advice *advice =
			rcl_advice(RCLINK_DOWN_REASON_COMPLETION, status);

		EXPECT_NE(NULL, advice->cause);
		EXPECT_NE(NULL, advice->todo);
	}
	EXPECT_EQ(22, status);
	EXPECT_NE(NULL, unknown->cause);
}

TEST_HARNESS_MAIN
