// SPDX-License-Identifier: GPL-2.0
/*
 * Many channels of a link are closed at once, on devices that flush a QP some
 * time after it failed, as irdma does. All flushes together take longer than
 * the peer may be silent, but the link stays up. On simulated devices.
 */
#include <pthread.h>
#include <unistd.h>

#include "harness.h"
#include "rig.h"
#include "sim.h"
#include "slow.h"

#define CHANNELS	30
#define FLUSH_MS	slow(50)
#define HEARTBEAT_MS	slow(200)	/* the peer has three of them */
#define TIMEOUT_S	120

FIXTURE(crowd)
{
	struct rig r;
	pthread_barrier_t barrier;
	struct closer {
		pthread_t thread;
		pthread_barrier_t *barrier;
		int near, far;
	} closer[CHANNELS];
};

FIXTURE_SETUP(crowd)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, rig_begin_sims(r, ""));
	r->values.qps = CHANNELS;
	r->values.heartbeat = HEARTBEAT_MS;
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, pthread_barrier_init(&self->barrier, NULL, CHANNELS));
}

FIXTURE_TEARDOWN(crowd)
{
	pthread_barrier_destroy(&self->barrier);
	rig_end_sims(&self->r);
}

/* Wait for a QP: it can be leased again a moment after a channel was closed. */
static int opens(struct rig *r, struct closer *closer)
{
	int ret;

	closer->near = rig_device();
	if (closer->near < 0)
		return closer->near;
	ret = rig_connect(closer->near, RCLINK_CONNECT_WAIT);
	if (ret)
		return ret;
	closer->far = rig_accept(r);
	return closer->far < 0 ? closer->far : 0;
}

static void *closes(void *arg)
{
	struct closer *closer = arg;

	pthread_barrier_wait(closer->barrier);
	close(closer->near);
	return NULL;
}

static bool is_first(struct rig *r, const char *name)
{
	struct rcl_view view;

	return !rcl_view(&r->s, name, &view) &&
	       view.state == RCLINK_LINK_STATE_UP && view.epoch == 1;
}

TEST_F_TIMEOUT(crowd, the_link_of_many_that_close_at_once_stays, TIMEOUT_S)
{
	struct closer *closer;
	int i;

	for (i = 0; i < CHANNELS; i++)
		ASSERT_EQ(0, opens(&self->r, &self->closer[i]));
	ASSERT_EQ(0, sim_knob(SIM_NEAR, "fault", "slow_flush 1 %d %d", CHANNELS,
			      FLUSH_MS));
	ASSERT_EQ(0, sim_knob(SIM_FAR, "fault", "slow_flush 1 %d %d", CHANNELS,
			      FLUSH_MS));
	for (i = 0; i < CHANNELS; i++) {
		closer = &self->closer[i];
		closer->barrier = &self->barrier;
		ASSERT_EQ(0, pthread_create(&closer->thread, NULL, closes,
					    closer));
	}
	for (i = 0; i < CHANNELS; i++)
		pthread_join(self->closer[i].thread, NULL);
	EXPECT_TRUE(is_first(&self->r, RIG_NEAR));
	EXPECT_TRUE(is_first(&self->r, RIG_FAR));
	for (i = 0; i < CHANNELS; i++) {
		close(self->closer[i].far);
		ASSERT_EQ(0, opens(&self->r, &self->closer[i]));
	}
	EXPECT_TRUE(is_first(&self->r, RIG_NEAR));
	EXPECT_TRUE(is_first(&self->r, RIG_FAR));
	for (i = 0; i < CHANNELS; i++) {
		close(self->closer[i].near);
		close(self->closer[i].far);
	}
}

TEST_HARNESS_MAIN
