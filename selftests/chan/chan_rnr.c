// SPDX-License-Identifier: GPL-2.0
/*
 * The far end of a channel posts one receive and no more: the next SEND waits
 * as long as rnr-retry of the link says. The link itself never notices; where
 * the device does not give up, heartbeats show whether the link lives.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "rig.h"

#define RNR_EXCEEDED	13		/* of enum ib_wc_status */
#define FLUSHED		5
#define FOR_EVER	7
#define DEAF_MS		3000		/* longer than 6 RNR retries take */
#define DEAF_LONG_MS	30000
#define BEAT_MS		slow(1000)
#define TIMEOUT		19		/* of a link, 2 s for each try */
#define TIMEOUT_MOST	31		/* two hours */
#define LIMIT_MS	slow(20000)
#define SPIN		80		/* percent; a busy loop takes all */
#define TIMEOUT_S	90

FIXTURE(deaf)
{
	struct rig r;
};

FIXTURE_VARIANT(deaf)
{
	uint32_t rnr_retry;
};

FIXTURE_VARIANT_ADD(deaf, at_once) {
	.rnr_retry = 0,
};

FIXTURE_VARIANT_ADD(deaf, soon) {
	.rnr_retry = 3,
};

FIXTURE_VARIANT_ADD(deaf, never) {
	.rnr_retry = FOR_EVER,
};

static int begin(struct rig *r, uint32_t rnr_retry)
{
	int ret = rig_begin(r);

	r->values.rnr_retry = rnr_retry;
	/* For rxe a late answer is as bad as none; see testing.rst. */
	r->values.timeout = TIMEOUT;
	return ret;
}

FIXTURE_SETUP(deaf)
{
	ASSERT_EQ(0, begin(&self->r, variant->rnr_retry));
	ASSERT_EQ(0, rig_link(&self->r));
	ASSERT_EQ(0, rig_open(&self->r));
}

FIXTURE_TEARDOWN(deaf)
{
	rig_end(&self->r);
}

static void receive(struct __test_metadata *_metadata, struct rig *r, int n)
{
	ASSERT_EQ(0, rclink_recv(r->far, rclink_piece(r->far_region, 64 * n,
						      64), n));
	ASSERT_EQ(1, rclink_submit(r->far, 0, 0));
}

static void sends(struct __test_metadata *_metadata, struct rig *r, int n)
{
	far_fill(r->near_memory + 64 * n, n, 64);
	ASSERT_EQ(0, rclink_send(r->near, rclink_piece(r->near_region, 64 * n,
						       64),
				 RCLINK_SQE_SIGNALED, n));
	ASSERT_EQ(1, rclink_submit(r->near, 0, 0));
}

static void completes(struct __test_metadata *_metadata,
		      struct rclink_chan *chan, uint64_t n, uint32_t status)
{
	struct rclink_dev_cqe cqe = { 0 };

	EXPECT_LE(0, rclink_submit(chan, 1, LIMIT_MS));
	ASSERT_EQ(1, rclink_reap(chan, &cqe, 1));
	EXPECT_EQ(n, cqe.user_data);
	EXPECT_STREQ(rclink_status_name(status),
		     rclink_status_name(cqe.status));
}

/* Time spent since the last call, @ms ago, in percent of one processor. */
static long busy_percent(long ms)
{
	unsigned long long user, nice, sys, idle, iowait, irq, softirq;
	static unsigned long long before;
	unsigned long long now;
	FILE *in = fopen("/proc/stat", "r");
	long percent;
	int n;

	if (!in)
		return -1;
	n = fscanf(in, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice,
		   &sys, &idle, &iowait, &irq, &softirq);
	fclose(in);
	if (n != 7)
		return -1;
	now = user + nice + sys + irq + softirq;
	percent = ms ? (now - before) * 1000 / sysconf(_SC_CLK_TCK) * 100 / ms :
		  0;
	before = now;
	return percent;
}

static void up(struct __test_metadata *_metadata, struct rig *r)
{
	struct rcl_view view;

	ASSERT_EQ(0, rcl_view(&r->s, RIG_NEAR, &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
	EXPECT_EQ(1, view.epoch);
}

/* The far end posts one receive, which the first message takes. */
static void one_gets_through(struct __test_metadata *_metadata, struct rig *r)
{
	receive(_metadata, r, 0);
	sends(_metadata, r, 0);
	completes(_metadata, r->near, 0, 0);
	completes(_metadata, r->far, 0, 0);
}

/* After the channel is closed, another one works on the same link. */
static void another_one_moves(struct __test_metadata *_metadata, struct rig *r)
{
	rig_close(r);
	ASSERT_EQ(0, rig_open(r));
	EXPECT_EQ(0, rig_moves(r, 1));
	up(_metadata, r);
}

TEST_F(deaf, a_send_without_a_receive_waits_as_long_as_it_is_told)
{
	struct rig *r = &self->r;

	one_gets_through(_metadata, r);
	sends(_metadata, r, 1);
	if (variant->rnr_retry == FOR_EVER) {
		EXPECT_EQ(-ETIME, rclink_submit(r->near, 1, DEAF_MS));
		receive(_metadata, r, 1);
		completes(_metadata, r->near, 1, 0);
		completes(_metadata, r->far, 1, 0);
		EXPECT_TRUE(far_is(r->far_memory + 64, 1, 64));
	} else {
		completes(_metadata, r->near, 1, RNR_EXCEEDED);
	}
	another_one_moves(_metadata, r);
}

FIXTURE(patient)
{
	struct rig r;
};

/*
 * A pooled QP has six tries at most, and in rxe of 6.1 an RNR NAK does not stop
 * their timer. Once, on a busy host, that ended the wait; hence the timeout.
 */
FIXTURE_SETUP(patient)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, begin(r, FOR_EVER));
	r->values.retry = FOR_EVER;
	r->values.timeout = TIMEOUT_MOST;
	r->values.heartbeat = BEAT_MS;
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
}

FIXTURE_TEARDOWN(patient)
{
	rig_end(&self->r);
}

/* Of both ends; each sends the next one only after an answer. */
static uint64_t heartbeats(struct rig *r)
{
	return rcl_stat(&r->s, RIG_NEAR, RCLINK_A_STATS_HEARTBEATS) +
	       rcl_stat(&r->s, RIG_FAR, RCLINK_A_STATS_HEARTBEATS);
}

TEST_F_TIMEOUT(patient, who_waits_for_ever_is_told_of_the_end_of_the_link,
	       TIMEOUT_S)
{
	struct rig *r = &self->r;
	uint64_t beats;
	long percent;

	one_gets_through(_metadata, r);
	sends(_metadata, r, 1);
	beats = heartbeats(r);
	busy_percent(0);
	EXPECT_EQ(-ETIME, rclink_submit(r->near, 1, DEAF_LONG_MS));
	percent = busy_percent(DEAF_LONG_MS);
	EXPECT_TRUE(percent >= 0 && percent < SPIN)
		TH_LOG("%ld %% of a processor", percent);
	up(_metadata, r);
	/* One heartbeat an interval is enough for both ends; it may be late. */
	EXPECT_LE(DEAF_LONG_MS / BEAT_MS / 2, heartbeats(r) - beats);
	ASSERT_EQ(0, rcl_disconnect(&r->s, RIG_FAR));
	completes(_metadata, r->near, 1, FLUSHED);
	ASSERT_EQ(0, rcl_until(&r->s, RIG_NEAR, RCLINK_LINK_STATE_DOWN, 5000));
}

TEST_HARNESS_MAIN
