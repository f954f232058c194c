// SPDX-License-Identifier: GPL-2.0
/*
 * A device whose CQ cannot be polled or armed, and a device that does not give
 * a registration back, or is slow to. The first fault is noticed without a
 * heartbeat. Memory that the device goes on using after the second is lost, and
 * nobody else gets it: the simulated device checks that when it is deleted
 * (mr.c). What was given back, it does not use, even for a message that is
 * under way.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "rig.h"
#include "sim.h"

#define NEAR		SIM_NEAR
#define FAR		SIM_FAR
#define WORDS		"pages=16"
#define RARE_MS		60000	/* a heartbeat too rare to notice anything */
#define LIVELY_MS	1000	/* one that notices that the peer is gone */
#define PAGE		4096
#define EXTRA		"extra"
#define EXTRA_SIZE	(33 * PAGE)	/* three registrations */
#define RIGHTS		(RCLINK_REGION_WRITE | RCLINK_REGION_READ)
#define EVER		1000000
#define QUIET_MS	300	/* until an idle link is silent */
#define NOTICED_MS	10000
#define UNDRAINED_S	6	/* until no drain waits for the CQ any more */
#define MORE		3	/* channels; one after another, 5 s each */
#define BACK_MS		12000
#define UNSIGNALED	4	/* too few for the module to signal one */
#define LATE		"delay 1 8 300"	/* each of the next eight sends, ms */

FIXTURE(dev)
{
	struct rig r;
	struct genl_sock pinger;
	int others;		/* objects of other devices */
};

FIXTURE_SETUP(dev)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, rig_begin_sims(r, WORDS));
	ASSERT_EQ(0, rcl_open(&self->pinger));
	self->others = rcl_all_objects();
	r->values.heartbeat = RARE_MS;
	r->values.recover = RCLINK_RECOVER_RESUME;
}

/* The devices work as before, and no object is left that anybody knows of. */
FIXTURE_TEARDOWN(dev)
{
	static const char *const faults[] = {
		"poll_cq", "req_notify_cq", "dereg_mr", "map_mr_sg", "delay",
		"slow_mr", "post_recv",
	};
	struct rig *r = &self->r;
	unsigned int i;

	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		EXPECT_EQ(0, sim_knob(NEAR, "fault", "%s 1 0", faults[i]));
		EXPECT_EQ(0, sim_knob(FAR, "fault", "%s 1 0", faults[i]));
	}
	rig_close(r);
	EXPECT_EQ(0, rig_link(r));
	EXPECT_EQ(0, rig_open(r));
	EXPECT_EQ(0, rig_moves(r, 99));
	genl_close(&self->pinger);
	rig_close(r);
	EXPECT_EQ(0, rcl_clean(&r->s));
	EXPECT_EQ(self->others, rig_until_objects(self->others, BACK_MS));
	rig_end(r);
	EXPECT_EQ(0, sim_del_device(NEAR));
	EXPECT_EQ(0, sim_del_device(FAR));
}

static void goes_down(struct __test_metadata *_metadata,
		      struct _test_data_dev *self)
{
	struct rcl_view view;

	ASSERT_EQ(0, rcl_until(&self->r.s, RIG_NEAR, RCLINK_LINK_STATE_DOWN,
			       NOTICED_MS));
	ASSERT_EQ(0, rcl_view(&self->r.s, RIG_NEAR, &view));
	EXPECT_EQ(RCLINK_DOWN_REASON_QP_FATAL, view.reason)
		TH_LOG("%s", view.reason_text);
}

/* The fault hits the CQ of the control QP when the peer's ping comes in. */
static void link_fails(struct __test_metadata *_metadata,
		       struct _test_data_dev *self, const char *fault,
		       int times)
{
	ASSERT_EQ(0, rig_link(&self->r));
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "%s 1 %d", fault, times));
	ASSERT_EQ(0, rcl_ping(&self->pinger, RIG_FAR, RCLINK_PING_OP_SEND, 8,
			      1, NULL));
	goes_down(_metadata, self);
}

TEST_F(dev, a_link_ends_whose_queue_cannot_be_polled_once)
{
	link_fails(_metadata, self, "poll_cq", 1);
}

TEST_F(dev, a_link_ends_whose_queue_cannot_be_polled)
{
	link_fails(_metadata, self, "poll_cq", EVER);
}

TEST_F(dev, a_link_ends_whose_queue_cannot_be_armed_once)
{
	link_fails(_metadata, self, "req_notify_cq", 1);
}

TEST_F(dev, a_link_ends_whose_queue_cannot_be_armed)
{
	link_fails(_metadata, self, "req_notify_cq", EVER);
}

static int send_late(struct rig *r, uint32_t seed)
{
	int ret;

	far_fill(r->near_memory, seed, PAGE);
	ret = rclink_recv(r->far, rclink_piece(r->far_region, 0, PAGE), 0);
	if (!ret)
		ret = rclink_submit(r->far, 0, 0);
	if (ret < 0)
		return ret;
	ret = sim_knob(NEAR, "fault", LATE);
	if (!ret)
		ret = rclink_send(r->near, rclink_piece(r->near_region, 0,
							PAGE),
				  RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = rclink_submit(r->near, 0, 0);
	return ret < 0 ? ret : 0;
}

/*
 * The fault hits the CQ of a channel while a send is due. The link goes down,
 * and comes up in another epoch.
 */
static void chan_fails(struct __test_metadata *_metadata,
		       struct _test_data_dev *self, const char *fault,
		       int times, bool undrained)
{
	struct rig *r = &self->r;

	r->values.heartbeat = LIVELY_MS;
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, rig_moves(r, 1));
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, send_late(r, 2));
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "%s 1 %d", fault, times));
	/* Looking or waiting for a completion meets the fault. */
	rclink_submit(r->near, 1, 10);
	goes_down(_metadata, self);
	if (undrained)
		sleep(UNDRAINED_S);
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "%s 1 0", fault));
	ASSERT_EQ(0, rcl_until(&r->s, RIG_FAR, RCLINK_LINK_STATE_DOWN,
			       NOTICED_MS));
	ASSERT_EQ(0, rcl_pair(&r->s, RIG_NEAR, RIG_FAR,
			      RCLINK_LINK_STATE_UP));
}

static void chan_goes_on(struct __test_metadata *_metadata,
			 struct _test_data_dev *self)
{
	struct rig *r = &self->r;

	EXPECT_EQ(0, rig_completes(r->near));
	EXPECT_EQ(0, rig_completes(r->far));
	EXPECT_TRUE(far_is(r->far_memory, 2, PAGE));
	EXPECT_EQ(0, rig_moves(r, 3));
}

TEST_F(dev, a_channel_goes_on_whose_queue_could_not_be_polled_once)
{
	chan_fails(_metadata, self, "poll_cq", 1, false);
	chan_goes_on(_metadata, self);
}

TEST_F(dev, a_channel_goes_on_whose_queue_could_not_be_armed_once)
{
	chan_fails(_metadata, self, "req_notify_cq", 1, false);
	chan_goes_on(_metadata, self);
}

TEST_F(dev, a_channel_goes_on_whose_queue_could_not_be_armed)
{
	chan_fails(_metadata, self, "req_notify_cq", EVER, false);
	chan_goes_on(_metadata, self);
}

/* A drain cannot poll the CQ, either; the peer knows the message's fate. */
TEST_F(dev, a_channel_goes_on_whose_queue_could_not_be_polled)
{
	chan_fails(_metadata, self, "poll_cq", EVER, true);
	chan_goes_on(_metadata, self);
}

static void *closes(void *fd)
{
	close(*(int *)fd);
	return NULL;
}

/* The link does not wait for the CQ of one channel after another. */
TEST_F(dev, channels_end_together_whose_queues_cannot_be_polled)
{
	int near[MORE], far[MORE], i;
	struct rig *r = &self->r;
	pthread_t thread[MORE];

	r->values.heartbeat = LIVELY_MS;
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	for (i = 0; i < MORE; i++) {
		near[i] = rig_device();
		ASSERT_LE(0, near[i]);
		ASSERT_EQ(0, rig_connect(near[i], RCLINK_CONNECT_WAIT));
		far[i] = rig_accept(r);
		ASSERT_LE(0, far[i]);
	}
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "poll_cq 1 %d", EVER));
	for (i = 0; i < MORE; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, closes,
					    &near[i]));
	goes_down(_metadata, self);
	for (i = 0; i < MORE; i++) {
		pthread_join(thread[i], NULL);
		close(far[i]);
	}
}

static int write_unsignaled(struct rig *r, int n)
{
	int ret = 0;
	int i;

	for (i = 0; !ret && i < n; i++)
		ret = rclink_write(r->near, rclink_piece(r->near_region, 0, 8),
				   &r->remote, 8 * i, 0, i);
	if (!ret)
		ret = rclink_submit(r->near, 0, 0);
	return ret < 0 ? ret : 0;
}

/* The channel does not go on, and nobody knows what became of the writes. */
TEST_F(dev, what_is_not_signaled_fails_whose_queue_could_not_be_polled)
{
	struct rig *r = &self->r;
	struct rclink_dev_cqe cqe;
	int i;

	r->values.heartbeat = LIVELY_MS;
	r->values.recover = RCLINK_RECOVER_RESET;
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, rig_moves(r, 1));
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, sim_knob(NEAR, "fault", LATE));
	ASSERT_EQ(0, write_unsignaled(r, UNSIGNALED));
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "poll_cq 1 %d", EVER));
	rclink_submit(r->near, 1, 10);
	goes_down(_metadata, self);
	for (i = 0; i < UNSIGNALED; i++) {
		ASSERT_EQ(1, rclink_reap(r->near, &cqe, 1)) TH_LOG("not %d", i);
		EXPECT_EQ((uint64_t)i, cqe.user_data);
		EXPECT_EQ((uint32_t)SIM_FLUSHED, cqe.status);
	}
	EXPECT_EQ(0, rclink_reap(r->near, &cqe, 1));
}

static int write_late(struct rig *r, const struct rclink_remote *to,
		      uint32_t seed)
{
	int ret;

	far_fill(r->near_memory, seed, PAGE);
	ret = sim_knob(NEAR, "fault", LATE);
	if (!ret)
		ret = rclink_write(r->near, rclink_piece(r->near_region, 0,
							 PAGE),
				   to, 0, RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = rclink_submit(r->near, 0, 0);
	return ret < 0 ? ret : 0;
}

/* Registrations have a QP of their own, whose CQ is polled. */
TEST_F(dev, a_registration_fails_whose_queue_cannot_be_polled)
{
	struct rig *r = &self->r;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	usleep(QUIET_MS * 1000);
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "poll_cq 1 %d", EVER));
	EXPECT_NE(0, rclink_memory(r->near, &m, EXTRA_SIZE, EXTRA, RIGHTS,
				   &region));
	goes_down(_metadata, self);
}

static int stick(const char *device, int times)
{
	return sim_knob(device, "fault", "dereg_mr 1 %d -5", times);
}

static int extra(struct rig *r, void **m, uint32_t *region,
		 struct rclink_remote *remote)
{
	int ret = rclink_memory(r->far, m, EXTRA_SIZE, EXTRA, RIGHTS, region);

	return ret ? ret : rclink_import(r->near, EXTRA, remote);
}

/* The device goes on writing to the region, which belongs to nobody else. */
TEST_F(dev, a_region_is_lost_that_is_not_given_back)
{
	struct rclink_remote remote;
	struct rig *r = &self->r;
	uint32_t region;
	long pinned;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, extra(r, &m, &region, &remote));
	pinned = rig_pinned();
	ASSERT_EQ(0, write_late(r, &remote, 4));
	ASSERT_EQ(0, stick(FAR, EVER));
	EXPECT_EQ(-EIO, rclink_withdraw(r->far, region));
	EXPECT_EQ(-ESTALE, rclink_withdraw(r->far, region));
	EXPECT_EQ(pinned, rig_pinned());
	EXPECT_EQ(0, rig_completes(r->near));
	EXPECT_TRUE(far_is(m, 4, PAGE));
	munmap(m, EXTRA_SIZE);

	ASSERT_EQ(0, stick(FAR, 0));
	EXPECT_EQ(-ENOENT, rclink_import(r->near, EXTRA, &remote));
	EXPECT_EQ(0, rig_moves(r, 5));
	ASSERT_EQ(0, extra(r, &m, &region, &remote));
	EXPECT_EQ(0, rclink_withdraw(r->far, region));
	munmap(m, EXTRA_SIZE);
	EXPECT_EQ(pinned, rig_pinned());
}

TEST_F(dev, a_region_is_lost_of_which_one_part_is_not_given_back)
{
	struct rclink_remote remote;
	struct rig *r = &self->r;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, extra(r, &m, &region, &remote));
	ASSERT_EQ(0, sim_knob(FAR, "fault", "dereg_mr 2 1 -5"));
	EXPECT_EQ(-EIO, rclink_withdraw(r->far, region));
	munmap(m, EXTRA_SIZE);
	EXPECT_EQ(0, rig_moves(r, 6));
}

/* The third extent cannot be registered; the first two are not given back. */
TEST_F(dev, a_region_is_lost_that_could_not_be_registered_whole)
{
	struct rig *r = &self->r;
	uint32_t region;
	long pinned;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	pinned = rig_pinned();
	ASSERT_EQ(0, sim_knob(FAR, "fault", "map_mr_sg 3"));
	ASSERT_EQ(0, stick(FAR, EVER));
	EXPECT_EQ(-ENOTRECOVERABLE,
		  rclink_memory(r->far, &m, EXTRA_SIZE, EXTRA, RIGHTS,
				&region));
	EXPECT_EQ(pinned + EXTRA_SIZE / 1024, rig_pinned());
	EXPECT_EQ(0, rig_moves(r, 7));
}

TEST_F(dev, a_channel_ends_of_which_nothing_is_given_back)
{
	struct rig *r = &self->r;
	long pinned;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	pinned = rig_pinned();
	ASSERT_EQ(0, stick(NEAR, EVER));
	ASSERT_EQ(0, stick(FAR, EVER));
	rig_close(r);
	EXPECT_EQ(0, rig_open(r));
	EXPECT_EQ(0, rig_moves(r, 8));
	EXPECT_LT(pinned, rig_pinned());
}

/* The region cannot be registered again, so the channel cannot go on. */
TEST_F(dev, a_channel_does_not_go_on_with_what_is_lost)
{
	struct rig *r = &self->r;

	r->values.heartbeat = LIVELY_MS;
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, stick(FAR, EVER));
	ASSERT_EQ(0, sim_knob(NEAR, "up", "0"));
	ASSERT_EQ(0, rcl_until(&r->s, RIG_NEAR, RCLINK_LINK_STATE_DOWN,
			       NOTICED_MS));
	ASSERT_EQ(0, rcl_until(&r->s, RIG_FAR, RCLINK_LINK_STATE_DOWN,
			       NOTICED_MS));
	ASSERT_EQ(0, sim_knob(NEAR, "up", "1"));
	ASSERT_EQ(0, rcl_pair(&r->s, RIG_NEAR, RIG_FAR,
			      RCLINK_LINK_STATE_UP));
	ASSERT_EQ(0, stick(FAR, 0));
	EXPECT_EQ(-ECONNRESET, rig_moves(r, 9));
	EXPECT_EQ(1, rcl_faults(&r->s, RIG_FAR,
				RCLINK_DOWN_REASON_LOCAL_ERROR));
	EXPECT_EQ(-EIO, rclink_withdraw(r->far, r->far_region));
}

static int share_extra(struct rig *r, struct rclink_share **share, void **m,
		       uint32_t *region, struct rclink_remote *remote)
{
	int ret = rclink_share(share);

	if (!ret)
		ret = rclink_share_memory(*share, m, EXTRA_SIZE, EXTRA, RIGHTS,
					  region);
	return ret ? ret : rclink_import(r->near, EXTRA, remote);
}

TEST_F(dev, a_region_for_all_is_lost_that_one_device_does_not_give_back)
{
	struct rclink_remote remote;
	struct rclink_share *share;
	struct rig *r = &self->r;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, share_extra(r, &share, &m, &region, &remote));
	ASSERT_EQ(0, stick(FAR, EVER));
	EXPECT_EQ(-EIO, rclink_share_withdraw(share, region));
	rclink_share_close(share);
	munmap(m, EXTRA_SIZE);
	EXPECT_EQ(0, rig_moves(r, 10));
}

/* The region is lost with the epoch; withdrawing it later tells so. */
TEST_F(dev, a_region_for_all_is_lost_with_a_link)
{
	struct rclink_remote remote;
	struct rclink_share *share;
	struct rig *r = &self->r;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, share_extra(r, &share, &m, &region, &remote));
	ASSERT_EQ(0, stick(FAR, EVER));
	ASSERT_EQ(0, rcl_del(&r->s, RIG_FAR));
	ASSERT_EQ(0, stick(FAR, 0));
	EXPECT_EQ(-EIO, rclink_share_withdraw(share, region));
	munmap(m, EXTRA_SIZE);
	rclink_share_close(share);
}

/* The write is under way until after the withdrawal, and comes too late. */
static void comes_too_late(struct __test_metadata *_metadata, struct rig *r,
			   const uint8_t *m)
{
	struct rclink_dev_cqe cqe;

	EXPECT_EQ(0, rclink_reap(r->near, &cqe, 1));
	rclink_submit(r->near, 1, slow(NOTICED_MS));
	ASSERT_EQ(1, rclink_reap(r->near, &cqe, 1));
	EXPECT_EQ((uint32_t)SIM_REM_ACCESS_ERR, cqe.status);
	EXPECT_EQ(0xee, m[0]);
	EXPECT_EQ(0, memcmp(m, m + 1, EXTRA_SIZE - 1));
}

TEST_F(dev, a_region_is_withdrawn_while_it_is_written)
{
	struct rclink_remote remote;
	struct rig *r = &self->r;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, extra(r, &m, &region, &remote));
	memset(m, 0xee, EXTRA_SIZE);
	ASSERT_EQ(0, write_late(r, &remote, 11));
	EXPECT_EQ(0, rclink_withdraw(r->far, region));
	comes_too_late(_metadata, r, m);
	munmap(m, EXTRA_SIZE);
}

TEST_F(dev, a_region_for_all_is_withdrawn_while_it_is_written)
{
	struct rclink_remote remote;
	struct rclink_share *share;
	struct rig *r = &self->r;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, share_extra(r, &share, &m, &region, &remote));
	memset(m, 0xee, EXTRA_SIZE);
	ASSERT_EQ(0, write_late(r, &remote, 12));
	EXPECT_EQ(0, rclink_share_withdraw(share, region));
	comes_too_late(_metadata, r, m);
	rclink_share_close(share);
	munmap(m, EXTRA_SIZE);
}

/* The link buffer, which the peer may write to, too. */
TEST_F(dev, a_link_ends_whose_buffer_is_not_given_back)
{
	struct rcl_pong pong;
	struct rig *r = &self->r;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rcl_ping(&self->pinger, RIG_NEAR, RCLINK_PING_OP_WRITE,
			      PAGE, 1, NULL));
	ASSERT_EQ(0, rcl_pong(&self->pinger, &pong, slow(NOTICED_MS)));
	ASSERT_EQ(0, pong.error);
	ASSERT_EQ(0, stick(NEAR, EVER));
	ASSERT_EQ(0, stick(FAR, EVER));
	EXPECT_EQ(0, rcl_clean(&r->s));
	EXPECT_EQ(self->others, rig_until_objects(self->others, BACK_MS));
}

TEST_F(dev, a_device_is_removed_that_gives_nothing_back)
{
	struct rclink_remote remote;
	struct rig *r = &self->r;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, extra(r, &m, &region, &remote));
	ASSERT_EQ(0, stick(FAR, EVER));
	EXPECT_EQ(0, sim_del_device(FAR));
	ASSERT_EQ(0, rig_new_sim(FAR, WORDS));
	EXPECT_EQ(-EIO, rclink_withdraw(r->far, region));
	munmap(m, EXTRA_SIZE);
}

#define MANY		20	/* registrations */
#define SLOW_MS		400	/* the device takes to end each */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void *gives_back(void *arg)
{
	rclink_share_close(arg);
	return NULL;
}

/* The far end's device takes its time: the near end does not wait for it. */
TEST_F(dev, a_link_ends_while_another_one_gives_a_region_back)
{
	struct rclink_remote remote;
	struct rclink_share *share;
	struct rig *r = &self->r;
	double begin, took;
	pthread_t owner;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	ASSERT_EQ(0, rclink_share(&share));
	ASSERT_EQ(0, rclink_share_memory(share, &m, MANY * 16 * PAGE, EXTRA,
					 RIGHTS, &region));
	/* The first import is given back first: that at the far end. */
	ASSERT_EQ(0, rclink_import(r->near, EXTRA, &remote));
	ASSERT_EQ(0, rclink_import(r->far, EXTRA, &remote));
	ASSERT_EQ(0, sim_knob(FAR, "fault", "slow_mr 1 %d %d", EVER, SLOW_MS));
	ASSERT_EQ(0, pthread_create(&owner, NULL, gives_back, share));
	usleep(2 * SLOW_MS * 1000);
	begin = seconds();
	EXPECT_EQ(0, rcl_disconnect(&r->s, RIG_NEAR));
	took = seconds() - begin;
	pthread_join(owner, NULL);
	/* The near end was done long before the far end was. */
	EXPECT_TRUE(2 * took < seconds() - begin)
		TH_LOG("%f of %f s", took, seconds() - begin);
	munmap(m, MANY * 16 * PAGE);
}

/* Not even for -EAGAIN, which elsewhere tells the caller to try again. */
TEST_F(dev, a_receive_that_is_refused_is_not_tried_for_ever)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
	/* Let the control QP post its receives first. */
	usleep(2 * QUIET_MS * 1000);
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "post_recv 1 1 -11"));
	ASSERT_EQ(0, rclink_recv(r->near, rclink_none(), 1));
	EXPECT_EQ(-EIO, rclink_submit(r->near, 1, slow(1000)));
}

TEST_HARNESS_MAIN
