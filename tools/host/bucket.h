/* SPDX-License-Identifier: GPL-2.0 */
/* How often something may happen: a rate, and a burst above it. */
#ifndef RCH_BUCKET_H
#define RCH_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct rch_rate {
	uint64_t interval;	/* ns from one to the next in the long run */
	unsigned int burst;	/* how many at once after a pause */
};

/* Initially all 0: full. */
struct rch_bucket {
	uint64_t full_at;	/* ns */
};

/* May it happen now? Counts it if so. */
bool rch_bucket_take(struct rch_bucket *b, const struct rch_rate *rate,
		     uint64_t now);

/* What was counted did not happen. */
void rch_bucket_give_back(struct rch_bucket *b, const struct rch_rate *rate);

/* ns until rch_bucket_take() would say yes. */
uint64_t rch_bucket_wait(const struct rch_bucket *b,
			 const struct rch_rate *rate, uint64_t now);

#endif /* RCH_BUCKET_H */
