/* SPDX-License-Identifier: GPL-2.0 */
/* What the module counts of a link, and how long its round trips took. */
#ifndef RCL_COUNTER_H
#define RCL_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/rclink.h>

#define RCL_TRIP_TEXT_LEN	512

struct nlattr;

/* Counters of a link, in the order of the netlink attributes. */
enum rcl_counter {
	RCL_C_EPOCHS,
	RCL_C_TX_MESSAGES,
	RCL_C_RX_MESSAGES,
	RCL_C_TX_BYTES,
	RCL_C_RX_BYTES,
	RCL_C_RX_UNAUTHENTICATED,
	RCL_C_RX_MALFORMED,
	RCL_C_COMPLETION_ERRORS,
	RCL_C_CREDIT_WAITS,
	RCL_C_PINGS,
	RCL_C_PING_ERRORS,
	RCL_C_DOWNS,
	RCL_C_HEARTBEATS,
	RCL_C_HEARTBEATS_MISSED,
	RCL_C_CHANNELS,
	RCL_C_CHAN_OPS,
	RCL_C_CHAN_BYTES,
	RCL_C_CHAN_RECVS,
	RCL_C_CHAN_RECV_BYTES,
	RCL_C_CHAN_SUSPENDED,
	RCL_C_CHAN_RESUMES,
	RCL_C_CHAN_RESENDS,
	RCL_C_CHAN_ERRORS,
	RCL_C_RX_OUT_OF_SEQUENCE,
	RCL_C_RX_WRONG_SIZE,
	RCL_C_RX_WRONG_KIND,
	RCL_C_LOCAL_ACCESS_ERRORS,
	RCL_C_REMOTE_ACCESS_ERRORS,
	RCL_C_QP_ACCESS_EVENTS,
	RCL_C_QP_REQUEST_EVENTS,
	RCL_C_UNEXPLAINED_ERRORS,
	RCL_C_NUM
};

extern const char *const rcl_counter_word[RCL_C_NUM];

/* Is it how many there are now, and not how many there were? */
bool rcl_counter_is_gauge(enum rcl_counter counter);

/* Round trips; see the specification for the limits of the buckets. */
struct rcl_latency {
	uint64_t sum;		/* ns */
	uint64_t bucket[RCLINK_LATENCY_BUCKETS];
};

/* Decode a nest of such attributes: 0, or -EPROTO. */
int rcl_counters_get(const struct nlattr *nest, uint64_t counter[RCL_C_NUM]);
int rcl_latency_get(const struct nlattr *nest, struct rcl_latency *latency);

/* What an intruder would have set off, in words; NULL for nothing. */
const char *rcl_trip_text(const uint64_t counter[RCL_C_NUM],
			  char buf[RCL_TRIP_TEXT_LEN]);

uint64_t rcl_latency_count(const struct rcl_latency *latency);

/* ns that no round trip of this bucket exceeded; 0 for the last: no limit. */
uint64_t rcl_latency_limit(unsigned int bucket);

/*
 * ns that so many of a hundred took at most, as far as the buckets tell; 0 when
 * there were none, or when it was longer than they tell.
 */
uint64_t rcl_latency_percentile(const struct rcl_latency *latency,
				unsigned int percent);

#endif /* RCL_COUNTER_H */
