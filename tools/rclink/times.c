// SPDX-License-Identifier: GPL-2.0
#include "times.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest one that permille of them do not exceed. */
static uint64_t at(const uint64_t *sorted, uint32_t num, uint32_t permille)
{
	return sorted[((uint64_t)num * permille + 999) / 1000 - 1];
}

struct times times_sum(uint64_t *times, uint32_t num)
{
	double avg = 0, var = 0;
	uint32_t i;

	if (!num)
		return (struct times){ 0 };
	for (i = 0; i < num; i++)
		avg += (double)times[i] / num;
	for (i = 0; i < num; i++)
		var += (times[i] - avg) * (times[i] - avg) / num;
	qsort(times, num, sizeof(*times), by_value);
	return (struct times){
		.min = times[0],
		.max = times[num - 1],
		/* For an even number, as in perftest. */
		.median = (times[(num - 1) / 2] + times[num / 2]) / 2,
		.avg = avg + 0.5,
		.mdev = sqrt(var) + 0.5,
		.p99 = at(times, num, 990),
		.p999 = at(times, num, 999),
	};
}
