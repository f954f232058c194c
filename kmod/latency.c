// SPDX-License-Identifier: GPL-2.0
#include "latency.h"

#define RCL_NS_PER_US	1000ULL

/**
 * rcl_latency_add - count a round trip
 * @latency: of the link
 * @ns: nanoseconds that it took
 */
void rcl_latency_add(struct rcl_latency *latency, u64 ns)
{
	u32 i = 0;

	while (i < RCLINK_LATENCY_BUCKETS - 1 && ns > RCL_NS_PER_US << i)
		i++;
	latency->sum += ns;
	latency->bucket[i]++;
}
