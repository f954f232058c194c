/* SPDX-License-Identifier: GPL-2.0 */
/* One channel of chaos.c: data goes both ways and must arrive exactly once. */
#ifndef CHAOS_H
#define CHAOS_H

#include <stdbool.h>
#include <stdint.h>

#include <rclink.h>

struct chaos_sums {
	uint64_t sent;
	uint64_t received;
	uint64_t lost;		/* a number was left out */
	uint64_t duplicated;	/* a number came again */
	uint64_t corrupt;	/* a message, or the data written before it */
	uint64_t fadds;		/* that completed */
	uint64_t unknown;	/* whose outcome nobody knows */
	uint64_t suspended;	/* times that nothing could be posted */
};

struct chaos_chan {
	struct rclink_chan *chan;
	struct rclink_remote remote;
	struct chaos_sums sums;
	uint8_t *memory;
	uint32_t region;
	uint64_t sent;		/* messages posted */
	uint64_t completed;	/* of those */
	uint64_t acked;		/* of those, the peer has them */
	uint64_t got;		/* messages of the peer */
	uint64_t told;		/* of those, the peer was told so */
	unsigned int acks;	/* posted, not completed */
	bool stopping;		/* the last message comes next */
	bool ending;		/* the last message was sent */
	bool ended;		/* the peer's last message came */
	bool blocked;		/* suspended until POLLOUT */
	bool closed;		/* its end was reported, once */
	bool failed;
	uint64_t last;		/* when the latest message came, in ns */
	uint64_t longest;	/* time without a message, in ns */
};

extern bool chaos_atomics;	/* post atomics; changed by a signal */

/* Returns 0, or -1 after saying why. */
int chaos_begin(struct chaos_chan *c, const char *name);
/* Take what came, post what can be posted. */
void chaos_go_on(struct chaos_chan *c);
bool chaos_is_over(const struct chaos_chan *c);
/* What the peer has added to this end's counter. */
uint64_t chaos_counter(const struct chaos_chan *c);

#endif /* CHAOS_H */
