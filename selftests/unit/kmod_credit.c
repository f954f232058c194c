// SPDX-License-Identifier: GPL-2.0
/* Credits and questions of two ends, with messages in random order. */
#include <string.h>

#include "credit.h"
#include "msg.h"

#include <kselftest_harness.h>

#define TURNS	200000
#define LEASE	RCL_MSG_OPEN		/* its answer says which QP, too */

struct end {
	struct rcl_credit credit;
	struct rcl_msg in[RCL_CTRL_SLOTS];	/* a ring: not yet taken */
	u32 sent, taken;			/* to and from the ring */
	u32 cookie;
};

static u64 state;

static u32 draw(u32 n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % n;
}

static void begin(struct end *end, u64 seed)
{
	memset(end, 0, 2 * sizeof(*end));
	rcl_credit_init(&end[0].credit);
	rcl_credit_init(&end[1].credit);
	state = seed;
}

/* Send to the other end, which must have a receive for the message. */
static void say(struct __test_metadata *_metadata, struct end *from,
		struct end *to, struct rcl_msg msg)
{
	ASSERT_NE(0, from->credit.left);
	ASSERT_GT(RCL_CTRL_SLOTS, to->sent - to->taken);
	rcl_credit_sent(&from->credit, &msg, 7);
	to->in[to->sent++ % RCL_CTRL_SLOTS] = msg;
}

static void ask(struct __test_metadata *_metadata, struct end *from,
		struct end *to)
{
	struct rcl_msg msg = {
		.type = draw(2) ? LEASE : RCL_MSG_PING,
		.cookie = ++from->cookie,
		.offset = draw(4),
	};

	if (rcl_credit_has_places(&from->credit, 1))
		say(_metadata, from, to, msg);
}

static void take(struct __test_metadata *_metadata, struct end *end,
		 struct end *peer)
{
	struct rcl_question asked;
	struct rcl_msg msg;

	if (end->sent == end->taken)
		return;
	msg = end->in[end->taken % RCL_CTRL_SLOTS];
	ASSERT_EQ(0, rcl_credit_received(&end->credit, &msg, 7, &asked));
	if (rcl_msg_is_answer(msg.type)) {
		EXPECT_EQ(msg.type - 1, asked.type);
		EXPECT_EQ(7, asked.when);
	} else {
		EXPECT_EQ(0, asked.type);
		msg.type++;
		if (msg.type == RCL_MSG_HELLO_ACK)
			msg.cookie = 0;
		say(_metadata, end, peer, msg);
	}
	end->taken++;
	end->credit.owed++;
}

/* Each end has a credit for any answer, and at any time for a goodbye. */
TEST(nobody_runs_out_of_credits)
{
	const struct rcl_msg hello = {
		.type = RCL_MSG_HELLO, .cookie = RCL_MSG_VERSION
	};
	struct end end[2];
	u32 i, turn, who;
	u32 least = RCL_CTRL_SLOTS;

	for (i = 0; i < 20; i++) {
		begin(end, i);
		say(_metadata, &end[0], &end[1], hello);
		say(_metadata, &end[1], &end[0], hello);
		for (turn = 0; turn < TURNS / 20; turn++) {
			who = draw(2);
			/* In some rounds an end seldom takes a message. */
			if (draw(2 + i % 5))
				ask(_metadata, &end[who], &end[!who]);
			else
				take(_metadata, &end[who], &end[!who]);
			ASSERT_NE(0, end[who].credit.left);
			if (end[who].credit.left < least)
				least = end[who].credit.left;
		}
	}
	/* Credits did become scarce. */
	EXPECT_GE(4, least);
}

TEST(an_end_has_so_many_questions)
{
	struct end end[2];
	int i;

	begin(end, 1);
	for (i = 0; i < 2 * RCL_CTRL_QUESTIONS; i++)
		ask(_metadata, &end[0], &end[1]);
	EXPECT_EQ(RCL_CTRL_QUESTIONS, end[1].sent);
	EXPECT_FALSE(rcl_credit_has_places(&end[0].credit, 1));
	take(_metadata, &end[1], &end[0]);
	EXPECT_FALSE(rcl_credit_has_places(&end[0].credit, 1));
	take(_metadata, &end[0], &end[1]);
	EXPECT_TRUE(rcl_credit_has_places(&end[0].credit, 1));
	EXPECT_FALSE(rcl_credit_has_places(&end[0].credit, 2));
}

static int hears_at(struct end *end, struct rcl_msg msg, u64 when)
{
	struct rcl_credit before = end->credit;
	struct rcl_question asked;
	int ret = rcl_credit_received(&end->credit, &msg, when, &asked);

	end->credit = before;
	return ret;
}

static int hears(struct end *end, struct rcl_msg msg)
{
	return hears_at(end, msg, 8);
}

TEST(who_is_answered_otherwise_notices)
{
	const struct rcl_msg open = {
		.type = LEASE, .cookie = 5, .offset = 3
	};
	const struct rcl_msg ping = { .type = RCL_MSG_PING, .cookie = 6 };
	struct rcl_msg good = open, bad;
	struct end end[2];

	begin(end, 1);
	good.type++;
	EXPECT_EQ(-EPROTO, hears(end, good));
	say(_metadata, &end[0], &end[1], open);
	say(_metadata, &end[0], &end[1], ping);
	EXPECT_EQ(0, hears(end, good));
	EXPECT_EQ(0, hears_at(end, good, 7));
	EXPECT_EQ(-EPROTO, hears_at(end, good, 6));
	bad = good;
	bad.cookie++;
	EXPECT_EQ(-EPROTO, hears(end, bad));
	bad = good;
	bad.offset++;
	EXPECT_EQ(-EPROTO, hears(end, bad));
	bad = good;
	bad.type = RCL_MSG_PONG;
	EXPECT_EQ(-EPROTO, hears(end, bad));
	/* Answers must come in the order of the questions. */
	bad = ping;
	bad.type++;
	EXPECT_EQ(-EPROTO, hears(end, bad));
	/* The answer to a ping may have any offset. */
	rcl_credit_received(&end[0].credit, &good, 8,
			    &end[0].credit.asked[5]);
	bad.offset = 77;
	EXPECT_EQ(0, hears(end, bad));
}

TEST(no_more_is_returned_than_was_taken)
{
	const struct rcl_msg ping = { .type = RCL_MSG_PING };
	struct rcl_msg msg = { .type = RCL_MSG_BEAT, .credits = 1 };
	struct end end[2];

	begin(end, 1);
	EXPECT_EQ(-EPROTO, hears(end, msg));
	msg.credits = 65535;
	EXPECT_EQ(-EPROTO, hears(end, msg));
	say(_metadata, &end[0], &end[1], ping);
	EXPECT_EQ(-EPROTO, hears(end, msg));
	msg.credits = 2;
	EXPECT_EQ(-EPROTO, hears(end, msg));
	msg.credits = 1;
	EXPECT_EQ(0, hears(end, msg));
	msg.credits = 0;
	EXPECT_EQ(0, hears(end, msg));
}

TEST(a_goodbye_is_no_question)
{
	const struct rcl_msg bye = { .type = RCL_MSG_BYE };
	struct end end[2];

	begin(end, 1);
	say(_metadata, &end[0], &end[1], bye);
	EXPECT_EQ(0, end[0].credit.questions);
	EXPECT_EQ(RCL_CTRL_SLOTS - 1, end[0].credit.left);
	EXPECT_EQ(0, hears(&end[1], bye));
}

TEST_HARNESS_MAIN
