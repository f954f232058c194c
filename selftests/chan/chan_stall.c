// SPDX-License-Identifier: GPL-2.0
/*
 * The QP of a channel fails while its link does not. If channels go on in
 * another epoch, the module asks for a rotation of the link, and the channel
 * goes on in the new epoch: every message that was in flight arrives exactly
 * once, and what came after the failure is carried out. If nobody rotates the
 * link, the channel ends, and its completion tells why it failed; the same
 * happens if the QP fails again at once. Where a rotation would end channels,
 * no other failure asks for one, either. On simulated devices.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "rig.h"
#include "sim.h"

#define MESSAGES	4
#define FULL		RCLINK_DEV_SENDS
#define QUIET_MS	300	/* no rotation is asked for in that time */
#define LIMIT_MS	slow(20000)
#define POLL_MS		10
#define PATIENCE_S	10	/* until a stalled channel ends */
#define EXTENT		(16 * 4096)	/* one registration of the device */
#define TIMEOUT_S	120

FIXTURE(channel)
{
	struct rig r;
	struct genl_sock events;
	struct genl_sock owner;		/* brings up the next epoch */
	struct timespec posted;		/* before the failing send */
};

/* Faults of the near device: its second (or first) send from now on. */
#define NOT_ANSWERED	"send 2 1 12"
#define NOT_SENT	"send 2 1 2"
#define FIRST_NOT_ANSWERED	"send 1 1 12"
/* The message arrives; the acknowledgments of it and of its retry are lost. */
#define NOT_ACKNOWLEDGED	"lose_ack 2 2"

/* The message has not arrived, and its acknowledgment is forged. */
#define SWALLOWED	"swallow 2"

/* The near device's driver refuses the next send. */
#define NOT_TAKEN	"post_send 1 1 -12"
/* The near device's driver refuses the second of the next two sends. */
#define ONE_NOT_TAKEN	"post_send 2 1 -12"

/* The far device's next send or receive fails through its consumer's fault. */
#define TOO_LONG	"send 1 1 1"
#define NO_MEMORY	"recv 1 1 2"

/* The near device delays its next send until the poster has returned. */
#define NOT_AT_ONCE	"delay 1 1 300"

FIXTURE_SETUP(channel)
{
	struct rig *r = &self->r;

	self->owner.fd = -1;
	self->events.fd = -1;
	ASSERT_EQ(0, rig_begin_sims(r, "pages=16"));
	/* A heartbeat could be what fails. */
	r->values.heartbeat = 0;
	r->values.recover = RCLINK_RECOVER_RESUME;
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, rcl_open(&self->owner));
	ASSERT_EQ(0, rcl_open(&self->events));
	ASSERT_EQ(0, genl_join(&self->events));
}

FIXTURE_TEARDOWN(channel)
{
	if (self->owner.fd >= 0)
		genl_close(&self->owner);
	if (self->events.fd >= 0)
		genl_close(&self->events);
	rig_end_sims(&self->r);
}

static int receives(struct rig *r, int n)
{
	int ret = 0;
	int i;

	for (i = 0; !ret && i < n; i++)
		ret = rclink_recv(r->far, rclink_piece(r->far_region, 64 * i,
						       64), i);
	if (!ret)
		ret = rclink_submit(r->far, 0, 0);
	return ret < 0 ? ret : 0;
}

/* Each message has its number as user data, and as the seed of its data. */
static int sends(struct rig *r, int first, int n)
{
	int ret = 0;
	int i;

	for (i = first; !ret && i < first + n; i++) {
		far_fill(r->near_memory + 64 * i, i, 64);
		ret = rclink_send(r->near, rclink_piece(r->near_region, 64 * i,
							64),
				  RCLINK_SQE_SIGNALED, i);
	}
	if (!ret)
		ret = rclink_submit(r->near, 0, 0);
	return ret < 0 ? ret : 0;
}

static void completes(struct __test_metadata *_metadata,
		      struct rclink_chan *chan, int number, int status)
{
	struct rclink_dev_cqe cqe = { 0 };

	EXPECT_LE(0, rclink_submit(chan, 1, LIMIT_MS));
	ASSERT_EQ(1, rclink_reap(chan, &cqe, 1)) TH_LOG("not %d", number);
	EXPECT_EQ((uint64_t)number, cqe.user_data);
	EXPECT_STREQ(rclink_status_name(status),
		     rclink_status_name(cqe.status));
}

/* The first message arrives; the pause lets everything about it settle. */
static void one_arrives(struct __test_metadata *_metadata, struct rig *r)
{
	ASSERT_EQ(0, sends(r, 0, 1));
	completes(_metadata, r->near, 0, 0);
	completes(_metadata, r->far, 0, 0);
	usleep(QUIET_MS * 1000);
}

/* One message goes through first, so that nothing else can meet the fault. */
static void fail(struct __test_metadata *_metadata,
		 struct _test_data_channel *self, const char *fault)
{
	struct rig *r = &self->r;

	memset(r->far_memory, 0, RIG_MEMORY);
	ASSERT_EQ(0, receives(r, MESSAGES));
	one_arrives(_metadata, r);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "%s", fault));
	clock_gettime(CLOCK_MONOTONIC, &self->posted);
	ASSERT_EQ(0, sends(r, 1, MESSAGES - 1));
	/* The message before the one that fails. */
	completes(_metadata, r->near, 1, 0);
	completes(_metadata, r->far, 1, 0);
}

static bool is_up_in(struct rig *r, const char *name, uint64_t epoch)
{
	struct rcl_view view;

	return !rcl_view(&r->s, name, &view) &&
	       view.state == RCLINK_LINK_STATE_UP && view.epoch == epoch;
}

/* The remaining messages arrive in order, and nothing else does. */
static void goes_on(struct __test_metadata *_metadata,
		    struct _test_data_channel *self)
{
	struct rig *r = &self->r;
	struct rclink_dev_cqe cqe;
	int i;

	for (i = 2; i < MESSAGES; i++) {
		completes(_metadata, r->near, i, 0);
		completes(_metadata, r->far, i, 0);
		EXPECT_TRUE(far_is(r->far_memory + 64 * i, i, 64));
	}
	EXPECT_EQ(-ETIME, rclink_submit(r->far, 1, QUIET_MS));
	EXPECT_EQ(0, rclink_reap(r->far, &cqe, 1));
	EXPECT_EQ(0, rclink_reap(r->near, &cqe, 1));
}

/*
 * The failed send and those behind it complete in order, but not before the
 * time in which the channel could have moved to another epoch is over.
 */
static void ends(struct __test_metadata *_metadata,
		 struct _test_data_channel *self, int status, uint64_t epoch)
{
	struct rig *r = &self->r;
	struct timespec end;
	int i;

	completes(_metadata, r->near, 2, status);
	clock_gettime(CLOCK_MONOTONIC, &end);
	EXPECT_LE(PATIENCE_S - 2, end.tv_sec - self->posted.tv_sec);
	for (i = 3; i < MESSAGES; i++)
		completes(_metadata, r->near, i, SIM_FLUSHED);
	EXPECT_EQ(-ECONNRESET, rclink_submit(r->near, 1, LIMIT_MS));
	EXPECT_TRUE(is_up_in(r, RIG_NEAR, epoch));
	EXPECT_TRUE(is_up_in(r, RIG_FAR, epoch));
	rig_close(r);
	/* The link has a QP for another channel. */
	ASSERT_EQ(0, rig_open(r));
	EXPECT_EQ(0, rig_moves(r, 3));
}

static void moves(struct __test_metadata *_metadata,
		  struct _test_data_channel *self, const char *fault)
{
	fail(_metadata, self, fault);
	ASSERT_STREQ(RIG_NEAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	ASSERT_STREQ(RIG_FAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	ASSERT_EQ(0, rig_rotate(&self->owner));
	goes_on(_metadata, self);
	EXPECT_TRUE(is_up_in(&self->r, RIG_NEAR, 2));
	EXPECT_TRUE(is_up_in(&self->r, RIG_FAR, 2));
}

TEST_F_TIMEOUT(channel, goes_on_where_it_was_not_answered, TIMEOUT_S)
{
	moves(_metadata, self, NOT_ANSWERED);
}

TEST_F_TIMEOUT(channel, goes_on_where_its_device_did_not_send, TIMEOUT_S)
{
	moves(_metadata, self, NOT_SENT);
}

TEST_F_TIMEOUT(channel, sends_nothing_again_that_arrived, TIMEOUT_S)
{
	moves(_metadata, self, NOT_ACKNOWLEDGED);
}

/* The QP is known to be dead: what comes now waits for the next one. */
TEST_F_TIMEOUT(channel, carries_out_what_came_after_the_failure, TIMEOUT_S)
{
	struct rig *r = &self->r;
	int i;

	fail(_metadata, self, NOT_ANSWERED);
	ASSERT_STREQ(RIG_NEAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	ASSERT_STREQ(RIG_FAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	far_fill(r->near_memory + 1024, 9, 64);
	ASSERT_EQ(0, rclink_write(r->near, rclink_piece(r->near_region, 1024,
							64),
				  &r->remote, 1024, RCLINK_SQE_SIGNALED, 9));
	ASSERT_LE(0, rclink_submit(r->near, 0, 0));
	ASSERT_EQ(0, rig_rotate(&self->owner));
	for (i = 2; i < MESSAGES; i++) {
		completes(_metadata, r->near, i, 0);
		completes(_metadata, r->far, i, 0);
	}
	completes(_metadata, r->near, 9, 0);
	EXPECT_TRUE(far_is(r->far_memory + 1024, 9, 64));
}

/*
 * The far end keeps back a message, for which there is no receive, and a write
 * behind it. That the near end asks whether it is there does not change that.
 */
TEST_F_TIMEOUT(channel, keeps_back_what_waits_for_a_receive, TIMEOUT_S)
{
	struct rig *r = &self->r;
	struct rclink_remote back;
	uint32_t region;
	void *addr;

	ASSERT_EQ(0, rclink_memory(r->near, &addr, 4096, "back",
				   RCLINK_REGION_WRITE, &region));
	ASSERT_EQ(0, rclink_import(r->far, "back", &back));
	far_fill(r->far_memory, 6, 128);
	ASSERT_EQ(0, rclink_send(r->far, rclink_piece(r->far_region, 0, 64),
				 RCLINK_SQE_SIGNALED, 7));
	ASSERT_EQ(0, rclink_write(r->far, rclink_piece(r->far_region, 0, 128),
				  &back, 0, RCLINK_SQE_SIGNALED, 8));
	ASSERT_LE(0, rclink_submit(r->far, 0, 0));
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "%s", FIRST_NOT_ANSWERED));
	ASSERT_EQ(0, rclink_write(r->near, rclink_piece(r->near_region, 0, 64),
				  &r->remote, 1024, RCLINK_SQE_SIGNALED, 1));
	ASSERT_LE(0, rclink_submit(r->near, 0, 0));
	ASSERT_STREQ(RIG_NEAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	ASSERT_STREQ(RIG_FAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	/* Nor does a receive that is posted to the failed QP. */
	ASSERT_EQ(0, rclink_recv(r->near, rclink_piece(r->near_region, 0, 64),
				 5));
	ASSERT_LE(0, rclink_submit(r->near, 0, 0));
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, rig_rotate(&self->owner));
	completes(_metadata, r->near, 1, RCLINK_STATUS_UNKNOWN);
	completes(_metadata, r->far, 7, 0);
	completes(_metadata, r->far, 8, 0);
	completes(_metadata, r->near, 5, 0);
	EXPECT_TRUE(far_is(r->near_memory, 6, 64));
	EXPECT_TRUE(far_is(addr, 6, 128));
	munmap(addr, 4096);
}

/* Do not submit: a submission would itself look for room. */
static void reaps(struct __test_metadata *_metadata, struct rig *r, int n)
{
	struct pollfd fd = { .fd = rclink_fd(r->near), .events = POLLIN };
	struct rclink_dev_cqe cqe;

	while (n) {
		ASSERT_EQ(1, poll(&fd, 1, LIMIT_MS)) TH_LOG("%d left", n);
		for (; n && rclink_reap(r->near, &cqe, 1) == 1; n--)
			EXPECT_EQ(0, cqe.status);
	}
}

/* A later send would arrive without the refused one that precedes it. */
TEST_F_TIMEOUT(channel, what_follows_what_the_device_refused_is_flushed,
	       TIMEOUT_S)
{
	struct rig *r = &self->r;
	struct pollfd fd = { .fd = rclink_fd(r->far), .events = POLLIN };

	ASSERT_EQ(0, receives(r, 3));
	one_arrives(_metadata, r);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "%s", NOT_TAKEN));
	ASSERT_EQ(0, sends(r, 1, 1));
	completes(_metadata, r->near, 1, SIM_GENERAL);
	ASSERT_EQ(0, sends(r, 2, 1));
	completes(_metadata, r->near, 2, SIM_FLUSHED);
	EXPECT_EQ(0, poll(&fd, 1, QUIET_MS));
}

/* Any one of the n sends from first on completes. */
static void completes_one_of(struct __test_metadata *_metadata,
			     struct rclink_chan *chan, int first,
			     const int *status, int n, unsigned int *seen)
{
	struct rclink_dev_cqe cqe = { 0 };

	EXPECT_LE(0, rclink_submit(chan, 1, LIMIT_MS));
	ASSERT_EQ(1, rclink_reap(chan, &cqe, 1));
	ASSERT_LE((uint64_t)first, cqe.user_data);
	ASSERT_GT((uint64_t)first + n, cqe.user_data);
	EXPECT_STREQ(rclink_status_name(status[cqe.user_data - first]),
		     rclink_status_name(cqe.status))
		TH_LOG("of %d", (int)cqe.user_data);
	*seen |= 1U << cqe.user_data;
}

/*
 * The device refuses a send in the middle of a submission. What it had taken
 * before arrives, although it may complete later; the sends behind the refused
 * one do not arrive.
 */
TEST_F_TIMEOUT(channel, what_is_refused_among_others_parts_them, TIMEOUT_S)
{
	static const int status[] = { 0, SIM_GENERAL, SIM_FLUSHED };
	struct rig *r = &self->r;
	struct pollfd fd = { .fd = rclink_fd(r->far), .events = POLLIN };
	struct rclink_dev_cqe cqe;
	unsigned int seen = 0;
	uint64_t ops;
	int i;

	ASSERT_EQ(0, receives(r, MESSAGES + 1));
	one_arrives(_metadata, r);
	ops = rcl_stat(&r->s, RIG_NEAR, RCLINK_A_STATS_CHAN_OPS);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "%s", ONE_NOT_TAKEN));
	ASSERT_EQ(0, sends(r, 1, 3));
	for (i = 0; i < 3; i++)
		completes_one_of(_metadata, r->near, 1, status, 3, &seen);
	EXPECT_EQ(0xe, seen);
	completes(_metadata, r->far, 1, 0);
	EXPECT_TRUE(far_is(r->far_memory + 64, 1, 64));
	ASSERT_EQ(0, sends(r, 4, 1));
	completes(_metadata, r->near, 4, SIM_FLUSHED);
	EXPECT_EQ(0, poll(&fd, 1, QUIET_MS));
	EXPECT_EQ(0, rclink_reap(r->near, &cqe, 1));
	EXPECT_EQ(1, rcl_stat(&r->s, RIG_NEAR, RCLINK_A_STATS_CHAN_ERRORS));
	EXPECT_EQ(ops + 1, rcl_stat(&r->s, RIG_NEAR, RCLINK_A_STATS_CHAN_OPS));
	/* The channel goes on in no other epoch. */
	ASSERT_EQ(0, rig_rotate(&self->owner));
	EXPECT_EQ(-ECONNRESET, rclink_submit(r->near, 1, LIMIT_MS));
	for (i = 2; i < MESSAGES + 1; i++)
		completes(_metadata, r->far, i, SIM_FLUSHED);
}

/* In the new epoch as many complete as in the old one until it was full. */
TEST_F_TIMEOUT(channel, has_room_after_all_of_it_has_completed, TIMEOUT_S)
{
	struct rig *r = &self->r;
	struct pollfd fd = { .fd = rclink_fd(r->near), .events = POLLOUT };
	int i;

	ASSERT_EQ(0, receives(r, FULL));
	ASSERT_EQ(0, sends(r, 0, FULL));
	for (i = 0; i < FULL; i++)
		completes(_metadata, r->far, i, 0);
	reaps(_metadata, r, FULL);
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, receives(r, FULL + 1));
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "%s", FIRST_NOT_ANSWERED));
	ASSERT_EQ(0, sends(r, 0, FULL + 1));
	ASSERT_EQ(-EBUSY, rclink_submit(r->near, 0, 0));
	EXPECT_EQ(0, poll(&fd, 1, 0));
	ASSERT_STREQ(RIG_NEAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	ASSERT_STREQ(RIG_FAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	ASSERT_EQ(0, rig_rotate(&self->owner));
	reaps(_metadata, r, FULL);
	EXPECT_EQ(1, poll(&fd, 1, LIMIT_MS));
	EXPECT_EQ(1, rclink_submit(r->near, 0, 0));
	for (i = 0; i <= FULL; i++)
		completes(_metadata, r->far, i, 0);
}

TEST_F_TIMEOUT(channel, ends_where_nobody_rotates_the_link, TIMEOUT_S)
{
	fail(_metadata, self, NOT_SENT);
	ends(_metadata, self, SIM_LOC_QP_OP_ERR, 1);
}

/* The consumer hears of its own failure at once, and nothing is rotated. */
TEST_F_TIMEOUT(channel, ends_where_a_receive_had_no_memory, TIMEOUT_S)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, receives(r, 2));
	one_arrives(_metadata, r);
	ASSERT_EQ(0, sim_knob(SIM_FAR, "fault", "%s", NO_MEMORY));
	ASSERT_EQ(0, sends(r, 1, 1));
	completes(_metadata, r->far, 1, SIM_LOC_QP_OP_ERR);
	completes(_metadata, r->near, 1, SIM_REM_OP_ERR);
	EXPECT_STREQ("", rcl_to_be_rotated(&self->events, QUIET_MS));
}

/* Another epoch would not help: the channel has failed at the other end. */
TEST_F_TIMEOUT(channel, ends_where_the_other_end_has_failed, TIMEOUT_S)
{
	struct rig *r = &self->r;
	struct timespec begin, end;

	memset(r->far_memory, 0, RIG_MEMORY);
	ASSERT_EQ(0, receives(r, MESSAGES));
	ASSERT_EQ(0, rclink_recv(r->near, rclink_piece(r->near_region, 1024,
						       64), 8));
	one_arrives(_metadata, r);
	ASSERT_EQ(0, sim_knob(SIM_FAR, "fault", "%s", TOO_LONG));
	ASSERT_EQ(0, rclink_send(r->far, rclink_piece(r->far_region, 1024, 64),
				 RCLINK_SQE_SIGNALED, 7));
	ASSERT_LE(0, rclink_submit(r->far, 0, 0));
	completes(_metadata, r->far, 7, SIM_LOC_LEN_ERR);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	ASSERT_EQ(0, sends(r, 1, 1));
	completes(_metadata, r->near, 1, SIM_RETRY_EXCEEDED);
	clock_gettime(CLOCK_MONOTONIC, &end);
	EXPECT_GT(PATIENCE_S - 2, end.tv_sec - begin.tv_sec);
	completes(_metadata, r->near, 8, SIM_FLUSHED);
	EXPECT_EQ(-ECONNRESET, rclink_submit(r->near, 1, LIMIT_MS));
	EXPECT_STREQ("", rcl_to_be_rotated(&self->events, QUIET_MS));
}

/*
 * The polled channel has not seen the failure: the end of the epoch finds it.
 */
TEST_F_TIMEOUT(channel, ends_with_the_epoch_after_a_failure_of_its_own,
	       TIMEOUT_S)
{
	struct rig *r = &self->r;

	rig_close(r);
	r->flags = RCLINK_CHAN_POLLED;
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, receives(r, 2));
	one_arrives(_metadata, r);
	ASSERT_EQ(0, sim_knob(SIM_FAR, "fault", "%s", NO_MEMORY));
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "%s", NOT_AT_ONCE));
	ASSERT_EQ(0, sends(r, 1, 1));
	completes(_metadata, r->far, 1, SIM_LOC_QP_OP_ERR);
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "up", "0"));
	ASSERT_EQ(0, rcl_until(&r->s, RIG_NEAR, RCLINK_LINK_STATE_DOWN,
			       LIMIT_MS));
	completes(_metadata, r->near, 1, SIM_REM_OP_ERR);
	EXPECT_EQ(-ECONNRESET, rclink_submit(r->near, 1, QUIET_MS));
}

TEST_F_TIMEOUT(channel, is_not_rescued_again_at_once, TIMEOUT_S)
{
	moves(_metadata, self, NOT_ANSWERED);
	fail(_metadata, self, NOT_ANSWERED);
	EXPECT_STREQ("", rcl_to_be_rotated(&self->events, QUIET_MS));
	ends(_metadata, self, SIM_RETRY_EXCEEDED, 2);
}

/*
 * The message behind the lost one comes with a PSN that is too high. When
 * another epoch is to mend that, the far end says how many messages it has got.
 */
TEST_F_TIMEOUT(channel, ends_where_a_message_was_lost, TIMEOUT_S)
{
	struct rig *r = &self->r;
	struct rclink_dev_cqe cqe;
	int i;

	fail(_metadata, self, SWALLOWED);
	completes(_metadata, r->near, 2, 0);
	ASSERT_STREQ(RIG_NEAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	ASSERT_EQ(0, rig_rotate(&self->owner));
	completes(_metadata, r->near, 3, SIM_RETRY_EXCEEDED);
	EXPECT_EQ(-ECONNRESET, rclink_submit(r->near, 1, LIMIT_MS));
	/* It never goes on: nothing arrives. */
	for (i = 2; i < MESSAGES; i++)
		completes(_metadata, r->far, i, SIM_FLUSHED);
	EXPECT_EQ(-ECONNRESET, rclink_submit(r->far, 1, LIMIT_MS));
	EXPECT_EQ(0, rclink_reap(r->near, &cqe, 1));
	EXPECT_TRUE(is_up_in(r, RIG_NEAR, 2));
	EXPECT_TRUE(is_up_in(r, RIG_FAR, 2));
	rig_close(r);
	ASSERT_EQ(0, rig_open(r));
	EXPECT_EQ(0, rig_moves(r, 3));
}

/* A write of two work requests, and as many sends behind it as fit. */
static int fills(struct rig *r, const struct rclink_remote *extra)
{
	int ret;
	int i;

	far_fill(r->near_memory + 64, 1, 128);
	ret = rclink_write_imm(r->near, rclink_piece(r->near_region, 64, 128),
			       extra, EXTENT - 64, 1, RCLINK_SQE_SIGNALED, 1);
	for (i = 2; !ret && i < RCLINK_DEV_SENDS; i++)
		ret = rclink_send(r->near, rclink_none(), RCLINK_SQE_SIGNALED,
				  i);
	if (!ret)
		ret = rclink_submit(r->near, 0, 0);
	return ret < 0 ? ret : 0;
}

/* The second work request of the write fails; the first keeps its place. */
TEST_F_TIMEOUT(channel, goes_on_where_an_operation_failed_in_its_middle,
	       TIMEOUT_S)
{
	struct rig *r = &self->r;
	struct pollfd first = { rclink_fd(r->near), POLLIN };
	struct rclink_remote extra;
	uint32_t region;
	void *addr;
	int i;

	ASSERT_EQ(0, rclink_memory(r->far, &addr, 2 * EXTENT, "extra",
				   RCLINK_REGION_WRITE, &region));
	ASSERT_EQ(0, rclink_import(r->near, "extra", &extra));
	for (i = 0; i <= RCLINK_DEV_SENDS; i++)
		ASSERT_EQ(0, rclink_recv(r->far, rclink_none(), i));
	ASSERT_LE(0, rclink_submit(r->far, 0, 0));
	ASSERT_EQ(0, rclink_send(r->near, rclink_none(), RCLINK_SQE_SIGNALED,
				 0));
	completes(_metadata, r->near, 0, 0);
	completes(_metadata, r->far, 0, 0);
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "%s", NOT_ANSWERED));
	ASSERT_EQ(0, fills(r, &extra));
	ASSERT_STREQ(RIG_NEAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	ASSERT_STREQ(RIG_FAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	/* The completion of the write is still due, so all places are taken. */
	ASSERT_EQ(0, rclink_send(r->near, rclink_none(), RCLINK_SQE_SIGNALED,
				 RCLINK_DEV_SENDS));
	EXPECT_EQ(-EBUSY, rclink_submit(r->near, 0, 0));
	ASSERT_EQ(0, rig_rotate(&self->owner));
	/* After the rotation there is room for another send. */
	ASSERT_EQ(1, poll(&first, 1, LIMIT_MS));
	for (i = 1; i <= RCLINK_DEV_SENDS; i++) {
		completes(_metadata, r->near, i, 0);
		completes(_metadata, r->far, i, 0);
	}
	EXPECT_TRUE(far_is((uint8_t *)addr + EXTENT - 64, 1, 128));
	EXPECT_TRUE(is_up_in(r, RIG_NEAR, 2));
	munmap(addr, 2 * EXTENT);
}

/* Set what the link's channels do from the next epoch on. */
static int set_recover(struct rig *r, const char *name, uint32_t recover)
{
	struct genl_msg m;

	genl_begin(&m, &r->s, RCLINK_CMD_LINK_SET);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u32(&m, RCLINK_A_LINK_RECOVER, recover);
	return genl_ask(&r->s, &m, NULL, NULL);
}

static bool comes_up_in(struct rig *r, uint64_t epoch)
{
	int ms;

	for (ms = LIMIT_MS; ms > 0; ms -= POLL_MS) {
		if (is_up_in(r, RIG_NEAR, epoch) &&
		    is_up_in(r, RIG_FAR, epoch))
			return true;
		usleep(POLL_MS * 1000);
	}
	return false;
}

/* Open another channel in @epoch, with the far end's policy set to @recover. */
static void opens_in(struct __test_metadata *_metadata,
		     struct _test_data_channel *self, uint32_t recover,
		     uint64_t epoch)
{
	struct rig *r = &self->r;

	rig_close(r);
	ASSERT_EQ(0, set_recover(r, RIG_FAR, recover));
	ASSERT_EQ(0, rig_rotate(&self->owner));
	ASSERT_TRUE(comes_up_in(r, epoch));
	ASSERT_EQ(0, rig_open(r));
}

/* The device reports an access error of a QP that nobody leases. */
static void is_refused_access(struct __test_metadata *_metadata,
			      struct rig *r)
{
	struct rcl_end end;

	ASSERT_EQ(0, rcl_local(&r->s, RIG_NEAR, &end));
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "event", "%d %u", SIM_QP_ACCESS_ERR,
			      end.qp[end.nqps - 1].qpn));
}

/*
 * An access error asks for a rotation, but not where that would end the peer's
 * channels: the peer's answer to HEARS has told so.
 */
TEST_F_TIMEOUT(channel, goes_on_whatever_befalls_others_where_the_peer_resets,
	       TIMEOUT_S)
{
	struct rig *r = &self->r;

	opens_in(_metadata, self, RCLINK_RECOVER_RESET, 2);
	ASSERT_EQ(0, rclink_recv(r->near, rclink_none(), 0));
	ASSERT_LE(0, rclink_submit(r->near, 0, 0));
	usleep(QUIET_MS * 1000);
	is_refused_access(_metadata, r);
	EXPECT_STREQ("", rcl_to_be_rotated(&self->events, QUIET_MS));
	EXPECT_EQ(0, rig_moves(r, 5));
	opens_in(_metadata, self, RCLINK_RECOVER_RESUME, 3);
	is_refused_access(_metadata, r);
	EXPECT_STREQ(RIG_NEAR, rcl_to_be_rotated(&self->events, LIMIT_MS));
	EXPECT_EQ(0, rig_moves(r, 7));
}

TEST_HARNESS_MAIN
