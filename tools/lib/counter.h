/* SPDX-License-Identifier: GPL-2.0 */
/* What the module counts for a link, and how long its round trips took. */
#ifndef RCL_COUNTER_H
#define RCL_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/rclink.h>

#define RCL_TRIP_TEXT_LEN	512

struct nlattr;

/* The word for each counter of a link, indexed by its attribute. */
extern const char *const rcl_counter_word[RCLINK_A_STATS_PAD];

/* Does it tell how many there are now, not how many there were? */
bool rcl_counter_is_gauge(int attr);

/* Round trips; see the specification for the limits of the buckets. */
struct rcl_latency {
	uint64_t sum;		/* ns */
	uint64_t bucket[RCLINK_LATENCY_BUCKETS];
};

/* Decode a nest of latency attributes: 0, or -EPROTO. */
int rcl_latency_get(const struct nlattr *nest, struct rcl_latency *latency);

/* What an intruder would have set off, in words; NULL if nothing. */
const char *rcl_trip_text(const uint64_t counter[RCLINK_A_STATS_PAD],
			  char buf[RCL_TRIP_TEXT_LEN]);

uint64_t rcl_latency_count(const struct rcl_latency *latency);

/* ns that no round trip of this bucket exceeded; 0 for the last: no limit. */
uint64_t rcl_latency_limit(unsigned int bucket);

/*
 * ns that so many percent of the round trips took at most, as far as the
 * buckets tell; 0 if there were none, or if it was longer than they tell.
 */
uint64_t rcl_latency_percentile(const struct rcl_latency *latency,
				unsigned int percent);

#endif /* RCL_COUNTER_H */
