/* SPDX-License-Identifier: GPL-2.0 */
/* How long round trips took: a histogram, pure arithmetic. */
#ifndef RCL_LATENCY_H
#define RCL_LATENCY_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

/**
 * struct rcl_latency - round trips of a link over all its epochs
 * @sum: nanoseconds of all
 * @bucket: how many took at most 2^i microseconds, but more than those of the
 *	bucket before; the last one has no limit
 *
 * There is one writer at a time; a concurrent reader finds each value as it was
 * at some moment, but not all at the same one.
 */
struct rcl_latency {
	u64 sum;
	u64 bucket[RCLINK_LATENCY_BUCKETS];
};

void rcl_latency_add(struct rcl_latency *latency, u64 ns);

#endif /* RCL_LATENCY_H */
