/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A share, on a rig: two links of one host, each of which leads to the other.
 * The near channel imports by way of link b, the far one by way of a. Functions
 * return 0 or a negative errno; -EILSEQ for wrong data.
 */
#ifndef SHARE_RIG_H
#define SHARE_RIG_H

#include "rig.h"

#define SHARE_LEN	RIG_MEMORY
#define SHARE_NAME	"all"
#define SHARE_RIGHTS	(RCLINK_REGION_WRITE | RCLINK_REGION_READ | \
			 RCLINK_REGION_ATOMIC)

struct share_rig {
	struct rig r;
	struct rclink_share *share;
	uint8_t *memory;		/* SHARE_LEN bytes */
	uint32_t region;
	struct rclink_remote near, far;	/* the same region, over both */
};

/* Both links are up, with a channel; the share has no region yet. */
int share_begin(struct share_rig *s);
void share_end(struct share_rig *s);

/* Map memory, still without pages; NULL if that fails. */
uint8_t *share_map(size_t len);

/* Export the rig's memory as SHARE_NAME; import it over both links; or both. */
int share_offer(struct share_rig *s, unsigned int rights);
int share_import(struct share_rig *s);
int share_offer_and_import(struct share_rig *s);

/* Write RIG_MOVED bytes made of the seed, or read and check them. */
int share_near_writes(struct share_rig *s, uint64_t at, uint32_t seed);
int share_far_writes(struct share_rig *s, uint64_t at, uint32_t seed);
int share_near_reads(struct share_rig *s, uint64_t at, uint32_t seed);
int share_far_reads(struct share_rig *s, uint64_t at, uint32_t seed);
/* All of these; after each write, check @memory unless it is NULL. */
int share_moves(struct share_rig *s, const uint8_t *memory, uint64_t at,
		uint32_t seed);

/* Write once, and return the status; an error ends the channel. */
uint32_t share_write_fails(struct rclink_chan *chan, uint32_t region,
			   const struct rclink_remote *to);

#endif /* SHARE_RIG_H */
