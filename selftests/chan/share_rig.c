// SPDX-License-Identifier: GPL-2.0
#include "share_rig.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "far.h"
#include "slow.h"

#define DONE_MS		20000

uint8_t *share_map(size_t len)
{
	uint8_t *m = mmap(NULL, len, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return m == MAP_FAILED ? NULL : m;
}

int share_begin(struct share_rig *s)
{
	int ret;

	memset(s, 0, sizeof(*s));
	s->memory = share_map(SHARE_LEN);
	if (!s->memory)
		return -ENOMEM;
	ret = rig_begin(&s->r);
	s->r.values.timeout = 19;
	/* A busy machine could miss a heartbeat. */
	s->r.values.heartbeat = 0;
	s->r.values.recover = RCLINK_RECOVER_RESUME;
	if (!ret)
		ret = rig_link(&s->r);
	if (!ret)
		ret = rig_open(&s->r);
	return ret ? ret : rclink_share(&s->share);
}

void share_end(struct share_rig *s)
{
	rclink_share_close(s->share);
	rig_end(&s->r);
	munmap(s->memory, SHARE_LEN);
}

int share_offer(struct share_rig *s, unsigned int rights)
{
	return rclink_share_region(s->share, s->memory, SHARE_LEN, SHARE_NAME,
				   rights, &s->region);
}

int share_import(struct share_rig *s)
{
	int ret = rclink_import(s->r.near, SHARE_NAME, &s->near);

	return ret ? ret : rclink_import(s->r.far, SHARE_NAME, &s->far);
}

int share_offer_and_import(struct share_rig *s)
{
	int ret = share_offer(s, SHARE_RIGHTS);

	return ret ? ret : share_import(s);
}

/* Write bytes made of the seed to the region, from the memory @from. */
static int write_over(struct rclink_chan *chan, uint32_t region, uint8_t *from,
		      const struct rclink_remote *to, uint64_t at,
		      uint32_t seed)
{
	int ret;

	far_fill(from, seed, RIG_MOVED);
	ret = rclink_write(chan, rclink_piece(region, 0, RIG_MOVED), to, at,
			   RCLINK_SQE_SIGNALED, 0);
	return ret ? ret : rig_completes(chan);
}

static int read_over(struct rclink_chan *chan, uint32_t region, uint8_t *to,
		     const struct rclink_remote *from, uint64_t at,
		     uint32_t seed)
{
	int ret;

	memset(to, 0, RIG_MOVED);
	ret = rclink_read(chan, rclink_piece(region, 0, RIG_MOVED), from, at,
			  RCLINK_SQE_SIGNALED, 0);
	if (!ret)
		ret = rig_completes(chan);
	return ret ? ret : far_is(to, seed, RIG_MOVED) ? 0 : -EILSEQ;
}

int share_near_writes(struct share_rig *s, uint64_t at, uint32_t seed)
{
	return write_over(s->r.near, s->r.near_region,
			  s->r.near_memory, &s->near, at, seed);
}

int share_far_writes(struct share_rig *s, uint64_t at, uint32_t seed)
{
	return write_over(s->r.far, s->r.far_region, s->r.far_memory,
			  &s->far, at, seed);
}

int share_near_reads(struct share_rig *s, uint64_t at, uint32_t seed)
{
	return read_over(s->r.near, s->r.near_region,
			 s->r.near_memory, &s->near, at, seed);
}

int share_far_reads(struct share_rig *s, uint64_t at, uint32_t seed)
{
	return read_over(s->r.far, s->r.far_region, s->r.far_memory,
			 &s->far, at, seed);
}

/* Write and read from both ends; the owner sees what was written. */
int share_moves(struct share_rig *s, const uint8_t *memory, uint64_t at,
		uint32_t seed)
{
	int ret = share_near_writes(s, at, seed);

	if (!ret && memory && !far_is(memory + at, seed, RIG_MOVED))
		ret = -EILSEQ;
	if (!ret)
		ret = share_far_reads(s, at, seed);
	if (!ret)
		ret = share_far_writes(s, at, seed + 1);
	if (!ret && memory && !far_is(memory + at, seed + 1, RIG_MOVED))
		ret = -EILSEQ;
	return ret ? ret : share_near_reads(s, at, seed + 1);
}

uint32_t share_write_fails(struct rclink_chan *chan, uint32_t region,
			   const struct rclink_remote *to)
{
	struct rclink_dev_cqe cqe = { .status = UINT32_MAX };

	if (rclink_write(chan, rclink_piece(region, 0, RIG_MOVED), to, 0,
			 RCLINK_SQE_SIGNALED, 0))
		return UINT32_MAX;
	rclink_submit(chan, 1, slow(DONE_MS));
	rclink_reap(chan, &cqe, 1);
	return cqe.status;
}
