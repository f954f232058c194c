// SPDX-License-Identifier: GPL-2.0
/*
 * A device that keeps a QP when it is to be destroyed. All that the QP may
 * still use stays, and the module does; the core warns if the CQ or the PD is
 * freed.
 */
#include "harness.h"
#include "rig.h"
#include "sim.h"

#define NEAR		SIM_NEAR
#define FAR		SIM_FAR
#define WORDS		"pages=16"
#define PAGE		4096
#define EVER		1000000
#define NOTICED_MS	10000

FIXTURE(dev)
{
	struct rig r;
};

FIXTURE_SETUP(dev)
{
	ASSERT_EQ(0, rig_begin_sims(&self->r, WORDS));
	ASSERT_EQ(0, rig_link(&self->r));
	ASSERT_EQ(0, rig_open(&self->r));
	ASSERT_EQ(0, rig_moves(&self->r, 1));
}

static int set(const char *fault, int times)
{
	int ret = sim_knob(NEAR, "fault", "%s 1 %d", fault, times);

	return ret ? ret : sim_knob(FAR, "fault", "%s 1 %d", fault, times);
}

/* New links work, and the devices can be deleted. */
FIXTURE_TEARDOWN(dev)
{
	struct rig *r = &self->r;

	EXPECT_EQ(0, set("poll_cq", 0));
	EXPECT_EQ(0, set("destroy_qp", 0));
	rig_close(r);
	EXPECT_EQ(0, rig_link(r));
	EXPECT_EQ(0, rig_open(r));
	EXPECT_EQ(0, rig_moves(r, 2));
	rig_close(r);
	EXPECT_EQ(0, rcl_clean(&r->s));
	rig_end(r);
	EXPECT_EQ(0, sim_del_device(NEAR));
	EXPECT_EQ(0, sim_del_device(FAR));
}

/* The next channel leases another QP. */
TEST_F(dev, that_of_a_channel_is_kept)
{
	ASSERT_EQ(0, set("destroy_qp", 1));
	rig_close(&self->r);
	EXPECT_EQ(0, rig_open(&self->r));
	EXPECT_EQ(0, rig_moves(&self->r, 3));
}

TEST_F(dev, all_of_a_link_are_kept)
{
	ASSERT_EQ(0, set("destroy_qp", EVER));
	EXPECT_EQ(0, rcl_clean(&self->r.s));
}

/* The epoch has no other QP that registers memory, so it ends. */
TEST_F(dev, that_which_registers_is_kept)
{
	struct rig *r = &self->r;
	uint32_t region;
	void *m;

	ASSERT_EQ(0, set("poll_cq", EVER));
	ASSERT_EQ(0, set("destroy_qp", 1));
	EXPECT_NE(0, rclink_memory(r->near, &m, PAGE, "extra",
				   RCLINK_REGION_READ, &region));
	EXPECT_EQ(0, rcl_until(&r->s, RIG_NEAR, RCLINK_LINK_STATE_DOWN,
			       NOTICED_MS));
}

TEST_F(dev, those_of_a_link_that_cannot_be_made_are_kept)
{
	rig_close(&self->r);
	ASSERT_EQ(0, rcl_clean(&self->r.s));
	ASSERT_EQ(0, set("destroy_qp", EVER));
	ASSERT_EQ(0, sim_knob(NEAR, "fault", "create_qp 3"));
	EXPECT_NE(0, rig_link(&self->r));
}

TEST_F(dev, the_device_goes_that_keeps_them)
{
	ASSERT_EQ(0, set("destroy_qp", EVER));
	EXPECT_EQ(0, sim_del_device(FAR));
	EXPECT_EQ(0, rig_new_sim(FAR, WORDS));
}

TEST_HARNESS_MAIN
