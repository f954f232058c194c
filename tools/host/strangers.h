/* SPDX-License-Identifier: GPL-2.0 */
/* How often a line may be written about callers that get no link. */
#ifndef RCH_STRANGERS_H
#define RCH_STRANGERS_H

#include <stdbool.h>

#include "bucket.h"

/* Initially all 0. */
struct rch_strangers {
	struct rch_bucket bucket;
	unsigned long left_out;
};

/* May one more be written? Then *left_out were not since the last one. */
bool rch_strangers_take(struct rch_strangers *s, unsigned long *left_out);

#endif /* RCH_STRANGERS_H */
