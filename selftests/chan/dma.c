// SPDX-License-Identifier: GPL-2.0
#include "dma.h"

#include <errno.h>
#include <string.h>

#include "far.h"
#include "sim.h"

int dma_pair(struct rig *r)
{
	return rcl_pair(&r->s, RIG_NEAR, RIG_FAR, RCLINK_LINK_STATE_UP);
}

int dma_begin(struct rig *r)
{
	int ret;

	/* A test that was ended left them. */
	sim_del_device("sim1");
	sim_del_device("sim0");
	ret = sim_new_device("sim0 ib 1 dma=1");
	if (!ret)
		ret = rig_begin(r);
	if (ret)
		return ret;
	r->values.recover = RCLINK_RECOVER_RESUME;
	ret = rig_link(r);
	return ret ? ret : rig_open(r);
}

int dma_write(struct rig *r, const struct rclink_remote *remote, uint64_t at,
	      uint32_t seed)
{
	int ret;

	far_fill(r->near_memory, seed, RIG_MOVED);
	ret = rclink_write(r->near, rclink_piece(r->near_region, 0, RIG_MOVED),
			   remote, at, RCLINK_SQE_SIGNALED, 0);
	return ret ? ret : rig_completes(r->near);
}

int dma_read(struct rig *r, const struct rclink_remote *remote, uint64_t at,
	     uint32_t seed)
{
	int ret;

	memset(r->near_memory, 0, RIG_MOVED);
	ret = rclink_read(r->near, rclink_piece(r->near_region, 0, RIG_MOVED),
			  remote, at, RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = rig_completes(r->near);
	if (!ret && !far_is(r->near_memory, seed, RIG_MOVED))
		ret = -EILSEQ;
	return ret;
}

bool dma_are(const uint8_t *m, uint8_t byte, size_t len)
{
	return m[0] == byte && !memcmp(m, m + 1, len - 1);
}
