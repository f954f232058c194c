// SPDX-License-Identifier: GPL-2.0
#include "bucket.h"

uint64_t rch_bucket_wait(const struct rch_bucket *b,
			 const struct rch_rate *rate, uint64_t now)
{
	uint64_t full_at = b->full_at > now ? b->full_at : now;
	uint64_t least = full_at + rate->interval;
	uint64_t room = rate->interval * rate->burst;

	return least > now + room ? least - now - room : 0;
}

bool rch_bucket_take(struct rch_bucket *b, const struct rch_rate *rate,
		     uint64_t now)
{
	if (rch_bucket_wait(b, rate, now))
		return false;
	if (b->full_at < now)
		b->full_at = now;
	b->full_at += rate->interval;
	return true;
}

void rch_bucket_give_back(struct rch_bucket *b, const struct rch_rate *rate)
{
	b->full_at -= rate->interval;
}
