/* SPDX-License-Identifier: GPL-2.0 */
/* A near end for far.c: it moves a little data both ways, and checks it. */
#ifndef NEAR_H
#define NEAR_H

#include <stdint.h>

#include <rclink.h>

#include "far.h"

#define NEAR_SIZE	10000	/* bytes that are moved at a time */

/*
 * One process's part of a channel, which several processes may use. All the
 * functions return 0 or a negative errno; -EILSEQ if the data is wrong.
 */
struct near {
	struct rclink_chan *chan;
	uint8_t *memory;
	uint32_t region;
	struct rclink_remote far;
};

/* Once per channel: export FAR_NEAR, and wait until far begins. */
int near_greet(struct near *n, struct rclink_chan *chan);
/* Use the same channel by another process, or again. */
int near_join(struct near *n, struct rclink_chan *chan);

/* The next completion. */
int near_next(struct near *n, struct rclink_dev_cqe *cqe);
/* Post a receive for an answer of far; take it as the next completion. */
int near_listens(struct near *n);
int near_hears(struct near *n, struct answer *answer);
/* Give far an order, which is carried out on return. */
int near_tells(struct near *n, struct order order);

/* Tell far what to expect, send what is in memory now, and have far compare. */
int near_sends(struct near *n, uint32_t seed);
/* Have far fill its memory, read it, and compare. */
int near_reads(struct near *n, uint32_t seed);
/* Both, with data made from the seed. */
int near_moves(struct near *n, uint32_t seed);

#endif /* NEAR_H */
