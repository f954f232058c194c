/* SPDX-License-Identifier: GPL-2.0 */
/* What many times come to. */
#ifndef TIMES_H
#define TIMES_H

#include <stdint.h>

/* In the unit of each. */
struct times {
	uint64_t min, max, median, avg, mdev, p99, p999;
};

/* Of all that there are, which get sorted; all 0 of none. */
struct times times_sum(uint64_t *times, uint32_t num);

#endif /* TIMES_H */
