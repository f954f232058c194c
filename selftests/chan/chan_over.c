// SPDX-License-Identifier: GPL-2.0
/*
 * The far end sends a message, hears that it has arrived, and closes. However
 * the near end hears that the channel has ended, it finds the message then,
 * though its device is slow with the QP. On simulated devices.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "rig.h"
#include "sim.h"

#define LEN		64
#define STEP_MS		4000	/* of the slow step; a drain may take 5 s */
#define DRAINED		1	/* the QP goes to ERR */
#define RENEWED		2	/* a new QP is made in its place */
#define LIMIT_MS	slow(20000)
#define TIMEOUT_S	60

FIXTURE(over)
{
	struct rig r;
};

FIXTURE_VARIANT(over)
{
	uint32_t recover;
};

FIXTURE_VARIANT_ADD(over, reset) {
	.recover = RCLINK_RECOVER_RESET,
};

FIXTURE_VARIANT_ADD(over, resume) {
	.recover = RCLINK_RECOVER_RESUME,
};

FIXTURE_SETUP(over)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, rig_begin_sims(r, ""));
	r->values.recover = variant->recover;
	/* The link has no time for heartbeats meanwhile. */
	r->values.heartbeat = 0;
	/* The message stays in the CQ until the near end looks. */
	r->flags = RCLINK_CHAN_POLLED;
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
}

FIXTURE_TEARDOWN(over)
{
	rig_end_sims(&self->r);
}

/* Close the far end, and wait until the near end's QP is going to ERR. */
static bool begins_to_end(struct rig *r, int step)
{
	long before = sim_seen(SIM_NEAR, "slow_qp");
	int ms;

	if (sim_knob(SIM_NEAR, "fault", "slow_qp %d 1 %d", step,
		     STEP_MS))
		return false;
	rclink_close(r->far);
	r->far = NULL;
	for (ms = LIMIT_MS; ms > 0; ms--) {
		if (sim_seen(SIM_NEAR, "slow_qp") > before)
			return true;
		usleep(1000);
	}
	return false;
}

static void has_sent(struct __test_metadata *_metadata, struct rig *r, int step)
{
	ASSERT_EQ(0, rclink_recv(r->near, rclink_piece(r->near_region, 0, LEN),
				 1));
	ASSERT_EQ(1, rclink_submit(r->near, 0, 0));
	far_fill(r->far_memory, 1, LEN);
	ASSERT_EQ(0, rclink_send(r->far, rclink_piece(r->far_region, 0, LEN),
				 RCLINK_SQE_SIGNALED, 2));
	ASSERT_EQ(0, rig_completes(r->far));
	ASSERT_TRUE(begins_to_end(r, step));
}

static void finds_it(struct __test_metadata *_metadata, struct rig *r)
{
	struct rclink_dev_cqe cqe = { 0 };

	ASSERT_EQ(1, rclink_reap(r->near, &cqe, 1));
	EXPECT_EQ(1, cqe.user_data);
	EXPECT_EQ(0, cqe.status);
	EXPECT_TRUE(far_is(r->near_memory, 1, LEN));
	EXPECT_EQ(0, rclink_reap(r->near, &cqe, 1));
}

static int queues(struct rig *r)
{
	return rclink_recv(r->near, rclink_piece(r->near_region, LEN, LEN), 3);
}

TEST_F_TIMEOUT(over, who_submits_and_waits, TIMEOUT_S)
{
	has_sent(_metadata, &self->r, DRAINED);
	ASSERT_EQ(0, queues(&self->r));
	EXPECT_EQ(-ECONNRESET, rclink_submit(self->r.near, 1, 0));
	finds_it(_metadata, &self->r);
}

TEST_F_TIMEOUT(over, who_submits_and_does_not_wait, TIMEOUT_S)
{
	has_sent(_metadata, &self->r, DRAINED);
	ASSERT_EQ(0, queues(&self->r));
	EXPECT_EQ(-ECONNRESET, rclink_submit(self->r.near, 0, 0));
	finds_it(_metadata, &self->r);
}

/* The end takes longer than the drain, and is not waited for. */
TEST_F_TIMEOUT(over, who_does_not_wait_for_the_next_qp, TIMEOUT_S)
{
	struct pollfd fd = { .fd = rclink_fd(self->r.near) };

	has_sent(_metadata, &self->r, RENEWED);
	ASSERT_EQ(0, queues(&self->r));
	EXPECT_EQ(-ECONNRESET, rclink_submit(self->r.near, 0, 0));
	finds_it(_metadata, &self->r);
	EXPECT_EQ(0, poll(&fd, 1, 0));
}

TEST_F_TIMEOUT(over, who_submits_nothing_again_and_again, TIMEOUT_S)
{
	int ret, ms = LIMIT_MS;

	has_sent(_metadata, &self->r, DRAINED);
	while (!(ret = rclink_submit(self->r.near, 0, 0)) && ms--)
		usleep(1000);
	EXPECT_EQ(-ECONNRESET, ret);
	finds_it(_metadata, &self->r);
}

/* A consumer with an empty ring hears of the end as the others do. */
TEST_F_TIMEOUT(over, who_submits_all_and_has_nothing, TIMEOUT_S)
{
	int fd = rclink_fd(self->r.near), ms = LIMIT_MS, ret;
	struct rclink_dev_submit all;

	has_sent(_metadata, &self->r, DRAINED);
	all = (struct rclink_dev_submit){ .count = RCLINK_DEV_DEPTH };
	EXPECT_EQ(0, ioctl(fd, RCLINK_IOC_SUBMIT, &all));
	do {
		all.count = RCLINK_DEV_DEPTH;
		ret = ioctl(fd, RCLINK_IOC_SUBMIT, &all);
	} while (!ret && ms-- && !usleep(1000));
	EXPECT_EQ(-1, ret);
	EXPECT_EQ(ECONNRESET, errno);
	finds_it(_metadata, &self->r);
}

/* The entry stays queued, and the next call says what has become of it. */
TEST_F_TIMEOUT(over, who_waits_for_less_long, TIMEOUT_S)
{
	has_sent(_metadata, &self->r, DRAINED);
	ASSERT_EQ(0, queues(&self->r));
	EXPECT_EQ(-ETIME, rclink_submit(self->r.near, 1, 1));
	EXPECT_EQ(-ECONNRESET, rclink_submit(self->r.near, 1, LIMIT_MS));
	finds_it(_metadata, &self->r);
}

TEST_F_TIMEOUT(over, who_only_waits, TIMEOUT_S)
{
	has_sent(_metadata, &self->r, DRAINED);
	EXPECT_EQ(0, rclink_submit(self->r.near, 1, LIMIT_MS));
	finds_it(_metadata, &self->r);
}

TEST_F_TIMEOUT(over, who_registers_memory, TIMEOUT_S)
{
	uint32_t region;

	has_sent(_metadata, &self->r, DRAINED);
	EXPECT_EQ(-ECONNRESET, rclink_region(self->r.near, self->r.far_memory,
					     LEN, NULL, 0, &region));
	finds_it(_metadata, &self->r);
}

TEST_F_TIMEOUT(over, who_imports, TIMEOUT_S)
{
	struct rclink_remote remote;

	has_sent(_metadata, &self->r, DRAINED);
	EXPECT_EQ(-ECONNRESET, rclink_import(self->r.near, RIG_REGION,
					     &remote));
	finds_it(_metadata, &self->r);
}

TEST_F_TIMEOUT(over, who_polls, TIMEOUT_S)
{
	struct pollfd fd = { .fd = rclink_fd(self->r.near) };

	has_sent(_metadata, &self->r, DRAINED);
	ASSERT_EQ(1, poll(&fd, 1, LIMIT_MS));
	EXPECT_TRUE(fd.revents & POLLHUP);
	finds_it(_metadata, &self->r);
}

TEST_HARNESS_MAIN
