// SPDX-License-Identifier: GPL-2.0
#include "backoff.h"

#include "process.h"

#define QUICK_NS	(200 * NS_PER_MS)
#define FIRST_NS	(1000 * NS_PER_MS)
#define MOST_NS		(30000 * NS_PER_MS)
#define APART_NS	(1000 * NS_PER_MS)	/* between two tries */
#define FORGIVE_NS	(30000 * NS_PER_MS)	/* up, to forgive one failure */
#define FAILURES_MOST	6		/* more do not lengthen the wait */

/* span * random / 2^32, whose product may have 66 bits. */
static uint64_t share(uint64_t span, uint32_t random)
{
	return (span >> 16) * random >> 16;
}

uint64_t rcd_backoff(unsigned int failures, uint64_t now, uint64_t last,
		     uint32_t random)
{
	uint64_t span = QUICK_NS, wait = 0, least = 0;

	if (failures) {
		span = failures >= FAILURES_MOST ? MOST_NS :
						   FIRST_NS << (failures - 1);
		wait = span / 2;
		span -= wait;
	}
	wait += share(span, random);
	/* Those refused together should not all come back together. */
	if (last && last + APART_NS > now)
		least = last + APART_NS - now + share(QUICK_NS, random);
	return wait > least ? wait : least;
}

unsigned int rcd_backoff_fell(unsigned int failures, uint64_t up)
{
	uint64_t forgiven = up / FORGIVE_NS;

	if (failures > FAILURES_MOST)
		failures = FAILURES_MOST;
	if (!forgiven)
		return failures + 1;
	return forgiven < failures ? failures - forgiven : 0;
}
