// SPDX-License-Identifier: GPL-2.0
/*
 * A channel goes on in another epoch, where it has to import its regions anew.
 * The peer answers "busy" for ever, or never gets so far as to be asked: the
 * channel waits for a limited time and goes on without the regions. A process
 * that imports does not wait for ever, either.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <rclink.h>

#include "harness.h"
#include "hostile.h"
#include "slow.h"

#define TIMEOUT_S	400
#define PATIENCE_S	30	/* the module's, RCL_FETCH_MS */
#define QUIET_MS	2000
#define POLL_US		10000
#define REGIONS		3
#define LEN		4096
#define KEY		0x1234

static const char *const names[REGIONS] = { "a", "b", "c" };

FIXTURE(renew)
{
	struct hostile h;
	struct rclink_chan *chan;
	struct rclink_chan *other;
	uint32_t index;			/* of the QP of @chan in the pool */
	struct rclink_remote remote[REGIONS];
	int imported;
	int ret;			/* of the thread */
	pthread_t thread;
};

FIXTURE_SETUP(renew)
{
	ASSERT_EQ(0, hostile_begin(&self->h, RCLINK_ROLE_INITIATOR));
}

FIXTURE_TEARDOWN(renew)
{
	if (self->chan)
		rclink_close(self->chan);
	if (self->other)
		rclink_close(self->other);
	EXPECT_EQ(0, hostile_end(&self->h));
}

static void *connects(void *arg)
{
	struct _test_data_renew *self = arg;

	self->ret = rclink_connect(&self->chan, HOSTILE_LINK, "s", 0);
	return NULL;
}

static void *imports(void *arg)
{
	struct _test_data_renew *self = arg;
	int i = self->imported;

	self->ret = rclink_import(self->chan, names[i], &self->remote[i]);
	return NULL;
}

/* A thread makes a request, for which the module asks us, the peer. */
static void asks(struct __test_metadata *_metadata,
		 struct _test_data_renew *self, void *(*what)(void *arg),
		 uint8_t type, struct rcl_msg *msg)
{
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, what, self));
	ASSERT_EQ(0, peer_await(&self->h.p, type, msg));
}

static int answered(struct _test_data_renew *self)
{
	pthread_join(self->thread, NULL);
	return self->ret;
}

static int say_window(struct hostile *h, uint32_t cookie)
{
	uint8_t data[28] = { 0 };
	struct rcl_msg msg = {
		.type = RCL_MSG_IMPORTED, .cookie = cookie,
		.len = sizeof(data), .data = data,
	};

	rcl_msg_put(data + 8, LEN, 8);
	rcl_msg_put(data + 16, 12, 4);
	rcl_msg_put(data + 20, RCLINK_REGION_WRITE, 4);
	rcl_msg_put(data + 24, KEY, 4);
	return peer_say(&h->p, &msg);
}

static int say_busy(struct hostile *h, uint32_t cookie)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_IMPORTED, .cookie = cookie,
		.status = RCL_MSG_BUSY,
	};

	return peer_say(&h->p, &msg);
}

static void opens(struct __test_metadata *_metadata,
		  struct _test_data_renew *self)
{
	struct rcl_msg msg, opened = { .type = RCL_MSG_OPENED };

	asks(_metadata, self, connects, RCL_MSG_OPEN, &msg);
	opened.cookie = msg.cookie;
	opened.offset = msg.offset;
	self->index = msg.offset;
	ASSERT_EQ(0, peer_say(&self->h.p, &opened));
	ASSERT_EQ(0, answered(self));
}

static void finds(struct __test_metadata *_metadata,
		  struct _test_data_renew *self)
{
	struct rcl_msg msg;

	for (; self->imported < REGIONS; self->imported++) {
		asks(_metadata, self, imports, RCL_MSG_IMPORT, &msg);
		ASSERT_EQ(0, say_window(&self->h, msg.cookie));
		ASSERT_EQ(0, answered(self));
	}
}

/*
 * The epoch fails. In the next one the module asks to resume all @n channels,
 * and the peer agrees; the peer itself asks to resume only @chan.
 */
static void moves(struct __test_metadata *_metadata,
		  struct _test_data_renew *self, int n)
{
	struct rcl_msg pong = { .type = RCL_MSG_PONG };
	struct hostile *h = &self->h;
	struct rcl_msg msg[2];
	int i;

	ASSERT_EQ(0, peer_say(&h->p, &pong));
	ASSERT_EQ(0, hostile_ends(h, "PONG", RCLINK_DOWN_REASON_PROTOCOL));
	ASSERT_EQ(0, hostile_up(h));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_RESUME, &msg[i]));
	for (i = 0; i < n; i++) {
		msg[i].len = 0;
		if (msg[i].offset == self->index)
			ASSERT_EQ(0, peer_say(&h->p, &msg[i]));
		msg[i].type = RCL_MSG_RESUMED;
		ASSERT_EQ(0, peer_say(&h->p, &msg[i]));
	}
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_RESUMED, &msg[0]));
	ASSERT_EQ(RCL_MSG_OK, msg[0].status);
}

/* Answer each import with "busy" until none comes in @ms; how many came. */
static int busy(struct hostile *h, int ms)
{
	struct rcl_msg msg;
	int n, ret;

	for (n = 0;; n++) {
		ret = peer_hear(&h->p, &msg, ms);
		if (ret)
			return ret == -ETIMEDOUT ? n : ret;
		if (msg.type != RCL_MSG_IMPORT)
			return -EPROTO;
		ret = say_busy(h, msg.cookie);
		if (ret)
			return ret;
	}
}

/* How many WRITEs completed, or an error, as when the region is gone. */
static int write_to(struct _test_data_renew *self, int i)
{
	struct rclink_dev_cqe cqe;
	int ret;

	ret = rclink_write(self->chan, rclink_none(), &self->remote[i], 0,
			   RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = rclink_submit(self->chan, 1, slow(HOSTILE_MS));
	if (ret < 0)
		return ret;
	ret = rclink_reap(self->chan, &cqe, 1);
	return ret == 1 && cqe.status ? -EREMOTEIO : ret;
}

/* The channel goes on, after it has waited for PATIENCE_S. */
static void goes_on(struct __test_metadata *_metadata,
		    struct _test_data_renew *self, const struct timespec *begin)
{
	struct timespec end;
	struct rcl_msg msg;
	int ret;

	ASSERT_EQ(0, rclink_recv(self->chan, rclink_none(), 1));
	do {
		ret = rclink_submit(self->chan, 0, 0);
	} while (ret == -EAGAIN && !usleep(POLL_US));
	ASSERT_EQ(1, ret);
	clock_gettime(CLOCK_MONOTONIC, &end);
	EXPECT_LE(PATIENCE_S, end.tv_sec - begin->tv_sec);
	EXPECT_GT(PATIENCE_S + slow(HOSTILE_MS) / 1000,
		  end.tv_sec - begin->tv_sec);
	ASSERT_EQ(0, peer_await(&self->h.p, RCL_MSG_HEARS, &msg));
	msg.type = RCL_MSG_HEARD;
	ASSERT_EQ(0, peer_say(&self->h.p, &msg));
}

TEST_F_TIMEOUT(renew, its_peer_is_busy_for_ever, TIMEOUT_S)
{
	struct hostile *h = &self->h;
	struct timespec begin;
	struct rcl_msg msg;

	ASSERT_EQ(0, hostile_up(h));
	opens(_metadata, self);
	finds(_metadata, self);
	/* The module begins to wait later, in the midst of moves(). */
	clock_gettime(CLOCK_MONOTONIC, &begin);
	moves(_metadata, self, 1);
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_IMPORT, &msg));
	ASSERT_EQ(0, say_window(h, msg.cookie));
	EXPECT_LT(100, busy(h, slow(QUIET_MS)));
	goes_on(_metadata, self, &begin);

	/* So does the link; the channel lacks the regions it was denied. */
	EXPECT_EQ(0, hostile_lives(h, "busy"));
	EXPECT_EQ(1, write_to(self, 0));
	EXPECT_EQ(-ESTALE, write_to(self, 1));
}

TEST_F_TIMEOUT(renew, who_imports_from_a_busy_peer_is_told, TIMEOUT_S)
{
	struct hostile *h = &self->h;
	struct timespec begin, end;
	struct rcl_msg msg;

	ASSERT_EQ(0, hostile_up(h));
	opens(_metadata, self);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	asks(_metadata, self, imports, RCL_MSG_IMPORT, &msg);
	ASSERT_EQ(0, say_busy(h, msg.cookie));
	EXPECT_LT(100, busy(h, slow(QUIET_MS)));
	EXPECT_EQ(-ETIMEDOUT, answered(self));
	clock_gettime(CLOCK_MONOTONIC, &end);
	EXPECT_LE(PATIENCE_S, end.tv_sec - begin.tv_sec + 1);

	/* Now the peer answers with the regions. */
	finds(_metadata, self);
	EXPECT_EQ(0, hostile_lives(h, "busy"));
	EXPECT_EQ(1, write_to(self, 0));
}

/* The peer's end of the other channel could still export what is imported. */
TEST_F_TIMEOUT(renew, another_channel_never_goes_on, TIMEOUT_S)
{
	struct hostile *h = &self->h;
	struct timespec begin;
	int i;

	ASSERT_EQ(0, hostile_up(h));
	opens(_metadata, self);
	self->other = self->chan;
	opens(_metadata, self);
	finds(_metadata, self);
	/* The module begins to wait later, in the midst of moves(). */
	clock_gettime(CLOCK_MONOTONIC, &begin);
	moves(_metadata, self, 2);
	goes_on(_metadata, self, &begin);

	EXPECT_EQ(0, hostile_lives(h, "one of two"));
	for (i = 0; i < REGIONS; i++)
		EXPECT_EQ(-ESTALE, write_to(self, i));
	/* A new import does not wait for the other channel for ever. */
	self->imported = 0;
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, imports, self));
	EXPECT_EQ(-ETIMEDOUT, answered(self));
	EXPECT_EQ(0, hostile_lives(h, "not asked"));
}

#define LAPS	60
#define LAP_S	1	/* far less than the time for an answer */

/* Another epoch takes the place of this one, and the channel goes on there. */
static void rotates(struct __test_metadata *_metadata,
		    struct _test_data_renew *self)
{
	struct hostile *h = &self->h;
	struct peer old = h->p;
	struct rcl_msg msg;

	ASSERT_EQ(0, peer_meet_beside(&h->p, &h->s, HOSTILE_LINK, h->role));
	ASSERT_EQ(0, peer_hello(&h->p, &h->s, HOSTILE_LINK));
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_RESUME, &msg));
	peer_leave(&old);
	msg.len = 0;
	ASSERT_EQ(0, peer_say(&h->p, &msg));
	msg.type = RCL_MSG_RESUMED;
	ASSERT_EQ(0, peer_say(&h->p, &msg));
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_RESUMED, &msg));
	ASSERT_EQ(RCL_MSG_OK, msg.status);
}

/* In each epoch the module asks the peer anew, which never answers. */
TEST_F_TIMEOUT(renew, its_link_is_rotated_again_and_again, TIMEOUT_S)
{
	struct hostile *h = &self->h;
	struct rcl_msg msg;
	int i;

	ASSERT_EQ(0, hostile_up(h));
	opens(_metadata, self);
	asks(_metadata, self, imports, RCL_MSG_IMPORT, &msg);
	for (i = 0; i < LAPS; i++) {
		sleep(LAP_S);
		if (!pthread_tryjoin_np(self->thread, NULL))
			break;
		rotates(_metadata, self);
	}
	EXPECT_GT(LAPS, i);
	EXPECT_EQ(-ETIMEDOUT, self->ret);
	/* Answer the imports that are still open. */
	EXPECT_LE(0, busy(h, slow(QUIET_MS)));
	EXPECT_EQ(0, hostile_lives(h, "rotated"));
}

TEST_HARNESS_MAIN
