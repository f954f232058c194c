// SPDX-License-Identifier: GPL-2.0
/*
 * A process that sends as soon as a channel is open finds no receive at the far
 * end, which is late, and need not know: messages wait for the first receive.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <rclink.h>

#include "harness.h"
#include "late.h"

#define LINK		"l"
#define PAGE		4096
#define CLOSE_MS	1500
#define LIMIT_MS	slow(20000)
#define QUIET_MS	200		/* nothing completes for so long */
#define FLUSHED		5		/* of enum ib_wc_status */
#define REMOTE_ACCESS	10
#define RECV_TAG	1000
#define STREAM		500U

FIXTURE(late)
{
	struct rclink_chan *chan;
	struct rclink_remote far;
	uint32_t *page, region;
	unsigned int flags;
};

FIXTURE_VARIANT(late)
{
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(late, events) {
	.flags = RCLINK_CONNECT_WAIT,
};

FIXTURE_VARIANT_ADD(late, polled) {
	.flags = RCLINK_CONNECT_WAIT | RCLINK_CHAN_POLLED,
};

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

FIXTURE_SETUP(late)
{
	self->flags = variant->flags;
	self->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
}

FIXTURE_TEARDOWN(late)
{
	rclink_close(self->chan);
}

static void begin(struct __test_metadata *_metadata,
		  struct _test_data_late *self, const char *service)
{
	ASSERT_EQ(0, rclink_connect(&self->chan, LINK, service, self->flags));
	ASSERT_EQ(0, rclink_region(self->chan, self->page, PAGE, NULL, 0,
				   &self->region));
}

/* Let the far end go on; on return it is about to, or has done so. */
static void go(struct __test_metadata *_metadata, const char *service)
{
	struct rclink_chan *chan;
	char name[LATE_SERVICE_LEN];

	snprintf(name, sizeof(name), "%s" LATE_GO, service);
	ASSERT_EQ(0, rclink_connect(&chan, LINK, name, RCLINK_CONNECT_WAIT));
	EXPECT_EQ(-ECONNRESET, rclink_submit(chan, 1, LIMIT_MS));
	rclink_close(chan);
}

/* The far end exports its region soon, and has sent its number by then. */
static void import(struct __test_metadata *_metadata,
		   struct _test_data_late *self, const char *service)
{
	int ret;

	while ((ret = rclink_import(self->chan, service, &self->far)) ==
	       -ENOENT)
		usleep(1000);
	ASSERT_EQ(0, ret);
}

static int send_number(struct _test_data_late *self, uint32_t number)
{
	return rclink_send(self->chan, rclink_bytes(&number, sizeof(number)),
			   RCLINK_SQE_SIGNALED, number);
}

static int write_word(struct _test_data_late *self, uint64_t tag)
{
	return rclink_write(self->chan, rclink_bytes("late", 4), &self->far,
			    PAGE - 4, RCLINK_SQE_SIGNALED, tag);
}

/* Like send_number(), by a WRITE with immediate to where the far end looks. */
static int write_message(struct _test_data_late *self, uint32_t number)
{
	return rclink_write_imm(self->chan,
				rclink_bytes(&number, sizeof(number)),
				&self->far, number * sizeof(number), number, 0,
				number);
}

static void completes(struct __test_metadata *_metadata,
		      struct _test_data_late *self, uint64_t tag,
		      uint32_t status)
{
	struct rclink_dev_cqe cqe = { 0 };

	EXPECT_LE(0, rclink_submit(self->chan, 1, LIMIT_MS));
	ASSERT_EQ(1, rclink_reap(self->chan, &cqe, 1));
	EXPECT_EQ(tag, cqe.user_data);
	EXPECT_EQ(status, cqe.status)
		TH_LOG("%s", rclink_status_name(cqe.status));
}

/* The next completion must be a receive of @number from the far end. */
static void hears(struct __test_metadata *_metadata,
		  struct _test_data_late *self, uint32_t number)
{
	completes(_metadata, self, RECV_TAG, 0);
	EXPECT_EQ(number, self->page[0]);
}

/* Returns 1 if the channel has room to submit within @ms. */
static int room(const struct _test_data_late *self, int ms)
{
	struct pollfd fd = { .fd = rclink_fd(self->chan), .events = POLLOUT };

	return poll(&fd, 1, ms);
}

/* Submit what is queued; nothing may complete for QUIET_MS. */
static void waits(struct __test_metadata *_metadata,
		  struct _test_data_late *self)
{
	EXPECT_EQ(-ETIME, rclink_submit(self->chan, 1, QUIET_MS));
}

static void listens(struct __test_metadata *_metadata,
		    struct _test_data_late *self)
{
	ASSERT_EQ(0, rclink_recv(self->chan,
				 rclink_piece(self->region, 0, 4), RECV_TAG));
}

TEST_F(late, all_that_can_be_in_flight_waits_for_the_first_receive)
{
	struct rclink_dev_cqe cqe;
	long start = now_ms();
	uint32_t i;

	begin(_metadata, self, LATE_SLOW);
	import(_metadata, self, LATE_SLOW);
	for (i = 0; i < LATE_MESSAGES; i++)
		ASSERT_EQ(0, send_number(self, i));
	ASSERT_EQ(0, write_word(self, LATE_MESSAGES));
	ASSERT_EQ(LATE_MESSAGES, rclink_submit(self->chan, 0, 0));
	/* There is no room for the last operation, nor for a later one. */
	usleep(QUIET_MS * 1000);
	EXPECT_EQ(-EBUSY, rclink_submit(self->chan, 1, LIMIT_MS));
	EXPECT_EQ(0, rclink_reap(self->chan, &cqe, 1));
	EXPECT_EQ(0, room(self, 0));
	go(_metadata, LATE_SLOW);
	for (i = 0; i <= LATE_MESSAGES; i++) {
		while (!rclink_reap(self->chan, &cqe, 1)) {
			int ret = rclink_submit(self->chan, 1, LIMIT_MS);

			ASSERT_TRUE(ret >= 0 || ret == -EBUSY);
			ASSERT_GT(LIMIT_MS, now_ms() - start);
			if (ret < 0)
				ASSERT_EQ(1, room(self, LIMIT_MS));
		}
		ASSERT_EQ(0, cqe.status);
		ASSERT_EQ(i, cqe.user_data);
	}
}

/* Unsignaled operations are not reaped, but make room when they complete. */
TEST_F(late, who_fills_it_up_sleeps_until_there_is_room)
{
	uint32_t calls = 0, sent = 0, queued = 0;
	struct rclink_dev_cqe cqe;
	int ret;

	begin(_metadata, self, LATE_SLOW);
	import(_metadata, self, LATE_SLOW);
	while (sent < STREAM) {
		while (queued < STREAM &&
		       !rclink_write(self->chan, rclink_bytes("late", 4),
				     &self->far, PAGE - 4, 0, queued))
			queued++;
		ret = rclink_submit(self->chan, 0, 0);
		ASSERT_TRUE(ret >= 0 || ret == -EBUSY);
		sent += ret > 0 ? ret : 0;
		calls++;
		if (ret < 0)
			ASSERT_EQ(1, room(self, LIMIT_MS));
	}
	EXPECT_EQ(0, rclink_reap(self->chan, &cqe, 1));
	/* poll() reports room once per completion, and not all the time. */
	EXPECT_GT(3 * STREAM, calls);
	ASSERT_EQ(0, write_word(self, 1));
	completes(_metadata, self, 1, 0);
}

TEST_F(late, each_end_waits_for_the_other)
{
	struct rclink_dev_cqe cqe;
	bool heard = false;
	uint32_t i;

	begin(_metadata, self, LATE_SLOW);
	for (i = 0; i < LATE_MESSAGES; i++)
		ASSERT_EQ(0, send_number(self, i));
	ASSERT_EQ(LATE_MESSAGES, rclink_submit(self->chan, 0, 0));
	/* The far end sends before this end has posted a receive. */
	import(_metadata, self, LATE_SLOW);
	listens(_metadata, self);
	hears(_metadata, self, LATE_HELLO);
	waits(_metadata, self);
	go(_metadata, LATE_SLOW);
	listens(_metadata, self);
	/* The answer may come before the last sends are acknowledged. */
	for (i = 0; i < LATE_MESSAGES; i += cqe.op == RCLINK_OP_SEND) {
		EXPECT_LE(0, rclink_submit(self->chan, 1, LIMIT_MS));
		ASSERT_EQ(1, rclink_reap(self->chan, &cqe, 1));
		ASSERT_EQ(0, cqe.status);
		heard |= cqe.op == RCLINK_OP_RECV;
		if (cqe.op == RCLINK_OP_SEND)
			EXPECT_EQ(i, cqe.user_data);
	}
	if (!heard)
		completes(_metadata, self, RECV_TAG, 0);
	EXPECT_EQ(LATE_MESSAGES, self->page[0]);
}

TEST_F(late, a_write_before_it_does_not_wait_and_one_behind_it_does)
{
	uint32_t i;

	begin(_metadata, self, LATE_SLOW);
	import(_metadata, self, LATE_SLOW);
	ASSERT_EQ(0, write_word(self, 100));
	ASSERT_EQ(0, send_number(self, 0));
	ASSERT_EQ(0, write_word(self, 101));
	completes(_metadata, self, 100, 0);
	waits(_metadata, self);
	for (i = 1; i < LATE_MESSAGES - 1; i++)
		ASSERT_EQ(0, write_message(self, i));
	ASSERT_EQ(LATE_MESSAGES - 2, rclink_submit(self->chan, 0, 0));
	go(_metadata, LATE_SLOW);
	completes(_metadata, self, 0, 0);
	completes(_metadata, self, 101, 0);
	ASSERT_EQ(0, write_message(self, i));
	listens(_metadata, self);
	hears(_metadata, self, LATE_HELLO);
	listens(_metadata, self);
	hears(_metadata, self, LATE_MESSAGES);
}

/* A close that waits for the peer is slow each time; a stalled host, once. */
TEST_F(late, who_is_never_heard_can_close)
{
	long before, quickest = LONG_MAX;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		begin(_metadata, self, LATE_SLOW);
		ASSERT_EQ(0, send_number(self, 0));
		waits(_metadata, self);
		before = now_ms();
		rclink_close(self->chan);
		self->chan = NULL;
		if (now_ms() - before < quickest)
			quickest = now_ms() - before;
	}
	EXPECT_GT(CLOSE_MS, quickest);
}

TEST_F(late, when_the_peer_closes_it_is_flushed)
{
	begin(_metadata, self, LATE_GONE);
	ASSERT_EQ(0, send_number(self, 1));
	ASSERT_EQ(0, send_number(self, 2));
	waits(_metadata, self);
	go(_metadata, LATE_GONE);
	completes(_metadata, self, 1, FLUSHED);
	completes(_metadata, self, 2, FLUSHED);
	EXPECT_EQ(-ECONNRESET, rclink_submit(self->chan, 1, LIMIT_MS));
}

TEST_F(late, when_an_operation_before_it_fails_it_is_flushed)
{
	begin(_metadata, self, LATE_NEVER);
	import(_metadata, self, LATE_NEVER);
	go(_metadata, LATE_NEVER);
	ASSERT_EQ(0, write_word(self, 1));
	ASSERT_EQ(0, send_number(self, 2));
	completes(_metadata, self, 1, REMOTE_ACCESS);
	completes(_metadata, self, 2, FLUSHED);
}

TEST_HARNESS_MAIN
