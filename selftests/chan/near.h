/* SPDX-License-Identifier: GPL-2.0 */
/* A near end of far that moves a little data both ways, and has it checked. */
#ifndef NEAR_H
#define NEAR_H

#include <stdint.h>

#include <rclink.h>

#include "far.h"

#define NEAR_SIZE	10000	/* bytes that are moved at a time */

/*
 * What one process has of a channel, which several may have. All return 0 or a
 * negative errno; -EILSEQ if the data is not what it must be.
 */
struct near {
	struct rclink_chan *chan;
	uint8_t *memory;
	uint32_t region;
	struct rclink_remote far;
};

/* Once per channel: far begins. */
int near_greet(struct near *n, struct rclink_chan *chan);
/* By another process, or again. */
int near_join(struct near *n, struct rclink_chan *chan);

/* The next completion. */
int near_next(struct near *n, struct rclink_dev_cqe *cqe);
/* A receive for an answer of far; the next completion is that. */
int near_listens(struct near *n);
int near_hears(struct near *n, struct answer *answer);
/* Has far do something, which is done when it returns. */
int near_tells(struct near *n, struct order order);

/* Tells far what to expect; what is in memory now is sent, and far compares. */
int near_sends(struct near *n, uint32_t seed);
/* Has far fill its memory, reads it, and compares. */
int near_reads(struct near *n, uint32_t seed);
/* Both, with data made from the seed. */
int near_moves(struct near *n, uint32_t seed);

#endif /* NEAR_H */
