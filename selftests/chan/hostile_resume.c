// SPDX-License-Identifier: GPL-2.0
/*
 * A channel is to go on in another epoch, but the peer sends invalid messages
 * about it: the channel ends with an error, or the epoch ends.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include <rclink.h>

#include "harness.h"
#include "hostile.h"

#define TIMEOUT_S	400
#define QUIET_MS	200

#define SAY(t, ...)	{ .type = RCL_MSG_##t, ##__VA_ARGS__ }

FIXTURE(resume)
{
	struct hostile h;
	struct rclink_chan *chan;
	struct rcl_msg asked;		/* RESUME of the module */
};

FIXTURE_VARIANT(resume)
{
	uint32_t role;			/* of the module */
};

FIXTURE_VARIANT_ADD(resume, dialled)
{
	.role = RCLINK_ROLE_INITIATOR,
};

FIXTURE_VARIANT_ADD(resume, answered)
{
	.role = RCLINK_ROLE_INITIATOR + 1,
};

static void *connects(void *arg)
{
	struct _test_data_resume *self = arg;

	return (void *)(long)rclink_connect(&self->chan, HOSTILE_LINK, "s", 0);
}

static int say(struct hostile *h, struct rcl_msg msg)
{
	return peer_say(&h->p, &msg);
}

/* Also the same number of the pool, which the module is not asked for. */
static void opens(struct __test_metadata *_metadata,
		  struct _test_data_resume *self)
{
	struct rcl_msg open;
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, connects, self));
	ASSERT_EQ(0, peer_await(&self->h.p, RCL_MSG_OPEN, &open));
	ASSERT_EQ(0, say(&self->h, (struct rcl_msg)
			 SAY(OPENED, .cookie = open.cookie,
			     .offset = open.offset)));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	ASSERT_EQ(0, (long)ret);
}

/* Makes the epoch fail; in the next one, the module sends RESUME. */
static void moves(struct __test_metadata *_metadata,
		  struct _test_data_resume *self)
{
	struct hostile *h = &self->h;

	ASSERT_EQ(0, hostile_up(h));
	opens(_metadata, self);
	ASSERT_EQ(0, say(h, (struct rcl_msg)SAY(PONG)));
	ASSERT_EQ(0, hostile_ends(h, "PONG", RCLINK_DOWN_REASON_PROTOCOL));
	EXPECT_EQ(-ETIME, rclink_submit(self->chan, 1, QUIET_MS));
	ASSERT_EQ(0, hostile_up(h));
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_RESUME, &self->asked));
	EXPECT_EQ(0, self->asked.len);
}

FIXTURE_SETUP(resume)
{
	ASSERT_EQ(0, hostile_begin(&self->h, variant->role));
	moves(_metadata, self);
}

FIXTURE_TEARDOWN(resume)
{
	if (self->chan)
		rclink_close(self->chan);
	EXPECT_EQ(0, hostile_end(&self->h));
}

/* Sends @msg about the channel; bits set in its fields make those wrong. */
static int about(struct _test_data_resume *self, struct rcl_msg msg)
{
	msg.offset ^= self->asked.offset;
	if (msg.type == RCL_MSG_RESUME)
		msg.seed ^= self->asked.seed;
	if (msg.type == RCL_MSG_RESUMED)
		msg.cookie ^= self->asked.cookie;
	return say(&self->h, msg);
}

#define ABOUT(t, ...) \
	about(self, (struct rcl_msg)SAY(t, ##__VA_ARGS__))

static void ended(struct __test_metadata *_metadata,
		  struct _test_data_resume *self)
{
	EXPECT_EQ(-ECONNRESET, rclink_submit(self->chan, 1,
					     slow(HOSTILE_MS)));
	rclink_close(self->chan);
	self->chan = NULL;
}

static void protocol(struct __test_metadata *_metadata,
		     struct _test_data_resume *self, const char *what)
{
	EXPECT_EQ(0, hostile_ends(&self->h, what,
				  RCLINK_DOWN_REASON_PROTOCOL));
	/* The channel waits for the next epoch. */
	EXPECT_EQ(-ETIME, rclink_submit(self->chan, 1, QUIET_MS));
}

static void answers(struct __test_metadata *_metadata,
		    struct _test_data_resume *self, uint8_t type, int status)
{
	struct rcl_msg msg;

	ASSERT_EQ(0, peer_await(&self->h.p, type, &msg));
	EXPECT_EQ(status, msg.status);
	EXPECT_EQ(self->asked.offset, msg.offset);
}

/* The peer claims @had messages: more than were sent, or fewer than none. */
static void insane(struct __test_metadata *_metadata,
		   struct _test_data_resume *self, uint32_t had)
{
	ASSERT_EQ(0, ABOUT(RESUMED));
	ASSERT_EQ(0, ABOUT(RESUME, .len = had));
	answers(_metadata, self, RCL_MSG_RESUMED, RCL_MSG_OK);
	ended(_metadata, self);
	answers(_metadata, self, RCL_MSG_RECYCLE, RCL_MSG_OK);
	/* Somebody may pose as the peer: the operator must learn of it. */
	EXPECT_EQ(1, rcl_faults(&self->h.s, HOSTILE_LINK,
				RCLINK_DOWN_REASON_PROTOCOL));
	EXPECT_EQ(0, hostile_lives(&self->h, "insane"));
}

TEST_F_TIMEOUT(resume, it_got_one_that_was_not_sent, TIMEOUT_S)
{
	insane(_metadata, self, 1);
}

TEST_F_TIMEOUT(resume, it_got_many_that_were_not_sent, TIMEOUT_S)
{
	insane(_metadata, self, INT32_MAX);
}

TEST_F_TIMEOUT(resume, it_got_half_of_all_numbers, TIMEOUT_S)
{
	insane(_metadata, self, 1U << 31);
}

TEST_F_TIMEOUT(resume, it_lost_one, TIMEOUT_S)
{
	insane(_metadata, self, UINT32_MAX);
}

TEST_F_TIMEOUT(resume, it_has_another_channel, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RESUME, .seed = 1));
	answers(_metadata, self, RCL_MSG_RESUMED, RCL_MSG_REFUSED);
	ended(_metadata, self);
	/* The peer asks again, when the channel is gone. */
	ASSERT_EQ(0, ABOUT(RESUMED, .status = RCL_MSG_REFUSED));
	ASSERT_EQ(0, ABOUT(RESUME));
	answers(_metadata, self, RCL_MSG_RESUMED, RCL_MSG_REFUSED);
	EXPECT_EQ(0, hostile_lives(&self->h, "another channel"));
}

TEST_F_TIMEOUT(resume, it_asks_twice, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RESUME));
	ASSERT_EQ(0, ABOUT(RESUME));
	protocol(_metadata, self, "RESUME, RESUME");
}

TEST_F_TIMEOUT(resume, it_answers_twice, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RESUMED));
	ASSERT_EQ(0, ABOUT(RESUMED));
	protocol(_metadata, self, "RESUMED, RESUMED");
}

TEST_F_TIMEOUT(resume, it_answers_something_else, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RESUMED, .cookie = 1));
	protocol(_metadata, self, "cookie");
}

TEST_F_TIMEOUT(resume, it_answers_for_another_qp, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RESUMED, .offset = 1));
	protocol(_metadata, self, "another QP");
}

TEST_F_TIMEOUT(resume, it_answers_for_no_qp, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RESUMED, .offset = 1U << 31));
	protocol(_metadata, self, "no QP");
}

TEST_F_TIMEOUT(resume, it_opens_instead, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(OPEN, .len = 1, .data = (const uint8_t *)"n"));
	answers(_metadata, self, RCL_MSG_OPENED, RCL_MSG_REFUSED);
	ended(_metadata, self);
	/* The answer to the module's RESUME. */
	ASSERT_EQ(0, ABOUT(RESUMED));
	EXPECT_EQ(0, hostile_lives(&self->h, "OPEN"));
}

TEST_F_TIMEOUT(resume, it_ends_it_instead, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RECYCLE, .len = 17));
	answers(_metadata, self, RCL_MSG_RECYCLED, RCL_MSG_OK);
	ended(_metadata, self);
	ASSERT_EQ(0, ABOUT(RESUMED));
	ASSERT_EQ(0, ABOUT(GO));
	answers(_metadata, self, RCL_MSG_GONE, RCL_MSG_OK);
	EXPECT_EQ(0, hostile_lives(&self->h, "RECYCLE"));
}

TEST_F_TIMEOUT(resume, it_promises_an_end_that_does_not_come, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RESUMED, .status = RCL_MSG_BUSY));
	ended(_metadata, self);
	ASSERT_EQ(0, ABOUT(GO));
	EXPECT_EQ(0, hostile_ends(&self->h, "GO", RCLINK_DOWN_REASON_PROTOCOL));
}

TEST_F_TIMEOUT(resume, it_promises_an_end_and_is_silent, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RESUMED, .status = RCL_MSG_BUSY));
	ended(_metadata, self);
	EXPECT_EQ(0, hostile_lives(&self->h, "no RECYCLE yet"));
	EXPECT_EQ(0, hostile_ends(&self->h, "no RECYCLE",
				  RCLINK_DOWN_REASON_TIMED_OUT));
}

TEST_F_TIMEOUT(resume, it_agrees_and_never_asks, TIMEOUT_S)
{
	ASSERT_EQ(0, ABOUT(RESUMED));
	EXPECT_EQ(0, hostile_lives(&self->h, "RESUMED"));
	EXPECT_EQ(-ETIME, rclink_submit(self->chan, 1, QUIET_MS));
	/* The process can close the channel without waiting for the peer. */
	rclink_close(self->chan);
	self->chan = NULL;
	answers(_metadata, self, RCL_MSG_RECYCLE, RCL_MSG_OK);
	EXPECT_EQ(0, hostile_lives(&self->h, "closed"));
}

/* With valid messages the channel goes on. */
TEST_F_TIMEOUT(resume, it_is_honest, TIMEOUT_S)
{
	struct pollfd fd = { .events = POLLOUT };

	ASSERT_EQ(0, ABOUT(RESUMED));
	ASSERT_EQ(0, ABOUT(RESUME));
	answers(_metadata, self, RCL_MSG_RESUMED, RCL_MSG_OK);
	/* The channel goes on some time after that answer. */
	fd.fd = rclink_fd(self->chan);
	ASSERT_EQ(1, poll(&fd, 1, slow(HOSTILE_MS)));
	ASSERT_EQ(0, rclink_recv(self->chan, rclink_none(), 1));
	ASSERT_LE(0, rclink_submit(self->chan, 0, 0));
	answers(_metadata, self, RCL_MSG_HEARS, RCL_MSG_OK);
	EXPECT_EQ(0, hostile_lives(&self->h, "it goes on"));
}

TEST_HARNESS_MAIN
