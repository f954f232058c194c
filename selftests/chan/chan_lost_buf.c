// SPDX-License-Identifier: GPL-2.0
/*
 * A device that does not end the registration of a dma-buf which its exporter
 * may move. The buffer stays attached, so the module stays, too: the exporter
 * calls it.
 */
#include <errno.h>

#include "dma.h"
#include "exporter.h"
#include "harness.h"
#include "sim.h"

#define LEN	65536
#define RW	(RCLINK_REGION_WRITE | RCLINK_REGION_READ)

TEST(a_buffer_that_moves_is_kept)
{
	struct exporter e;
	uint32_t region;
	struct rig r;

	ASSERT_EQ(0, dma_begin(&r));
	ASSERT_EQ(0, exporter_new(&e, LEN, EXPORTER_DYNAMIC, 0, 0));
	ASSERT_EQ(0, rclink_dmabuf(r.far, e.fd, 0, LEN, "moves", RW, &region));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "dereg_mr 1 1 -5"));
	EXPECT_EQ(-EIO, rclink_withdraw(r.far, region));
	/* It is still pinned. */
	EXPECT_EQ(-EBUSY, exporter_move(&e));
	rig_end(&r);
	exporter_end(&e);
	EXPECT_EQ(0, sim_del_device("sim0"));
}

TEST_HARNESS_MAIN
