// SPDX-License-Identifier: GPL-2.0
/* How a record is told: its sentences, repetitions, conclusion and advice. */
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

struct teller {
	struct rcl_link_info info;
	struct rcl_entry entries[RCLINK_RECORD_MAX];
	struct rcl_story story;
	struct json_object *doc;
	char *text;
};

FIXTURE(story)
{
	struct teller t;
};

FIXTURE_SETUP(story)
{
	strcpy(self->t.info.name, "b");
	self->t.info.state = IDLE;
	self->t.story.info = &self->t.info;
	self->t.story.entries = self->t.entries;
	/* booted at the beginning of 2026 */
	self->t.story.realtime = 1767225600 * S;
}

FIXTURE_TEARDOWN(story)
{
	json_object_put(self->t.doc);
	free(self->t.text);
}

static struct rcl_entry *add(struct teller *t, uint32_t kind,
			     const char *text)
{
	struct rcl_entry *e = &t->entries[t->story.num++];

	t->story.now += S;
	e->number = t->story.num;
	e->kind = kind;
	e->time = t->story.now;
	e->last = e->time;
	e->times = 1;
	e->epoch = t->info.epoch;
	snprintf(e->text, sizeof(e->text), "%s", text);
	return e;
}

static struct rcl_entry *go(struct teller *t, uint32_t to,
			    uint32_t reason, const char *text)
{
	struct rcl_entry *e = add(t, RCLINK_ENTRY_KIND_STATE, text);

	e->from = t->story.num > 1 ? t->info.state : 0;
	e->to = to;
	e->reason = reason;
	t->info.state = to;
	t->info.reason = reason;
	t->info.counter[RCLINK_A_STATS_EPOCHS] += to == UP;
	snprintf(t->info.reason_text, sizeof(t->info.reason_text), "%s",
		 reason ? text : "");
	return e;
}

static void go_up(struct teller *t)
{
	t->info.epoch++;
	go(t, PREPARED, 0, "a GID");
	go(t, CONNECTED, 0, "");
	go(t, UP, 0, "");
}

static void tell(struct teller *t)
{
	size_t len;
	FILE *to = open_memstream(&t->text, &len);

	t->story.now += S;
	t->doc = rcl_story_doc(&t->story);
	rcl_story_print(to, t->doc);
	fclose(to);
}

static void tell_again(struct teller *t)
{
	json_object_put(t->doc);
	free(t->text);
	tell(t);
}

static bool is_told(const struct teller *t, const char *part, bool want)
{
	bool is = strstr(t->text, part);

	if (is != want)
		fprintf(stderr, "# %s\n# in: %s\n", part, t->text);
	return is == want;
}

#define EXPECT_TOLD(part)	EXPECT_TRUE(is_told(&self->t, part, true))
#define EXPECT_UNTOLD(part)	EXPECT_TRUE(is_told(&self->t, part, false))

TEST_F(story, a_link_that_nobody_connected)
{
	static const char told[] = {
		"2026-01-01T00:00:01.000Z  the link was created\n"
		"\n"
		"b is idle since 2026-01-01T00:00:01.000Z, for 1.00 s.\n"
		"It never came up.\n"
		"There is no RDMA device or port that it may use.\n"
		"Most likely: nobody has tried to connect it.\n"
		"What to do: run `rclink connect` on one host while `rclink listen` runs on the other; that one, or rclinkd, has said if it refused somebody.\n"
	};

	go(&self->t, IDLE, 0, "");
	tell(&self->t);
	EXPECT_STREQ(told, self->t.text);
}

static void stand_by(struct teller *t, uint32_t to, const char *text)
{
	add(t, RCLINK_ENTRY_KIND_STANDBY, text)->to = to;
}

TEST_F(story, a_link_that_was_rotated)
{
	go(&self->t, IDLE, 0, "");
	go_up(&self->t);
	stand_by(&self->t, PREPARED, "a GID");
	stand_by(&self->t, DOWN, "the peer did not answer in time");
	stand_by(&self->t, PREPARED, "");
	stand_by(&self->t, CONNECTED, "");
	self->t.info.epoch++;
	go(&self->t, UP, 0, "");
	tell(&self->t);
	EXPECT_TOLD("another epoch was prepared beside it; GID chosen: a GID");
	EXPECT_TOLD("ended before it came up: the peer did not answer in time");
	EXPECT_TOLD("the peer's values for that epoch came in");
	EXPECT_TOLD("it moved to that epoch, after 5.00 s up; epoch 2");
	EXPECT_TOLD("b is up since");
	EXPECT_UNTOLD("What to do");
}

TEST_F(story, a_link_that_is_up)
{
	go(&self->t, IDLE, 0, "");
	go_up(&self->t);
	strcpy(self->t.info.peer, "sha256:x");
	tell(&self->t);
	EXPECT_TOLD("it was prepared; GID chosen: a GID, after 1.00 s idle\n");
	EXPECT_TOLD("4.000Z  it came up, after 1.00 s connected; epoch 1\n");
	EXPECT_TOLD("b is up since 2026-01-01T00:00:04.000Z, for 1.00 s;");
	EXPECT_TOLD("; epoch 1, peer sha256:x.\n");
	EXPECT_UNTOLD("Most likely");
	EXPECT_UNTOLD("What to do");
	EXPECT_UNTOLD("never");
}

TEST_F(story, a_peer_that_is_gone)
{
	struct rcl_entry *e;

	go(&self->t, IDLE, 0, "");
	go_up(&self->t);
	e = add(&self->t, RCLINK_ENTRY_KIND_FAILURE, "retry exceeded");
	e->reason = RCLINK_DOWN_REASON_COMPLETION;
	e->wc_status = 12;
	e->vendor_err = 0x81;
	e->has_qp = true;
	self->t.story.now += 3 * 3600 * S;
	e = go(&self->t, DOWN, RCLINK_DOWN_REASON_COMPLETION, "retry exceeded");
	e->counter[RCLINK_A_STATS_TX_MESSAGES] = 14;
	e->counter[RCLINK_A_STATS_RX_MESSAGES] = 12;
	self->t.info.wc_status = 12;
	tell(&self->t);
	EXPECT_TOLD("the control QP: retry exceeded (RETRY_EXC_ERR, ");
	EXPECT_TOLD(", vendor error 0x81)\n");
	EXPECT_TOLD("it went down: retry exceeded, after 3 h 0 min up;");
	EXPECT_TOLD("; until then 14 messages sent, 12 received\n");
	EXPECT_TOLD("since 2026-01-01T03:00:06.000Z, for 1.00 s: retry exc");
	EXPECT_TOLD("Most likely: the peer lost its power");
	EXPECT_UNTOLD("never");
}

TEST_F(story, modules_of_two_versions_are_told_by_what_is_loaded)
{
	go(&self->t, UP, 0, "");
	go(&self->t, DOWN, RCLINK_DOWN_REASON_OTHER_VERSION, "other version");
	tell(&self->t);
	EXPECT_TOLD("compare `cat /sys/module/rclink/srcversion`, of the");
	EXPECT_TOLD("load it: `rmmod rclink; modprobe rclink`; then");
}

TEST_F(story, a_faulty_lease_is_named_by_its_index)
{
	struct rcl_entry *e;

	e = add(&self->t, RCLINK_ENTRY_KIND_FAILURE, "remote access error");
	e->reason = RCLINK_DOWN_REASON_COMPLETION;
	e->wc_status = 10;
	e->has_qp = true;
	e->qp = 3;
	e->times = 12;
	e->last += S;
	add(&self->t, RCLINK_ENTRY_KIND_FAILURE, "the port went down");
	tell(&self->t);
	EXPECT_TOLD("pooled QP 3: remote access error (REM_ACCESS_ERR, ");
	EXPECT_TOLD("; 12 times, last at 2026-01-01T00:00:02.000Z\n");
	EXPECT_TOLD("the device: the port went down\n");
}

TEST_F(story, a_link_that_never_came_up_says_what_was_tried)
{
	struct rcl_gid_info gid = {
		.index = 1, .gid = { 0xfe, 0x80 }, .usable = 1,
	};
	const struct rcl_dev_info devs[] = {
		{ .name = "rxe0", .port = 1, .port_state = 4, .reason = "v2",
		  .has_chosen = true, .chosen_gid = 1, .gids = &gid,
		  .ngids = 1 },
		{ .name = "rxe1", .port = 1, .port_state = 1,
		  .reason = "no RoCE v2 GID" },
	};

	self->t.story.devs = devs;
	self->t.story.ndevs = 2;
	go(&self->t, IDLE, 0, "");
	add(&self->t, RCLINK_ENTRY_KIND_REFUSED, "no GID")->step =
		RCLINK_STEP_PREPARE;
	tell(&self->t);
	EXPECT_TOLD("the module refused to prepare: no GID\n");
	EXPECT_TOLD("It never came up.\n");
	EXPECT_TOLD("Tried last, at 2026-01-01T00:00:02.000Z: the module ");
	EXPECT_TOLD("rxe0 port 1 is active, GID fe80::: v2.\n");
	EXPECT_TOLD("rxe1 port 1 is down, and there is no GID to use: no R");
	EXPECT_TOLD("What to do: see `rclink dev`");
	EXPECT_UNTOLD("Most likely");
	EXPECT_STREQ("the module refused to prepare: no GID",
		     rcl_out_get_text(self->t.doc, "cause"));
}

TEST_F(story, it_shows_the_gid_of_the_net_device_that_is_set)
{
	struct rcl_gid_info gids[] = {
		{ .index = 1, .gid = { 0xfe, 0x80 }, .usable = 1,
		  .netdev = "vlan5" },
		{ .index = 2, .gid = { 0x20, 1 }, .usable = 1,
		  .netdev = "vlan5" },
		{ .index = 3, .gid = { 0x20, 2 }, .usable = 1,
		  .netdev = "eth0" },
	};
	struct rcl_dev_info dev = {
		.name = "rxe0", .port = 1, .port_state = 4, .reason = "v2",
		.has_chosen = true, .chosen_gid = 3, .gids = gids, .ngids = 3,
	};
	struct rcl_policy *policy = &self->t.info.policy;

	self->t.story.devs = &dev;
	self->t.story.ndevs = 1;
	go(&self->t, IDLE, 0, "");
	strcpy(policy->netdev, "vlan5");
	tell(&self->t);
	EXPECT_TOLD("GID 2001::: of the netdev that is set.\n");
	strcpy(policy->netdev, "vlan6");
	tell_again(&self->t);
	EXPECT_TOLD("netdev: it has no usable GID here, or is down");
	policy->given |= 1u << RCL_P_GID_INDEX;
	policy->v[RCL_P_GID_INDEX] = 3;
	tell_again(&self->t);
	EXPECT_TOLD("netdev: it has no GID at the gid-index that is set");
	strcpy(policy->netdev, "eth0");
	tell_again(&self->t);
	EXPECT_TOLD("GID 2002::: set by the operator.\n");
	policy->given = 0;
	dev.has_chosen = false;
	strcpy(dev.reason, "MTU");
	tell_again(&self->t);
	EXPECT_TOLD("no GID to use: MTU");
}

TEST_F(story, a_sentence_of_the_exchange_explains_more_than_its_end)
{
	go(&self->t, IDLE, 0, "");
	go_up(&self->t);
	go(&self->t, DOWN, RCLINK_DOWN_REASON_PEER_DISCONNECTED, "by the peer");
	go(&self->t, PREPARED, 0, "");
	add(&self->t, RCLINK_ENTRY_KIND_NOTE, "the peer said no");
	go(&self->t, DOWN, RCLINK_DOWN_REASON_OWNER_GONE, "owner gone");
	tell(&self->t);
	EXPECT_TOLD("Tried last, at 2026-01-01T00:00:07.000Z: the peer sai");
	EXPECT_TOLD("What to do: do what that sentence says");
}

/* The peer may tell the dialler before the dialler's own QP has failed. */
TEST_F(story, an_exchange_that_failed_before_its_epoch_did_explains_it)
{
	struct teller *t = &self->t;

	go_up(t);
	go(t, DOWN, RCLINK_DOWN_REASON_PEER_SILENT, "silent");
	t->info.epoch++;
	go(t, PREPARED, 0, "a GID");
	go(t, CONNECTED, 0, "");
	add(t, RCLINK_ENTRY_KIND_NOTE, "no path works");
	go(t, DOWN, RCLINK_DOWN_REASON_COMPLETION, "retry exceeded");
	tell(t);
	EXPECT_TOLD("Tried last, at 2026-01-01T00:00:07.000Z: no path works");
}

/* A note on an earlier exchange does not tell why the last one failed. */
TEST_F(story, an_exchange_before_the_last_one_explains_nothing)
{
	struct teller *t = &self->t;

	go_up(t);
	go(t, DOWN, RCLINK_DOWN_REASON_PEER_SILENT, "silent");
	add(t, RCLINK_ENTRY_KIND_NOTE, "no path works");
	t->info.epoch++;
	go(t, PREPARED, 0, "a GID");
	go(t, CONNECTED, 0, "");
	go(t, DOWN, RCLINK_DOWN_REASON_COMPLETION, "retry exceeded");
	tell(t);
	EXPECT_UNTOLD("Tried last");
}

/* Nor why the process that brought the link up was killed. */
TEST_F(story, an_exchange_before_a_kill_explains_nothing)
{
	struct teller *t = &self->t;

	go_up(t);
	go(t, DOWN, RCLINK_DOWN_REASON_PEER_SILENT, "silent");
	add(t, RCLINK_ENTRY_KIND_NOTE, "connection refused");
	t->info.epoch++;
	go(t, PREPARED, 0, "a GID");
	go(t, DOWN, RCLINK_DOWN_REASON_OWNER_GONE, "owner gone");
	tell(t);
	EXPECT_UNTOLD("Tried last");
	EXPECT_TOLD("Most likely: the rclink that brought the link up ended");
}

TEST_F(story, nor_if_the_link_never_came_up)
{
	struct teller *t = &self->t;

	go(t, IDLE, 0, "");
	add(t, RCLINK_ENTRY_KIND_NOTE, "connection refused");
	go(t, PREPARED, 0, "a GID");
	go(t, CONNECTED, 0, "");
	go(t, DOWN, RCLINK_DOWN_REASON_COMPLETION, "retry exceeded");
	tell(t);
	EXPECT_UNTOLD("Tried last");
}

TEST_F(story, who_may_not_read_a_note_is_told_who_may)
{
	struct teller *t = &self->t;

	go(t, IDLE, 0, "");
	add(t, RCLINK_ENTRY_KIND_NOTE, "");
	tell(t);
	EXPECT_TOLD("What to do: ask again as root, who may read it");
}

TEST_F(story, an_attempt_before_it_was_up_explains_nothing)
{
	go(&self->t, IDLE, 0, "");
	add(&self->t, RCLINK_ENTRY_KIND_NOTE, "connection refused");
	go_up(&self->t);
	add(&self->t, RCLINK_ENTRY_KIND_REFUSED, "it is up");
	go(&self->t, DOWN, RCLINK_DOWN_REASON_PORT_DOWN, "the port went down");
	tell(&self->t);
	EXPECT_UNTOLD("Tried last");
	EXPECT_TOLD("Most likely: the cable was pulled");
}

TEST_F(story, what_was_said_while_it_was_down_is_told_as_that)
{
	go(&self->t, IDLE, 0, "");
	go_up(&self->t);
	go(&self->t, DOWN, RCLINK_DOWN_REASON_PORT_DOWN, "the port went down");
	go(&self->t, DOWN, RCLINK_DOWN_REASON_DISCONNECTED, "disconnected");
	tell(&self->t);
	EXPECT_TOLD("  it went down: the port went down");
	EXPECT_TOLD("  while it was down: disconnected");
	EXPECT_TOLD("Most likely: somebody on this host took the link down");
}

TEST_F(story, what_repeats_is_told_once)
{
	struct json_object *record;
	int i;

	go(&self->t, IDLE, 0, "");
	for (i = 0; i < 4; i++) {
		go(&self->t, PREPARED, 0, "");
		go(&self->t, DOWN, RCLINK_DOWN_REASON_TIMED_OUT, "too late");
	}
	for (i = 0; i < 5; i++)
		add(&self->t, RCLINK_ENTRY_KIND_NOTE, "again")->times = 2;
	tell(&self->t);
	EXPECT_TOLD("idle\n2026-01-01T00:00:03.000Z  it went down: too late");
	EXPECT_TOLD("prepared\n                          (the last 2 lines 4 ");
	EXPECT_TOLD(" 4 times, last at 2026-01-01T00:00:09.000Z)\n"
		    "2026-01-01T00:00:10.000Z  again; 10 times, last at ");
	EXPECT_TOLD("; 10 times, last at 2026-01-01T00:00:14.000Z\n\n");
	record = json_object_object_get(self->t.doc, "record");
	EXPECT_EQ(14, json_object_array_length(record));
}

TEST_F(story, a_gap_is_told_where_it_is)
{
	struct teller *t = &self->t;

	go_up(t);
	go(t, DOWN, RCLINK_DOWN_REASON_UNAUTHENTICATED, "forged");
	add(t, RCLINK_ENTRY_KIND_NOTE, "")->number = 9;
	t->info.counter[RCLINK_A_STATS_RX_UNAUTHENTICATED] = 3;
	tell(t);
	EXPECT_TOLD("(4 entries are not kept)\n2026");
	EXPECT_TOLD("a note, which only CAP_NET_ADMIN may read");
	EXPECT_TOLD("may have set off: 3 not authentic.\n");
	EXPECT_EQ(4, rcl_out_get_u64(t->doc, "entries_lost"));
}

/* A cycle before a gap is not counted with the cycles after it. */
TEST_F(story, what_took_it_down_is_not_one_of_many_tries)
{
	struct rcl_entry *first;
	uint32_t i, number = 143;

	go_up(&self->t);
	add(&self->t, RCLINK_ENTRY_KIND_NOTE, "a failure");
	go(&self->t, DOWN, RCLINK_DOWN_REASON_TIMED_OUT, "too late");
	for (i = 0; i < 4; i++) {
		first = go(&self->t, PREPARED, 0, "");
		first->number = number++;
		add(&self->t, RCLINK_ENTRY_KIND_NOTE, "a failure")->number =
			number++;
		go(&self->t, DOWN, RCLINK_DOWN_REASON_TIMED_OUT,
		   "too late")->number = number++;
	}
	tell(&self->t);
	EXPECT_TOLD(" received\n                          (137 entries ");
	EXPECT_TOLD("(the last 3 lines 4 times, ");
}

TEST_F(story, a_full_record_says_what_is_lost)
{
	uint32_t i;

	for (i = 0; i < RCLINK_RECORD_MAX; i++)
		go(&self->t, PREPARED + i % 4, 0, "")->number = 7 + i;
	tell(&self->t);
	EXPECT_TOLD("                (6 entries are not kept)\n");
}

TEST_F(story, hostile_texts_are_bounded_and_printable)
{
	struct rcl_entry *e = add(&self->t, RCLINK_ENTRY_KIND_NOTE, "");

	memset(e->text, '\x1b', sizeof(e->text) - 1);
	e = add(&self->t, 99, "\n\r\xff");
	e->from = 99;
	e->to = 99;
	e->step = 99;
	e->reason = 99;
	e->wc_status = 99;
	self->t.info.reason = 99;
	self->t.info.state = 99;
	tell(&self->t);
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
		/* These are reasons of groups: no link goes down for them. */
		if (spec_enums[i].value == RCLINK_DOWN_REASON_SUBNET_MANAGER ||
		    spec_enums[i].value == RCLINK_DOWN_REASON_MTU_CHANGED) {
			EXPECT_NE(unknown,
				  rcl_group_advice(spec_enums[i].value));
			continue;
		}
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
