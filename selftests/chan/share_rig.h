/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A region for all links, on a rig: two links of one host, each of which leads
 * to the other. The near channel imports by way of link b, the far one by way
 * of a. Functions return 0 or a negative errno; -EILSEQ for data that is not
 * what it must be.
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

/* Both links are up, with a channel; nothing is exported to all yet. */
int share_begin(struct share_rig *s);
void share_end(struct share_rig *s);

/* Memory that is not there yet, or NULL. */
uint8_t *share_map(size_t len);

/* The rig's memory under the rig's name. */
int share_offer(struct share_rig *s, unsigned int rights);
int share_import(struct share_rig *s);
int share_offer_and_import(struct share_rig *s);

/* RIG_MOVED bytes made of the seed. */
int share_near_writes(struct share_rig *s, uint64_t at, uint32_t seed);
int share_far_writes(struct share_rig *s, uint64_t at, uint32_t seed);
int share_near_reads(struct share_rig *s, uint64_t at, uint32_t seed);
int share_far_reads(struct share_rig *s, uint64_t at, uint32_t seed);
/* All of these; @memory, if it is there, has what was written. */
int share_moves(struct share_rig *s, const uint8_t *memory, uint64_t at,
		uint32_t seed);

/* The status of the next write; the channel ends if there is one. */
uint32_t share_write_fails(struct rclink_chan *chan, uint32_t region,
			   const struct rclink_remote *to);

#endif /* SHARE_RIG_H */
