// SPDX-License-Identifier: GPL-2.0
#include "strangers.h"

#include "process.h"

static const struct rch_rate lines = { 1000000000, 50 };

bool rch_strangers_take(struct rch_strangers *s, unsigned long *left_out)
{
	if (!rch_bucket_take(&s->bucket, &lines, rcl_now())) {
		s->left_out++;
		return false;
	}
	*left_out = s->left_out;
	s->left_out = 0;
	return true;
}
