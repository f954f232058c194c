// SPDX-License-Identifier: GPL-2.0
#include "counter.h"

#include <errno.h>
#include <stdio.h>

#include <netlink/attr.h>

#include "field.h"

const char *const rcl_counter_word[RCL_C_NUM] = {
	[RCL_C_EPOCHS] = "epochs",
	[RCL_C_TX_MESSAGES] = "tx_messages",
	[RCL_C_RX_MESSAGES] = "rx_messages",
	[RCL_C_TX_BYTES] = "tx_bytes",
	[RCL_C_RX_BYTES] = "rx_bytes",
	[RCL_C_RX_UNAUTHENTICATED] = "rx_unauthenticated",
	[RCL_C_RX_MALFORMED] = "rx_malformed",
	[RCL_C_COMPLETION_ERRORS] = "completion_errors",
	[RCL_C_CREDIT_WAITS] = "credit_waits",
	[RCL_C_PINGS] = "pings",
	[RCL_C_PING_ERRORS] = "ping_errors",
	[RCL_C_DOWNS] = "downs",
	[RCL_C_HEARTBEATS] = "heartbeats",
	[RCL_C_HEARTBEATS_MISSED] = "heartbeats_missed",
	[RCL_C_CHANNELS] = "channels",
	[RCL_C_CHAN_OPS] = "chan_ops",
	[RCL_C_CHAN_BYTES] = "chan_bytes",
	[RCL_C_CHAN_RECVS] = "chan_recvs",
	[RCL_C_CHAN_RECV_BYTES] = "chan_recv_bytes",
	[RCL_C_CHAN_SUSPENDED] = "chan_suspended",
	[RCL_C_CHAN_RESUMES] = "chan_resumes",
	[RCL_C_CHAN_RESENDS] = "chan_resends",
	[RCL_C_CHAN_ERRORS] = "chan_errors",
	[RCL_C_RX_OUT_OF_SEQUENCE] = "rx_out_of_sequence",
	[RCL_C_RX_WRONG_SIZE] = "rx_wrong_size",
	[RCL_C_RX_WRONG_KIND] = "rx_wrong_kind",
	[RCL_C_LOCAL_ACCESS_ERRORS] = "local_access_errors",
	[RCL_C_REMOTE_ACCESS_ERRORS] = "remote_access_errors",
	[RCL_C_QP_ACCESS_EVENTS] = "qp_access_events",
	[RCL_C_QP_REQUEST_EVENTS] = "qp_request_events",
	[RCL_C_UNEXPLAINED_ERRORS] = "unexplained_errors",
};

bool rcl_counter_is_gauge(enum rcl_counter counter)
{
	return counter == RCL_C_CHANNELS || counter == RCL_C_CHAN_SUSPENDED;
}

/* What the peer's own kernel never causes while the network is sound. */
static const struct {
	enum rcl_counter counter;
	const char *text;
} trips[] = {
	{ RCL_C_RX_UNAUTHENTICATED, "not authentic" },
	{ RCL_C_RX_OUT_OF_SEQUENCE, "out of sequence" },
	{ RCL_C_RX_WRONG_SIZE, "of the wrong size" },
	{ RCL_C_RX_WRONG_KIND, "of the wrong kind" },
	{ RCL_C_LOCAL_ACCESS_ERRORS, "local access errors" },
	{ RCL_C_REMOTE_ACCESS_ERRORS, "remote access errors" },
	{ RCL_C_QP_ACCESS_EVENTS, "access events" },
	{ RCL_C_QP_REQUEST_EVENTS, "request events" },
	{ RCL_C_UNEXPLAINED_ERRORS, "QP errors without a reason" },
};

static int counter_attr(int counter)
{
	return RCLINK_A_STATS_EPOCHS + counter;
}

int rcl_counters_get(const struct nlattr *nest, uint64_t counter[RCL_C_NUM])
{
	struct nlattr *tb[RCLINK_A_STATS_MAX + 1];
	int i;

	if (nla_parse_nested(tb, RCLINK_A_STATS_MAX, (struct nlattr *)nest,
			     NULL))
		return -EPROTO;
	for (i = 0; i < RCL_C_NUM; i++) {
		const struct nlattr *nla = tb[counter_attr(i)];

		if (nla && rcl_u64_get(nla, &counter[i]))
			return -EPROTO;
	}
	return 0;
}

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

const char *rcl_trip_text(const uint64_t counter[RCL_C_NUM],
			  char buf[RCL_TRIP_TEXT_LEN])
{
	size_t i, len = 0;

	for (i = 0; i < sizeof(trips) / sizeof(trips[0]); i++)
		if (counter[trips[i].counter])
			len += snprintf(buf + len, RCL_TRIP_TEXT_LEN - len,
					"%s%llu %s", len ? ", " : "",
					(unsigned long long)
					counter[trips[i].counter],
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
