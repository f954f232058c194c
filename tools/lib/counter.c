// SPDX-License-Identifier: GPL-2.0
#include "counter.h"

#include <errno.h>
#include <stdio.h>

#include <netlink/attr.h>

#include "field.h"

const char *const rcl_counter_word[RCLINK_A_STATS_PAD] = {
	[RCLINK_A_STATS_EPOCHS] = "epochs",
	[RCLINK_A_STATS_TX_MESSAGES] = "tx_messages",
	[RCLINK_A_STATS_RX_MESSAGES] = "rx_messages",
	[RCLINK_A_STATS_TX_BYTES] = "tx_bytes",
	[RCLINK_A_STATS_RX_BYTES] = "rx_bytes",
	[RCLINK_A_STATS_RX_UNAUTHENTICATED] = "rx_unauthenticated",
	[RCLINK_A_STATS_RX_MALFORMED] = "rx_malformed",
	[RCLINK_A_STATS_COMPLETION_ERRORS] = "completion_errors",
	[RCLINK_A_STATS_CREDIT_WAITS] = "credit_waits",
	[RCLINK_A_STATS_PINGS] = "pings",
	[RCLINK_A_STATS_PING_ERRORS] = "ping_errors",
	[RCLINK_A_STATS_DOWNS] = "downs",
	[RCLINK_A_STATS_HEARTBEATS] = "heartbeats",
	[RCLINK_A_STATS_HEARTBEATS_MISSED] = "heartbeats_missed",
	[RCLINK_A_STATS_CHANNELS] = "channels",
	[RCLINK_A_STATS_CHAN_OPS] = "chan_ops",
	[RCLINK_A_STATS_CHAN_BYTES] = "chan_bytes",
	[RCLINK_A_STATS_CHAN_RECVS] = "chan_recvs",
	[RCLINK_A_STATS_CHAN_RECV_BYTES] = "chan_recv_bytes",
	[RCLINK_A_STATS_CHAN_SUSPENDED] = "chan_suspended",
	[RCLINK_A_STATS_CHAN_RESUMES] = "chan_resumes",
	[RCLINK_A_STATS_CHAN_RESENDS] = "chan_resends",
	[RCLINK_A_STATS_CHAN_ERRORS] = "chan_errors",
	[RCLINK_A_STATS_RX_OUT_OF_SEQUENCE] = "rx_out_of_sequence",
	[RCLINK_A_STATS_RX_WRONG_SIZE] = "rx_wrong_size",
	[RCLINK_A_STATS_RX_WRONG_KIND] = "rx_wrong_kind",
	[RCLINK_A_STATS_LOCAL_ACCESS_ERRORS] = "local_access_errors",
	[RCLINK_A_STATS_REMOTE_ACCESS_ERRORS] = "remote_access_errors",
	[RCLINK_A_STATS_QP_ACCESS_EVENTS] = "qp_access_events",
	[RCLINK_A_STATS_QP_REQUEST_EVENTS] = "qp_request_events",
	[RCLINK_A_STATS_UNEXPLAINED_ERRORS] = "unexplained_errors",
};

bool rcl_counter_is_gauge(int attr)
{
	return attr == RCLINK_A_STATS_CHANNELS ||
	       attr == RCLINK_A_STATS_CHAN_SUSPENDED;
}

/* What the peer's own kernel never causes while the network is sound. */
static const struct {
	int attr;
	const char *text;
} trips[] = {
	{ RCLINK_A_STATS_RX_UNAUTHENTICATED, "not authentic" },
	{ RCLINK_A_STATS_RX_OUT_OF_SEQUENCE, "out of sequence" },
	{ RCLINK_A_STATS_RX_WRONG_SIZE, "of the wrong size" },
	{ RCLINK_A_STATS_RX_WRONG_KIND, "of the wrong kind" },
	{ RCLINK_A_STATS_LOCAL_ACCESS_ERRORS, "local access errors" },
	{ RCLINK_A_STATS_REMOTE_ACCESS_ERRORS, "remote access errors" },
	{ RCLINK_A_STATS_QP_ACCESS_EVENTS, "access events" },
	{ RCLINK_A_STATS_QP_REQUEST_EVENTS, "request events" },
	{ RCLINK_A_STATS_UNEXPLAINED_ERRORS, "QP errors without a reason" },
};

int rcl_latency_get(const struct nlattr *nest, struct rcl_latency *latency)
{
	const struct nlattr *nla;
	int ret = 0, n = 0, rem;

	nla_for_each_nested(nla, nest, rem) {
		if (nla_type(nla) == RCLINK_A_LATENCY_SUM)
			ret |= rcl_u64_get(nla, &latency->sum);
		if (nla_type(nla) != RCLINK_A_LATENCY_BUCKET)
			continue;
		if (n == RCLINK_LATENCY_BUCKETS)
			return -EPROTO;
		ret |= rcl_u64_get(nla, &latency->bucket[n++]);
	}
	return ret;
}

const char *rcl_trip_text(const uint64_t counter[RCLINK_A_STATS_PAD],
			  char buf[RCL_TRIP_TEXT_LEN])
{
	size_t i, len = 0;

	for (i = 0; i < sizeof(trips) / sizeof(trips[0]); i++)
		if (counter[trips[i].attr])
			len += snprintf(buf + len, RCL_TRIP_TEXT_LEN - len,
					"%s%llu %s", len ? ", " : "",
					(unsigned long long)
					counter[trips[i].attr],
					trips[i].text);
	return len ? buf : NULL;
}

uint64_t rcl_latency_count(const struct rcl_latency *latency)
{
	uint64_t count = 0;
	int i;

	for (i = 0; i < RCLINK_LATENCY_BUCKETS; i++)
		count += latency->bucket[i];
	return count;
}

uint64_t rcl_latency_limit(unsigned int bucket)
{
	return bucket < RCLINK_LATENCY_BUCKETS - 1 ? 1000ULL << bucket : 0;
}

uint64_t rcl_latency_percentile(const struct rcl_latency *latency,
				unsigned int percent)
{
	const uint64_t count = rcl_latency_count(latency);
	const uint64_t rest = count / 100 * (100 - percent) +
			      count % 100 * (100 - percent) / 100;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; count && i < RCLINK_LATENCY_BUCKETS; i++) {
		sum += latency->bucket[i];
		if (sum >= count - rest)
			return rcl_latency_limit(i);
	}
	return 0;
}
