// SPDX-License-Identifier: GPL-2.0
/*
 * Channels on devices that do what some drivers of hardware do: they tell of a
 * flush only by an event of the QP, or refuse what they have taken.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "rig.h"
#include "sim.h"

#define PAGE		4096
#define LATE_MS		300	/* of a delayed packet */
#define DONE_MS		20000
#define QUIET_MS	100	/* nothing more completes for so long */
#define RECEIVES	1000	/* user data of those that get nothing */
#define RIGHTS		(RCLINK_REGION_WRITE | RCLINK_REGION_READ)
#define NEAR		SIM_NEAR
#define FAR		SIM_FAR
#define EXTRA		"extra"

/* Nothing but the channel posts work requests, and meets a fault. */
static int begin(struct rig *r)
{
	int ret = rig_begin_sims(r, "");

	r->values.heartbeat = 0;
	r->values.recover = RCLINK_RECOVER_RESET;
	return ret;
}

/* The CQ says nothing of what is flushed because the peer broke a rule. */
TEST(a_device_that_tells_of_an_error_only_by_an_event_is_heard)
{
	struct rclink_remote remote;
	struct rclink_dev_cqe cqe;
	uint32_t region;
	int64_t since;
	struct rig r;

	ASSERT_EQ(0, begin(&r));
	ASSERT_EQ(0, rig_link(&r));
	ASSERT_EQ(0, rig_open(&r));
	ASSERT_EQ(0, rclink_region(r.far, r.far_memory, PAGE, EXTRA, RIGHTS,
				   &region));
	ASSERT_EQ(0, rclink_import(r.near, EXTRA, &remote));
	ASSERT_EQ(0, rclink_recv(r.far, rclink_piece(r.far_region, 0, PAGE),
				 3));
	ASSERT_EQ(1, rclink_submit(r.far, 0, 0));
	ASSERT_EQ(0, rclink_withdraw(r.far, region));
	ASSERT_EQ(0, sim_knob(FAR, "fault", "quiet_flush 1"));
	/* By then the far end waits. */
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "delay 1 1 %d", LATE_MS));
	ASSERT_EQ(0, rclink_write(r.near, rclink_piece(r.near_region, 0, 8),
				  &remote, 0, RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(1, rclink_submit(r.near, 0, 0));
	since = rcl_now_ms();
	EXPECT_LE(0, rclink_submit(r.far, 1, slow(DONE_MS)));
	/* It finds the completion in any case when its time is over. */
	EXPECT_GT(slow(DONE_MS) / 2, rcl_now_ms() - since);
	ASSERT_EQ(1, rclink_reap(r.far, &cqe, 1));
	EXPECT_EQ(3, cqe.user_data);
	EXPECT_STREQ("work request flushed error",
		     rclink_status_name(cqe.status));
	rig_end_sims(&r);
}

static const char *taken_status(int nth, int taken)
{
	return nth < taken ? "success" : nth == taken ? "general error" :
	       "work request flushed error";
}

/* Three WRITEs; the device refuses number @taken, but carries it out. */
static void three_writes(struct __test_metadata *_metadata, struct rig *r,
			 int taken)
{
	const uint8_t *there = r->far_memory + 8 * (taken - 1);
	struct rclink_dev_cqe cqe[4];
	int i, ms = slow(DONE_MS);
	bool seen[3] = { false };

	far_fill(r->near_memory, taken, 8);
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "send_taken %d", taken));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, rclink_write(r->near,
					  rclink_piece(r->near_region, 0, 8),
					  &r->remote, 8 * i,
					  RCLINK_SQE_SIGNALED, i));
	EXPECT_LE(0, rclink_submit(r->near, 3, ms));
	for (; !far_is(there, taken, 8) && ms > 0; ms--)
		usleep(1000);
	EXPECT_TRUE(far_is(there, taken, 8));
	/* Its completion must not be taken for another one's, either. */
	rclink_submit(r->near, 4, QUIET_MS);
	ASSERT_EQ(3, rclink_reap(r->near, cqe, 4));
	for (i = 0; i < 3; i++) {
		uint64_t nth = cqe[i].user_data;

		ASSERT_GT(3, nth);
		ASSERT_FALSE(seen[nth]);
		seen[nth] = true;
		EXPECT_STREQ(taken_status(nth + 1, taken),
			     rclink_status_name(cqe[i].status));
	}
}

/* A send completes once, even if a device carries out what it has refused. */
TEST(a_device_that_refuses_what_it_has_taken_ends_one_channel)
{
	struct rig r;
	int i;

	ASSERT_EQ(0, begin(&r));
	ASSERT_EQ(0, rig_link(&r));
	for (i = 1; i <= 3; i++) {
		ASSERT_EQ(0, rig_open(&r));
		three_writes(_metadata, &r, i);
		rig_close(&r);
	}
	ASSERT_EQ(0, rig_open(&r));
	EXPECT_EQ(0, rig_moves(&r, 5));
	rig_end_sims(&r);
}

/* Fill the queue of receives: another one has completions looked for. */
static int fill_receives(struct rig *r)
{
	int i, ret = 0;

	for (i = 0; i < RCLINK_DEV_RECVS && !ret; i++)
		ret = rclink_recv(r->near, rclink_piece(r->near_region, PAGE,
							8), RECEIVES);
	return ret ? ret : rclink_submit(r->near, 0, 0);
}

/* The next one has the number that the refused one had. */
TEST(a_send_that_was_refused_is_not_taken_for_one_that_waits)
{
	struct rclink_dev_cqe cqe[RCLINK_DEV_RECVS];
	int i, n, ms = slow(DONE_MS), times[2] = { 0 };
	struct rig r;

	ASSERT_EQ(0, begin(&r));
	r.flags = RCLINK_CHAN_POLLED;
	ASSERT_EQ(0, rig_link(&r));
	ASSERT_EQ(0, rig_open(&r));
	ASSERT_LE(0, fill_receives(&r));
	far_fill(r.near_memory, 7, 8);
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "send_taken 1"));
	ASSERT_EQ(0, rclink_write(r.near, rclink_piece(r.near_region, 0, 8),
				  &r.remote, 0, RCLINK_SQE_SIGNALED, 0));
	rclink_submit(r.near, 0, 0);
	for (; !far_is(r.far_memory, 7, 8) && ms > 0; ms--)
		usleep(1000);
	ASSERT_TRUE(far_is(r.far_memory, 7, 8));
	/* Until it completes, of which nothing tells. */
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, rclink_write(r.near, rclink_piece(r.near_region, 0, 8),
				  &r.remote, 0, RCLINK_SQE_SIGNALED, 1));
	ASSERT_EQ(0, rclink_recv(r.near, rclink_piece(r.near_region, PAGE, 8),
				 RECEIVES));
	rclink_submit(r.near, 0, 0);
	n = rclink_reap(r.near, cqe, RCLINK_DEV_RECVS);
	for (i = 0; i < n; i++) {
		ASSERT_GT(2, cqe[i].user_data);
		times[cqe[i].user_data]++;
		EXPECT_STREQ(cqe[i].user_data ? "work request flushed error" :
						"general error",
			     rclink_status_name(cqe[i].status));
	}
	EXPECT_EQ(1, times[0]);
	EXPECT_EQ(1, times[1]);
	rig_close(&r);
	ASSERT_EQ(0, rig_open(&r));
	EXPECT_EQ(0, rig_moves(&r, 5));
	rig_end_sims(&r);
}

TEST(a_device_that_fills_a_receive_it_has_refused_ends_one_channel)
{
	struct rclink_dev_cqe cqe;
	struct rig r;

	ASSERT_EQ(0, begin(&r));
	ASSERT_EQ(0, rig_link(&r));
	ASSERT_EQ(0, rig_open(&r));
	ASSERT_EQ(0, rig_sends(&r));
	ASSERT_EQ(0, sim_knob(FAR, "fault", "recv_taken 1"));
	ASSERT_EQ(0, rclink_recv(r.far, rclink_piece(r.far_region, 0, PAGE),
				 1));
	EXPECT_EQ(-ENOMEM, rclink_submit(r.far, 0, 0));
	ASSERT_EQ(0, rclink_send(r.near, rclink_piece(r.near_region, 0, 8),
				 RCLINK_SQE_SIGNALED, 0));
	EXPECT_EQ(0, rig_completes(r.near));
	rclink_submit(r.far, 1, QUIET_MS);
	EXPECT_EQ(0, rclink_reap(r.far, &cqe, 1));
	rig_close(&r);
	ASSERT_EQ(0, rig_open(&r));
	EXPECT_EQ(0, rig_moves(&r, 5));
	rig_end_sims(&r);
}

TEST_HARNESS_MAIN
