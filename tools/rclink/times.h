/* SPDX-License-Identifier: GPL-2.0 */
/* The statistics of many times. */
#ifndef TIMES_H
#define TIMES_H

#include <stdint.h>

/* All in the unit of the times. */
struct times {
	uint64_t min, max, median, avg, mdev, p99, p999;
};

/* Of num times, which get sorted; all 0 if there are none. */
struct times times_sum(uint64_t *times, uint32_t num);

#endif /* TIMES_H */
