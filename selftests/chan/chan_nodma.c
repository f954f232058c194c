// SPDX-License-Identifier: GPL-2.0
/* A device without DMA of its own says that it cannot reach a dma-buf. */
#include <errno.h>

#include "harness.h"
#include "rig.h"
#include "udmabuf.h"

#define LEN	(4 * 4096)

FIXTURE(nodma)
{
	struct rig r;
	struct udmabuf u;
};

FIXTURE_SETUP(nodma)
{
	ASSERT_EQ(0, rig_begin(&self->r));
	ASSERT_EQ(0, rig_link(&self->r));
	ASSERT_EQ(0, rig_open(&self->r));
	ASSERT_EQ(0, udmabuf_new(&self->u, LEN));
}

FIXTURE_TEARDOWN(nodma)
{
	rig_end(&self->r);
	udmabuf_end(&self->u);
}

/* The process can register its own mapping instead. */
TEST_F(nodma, a_device_without_dma_refuses_a_dma_buf)
{
	int attached = udmabuf_attached(), count = udmabuf_count();
	uint32_t region;

	ASSERT_LE(1, count);
	EXPECT_EQ(-EOPNOTSUPP, rclink_dmabuf(self->r.far, self->u.fd, 0, LEN,
					     NULL, 0, &region));
	EXPECT_EQ(-EOPNOTSUPP, rclink_dmabuf(self->r.far, self->u.fd, 0, LEN,
					     "dmabuf", RCLINK_REGION_READ,
					     &region));
	EXPECT_EQ(attached, udmabuf_attached());
	EXPECT_EQ(count, udmabuf_count());
	EXPECT_EQ(0, rig_moves(&self->r, 1));
	/* The name is still free. */
	EXPECT_EQ(0, rclink_region(self->r.far, self->u.memory, LEN, "dmabuf",
				   RCLINK_REGION_READ, &region));
}

TEST_HARNESS_MAIN
