/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of a link over all its epochs. */
#ifndef RCL_STATS_H
#define RCL_STATS_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

/**
 * struct rcl_stats - counters, in the order of their netlink attributes
 * @epochs: times the link came up
 * @tx_messages: sealed control messages sent
 * @rx_messages: authentic control messages received
 * @tx_bytes: bytes of @tx_messages on the wire
 * @rx_bytes: bytes of @rx_messages on the wire
 * @rx_unauthenticated: messages whose seal, epoch or sequence was wrong
 * @rx_malformed: authentic messages that broke the protocol
 * @completion_errors: work requests that failed on their own, not flushed
 * @credit_waits: times a question had to wait for an answer or a credit
 * @pings: verified round trips
 * @ping_errors: round trips that failed
 * @downs: times the link went down
 * @heartbeats: heartbeats sent
 * @heartbeats_missed: intervals that ended without an answer
 *
 * Written by the link's work item only, but for @completion_errors, which is
 * under the link's lock; read by rcl_stats_read() at any time.
 */
struct rcl_stats {
	u64 epochs;
	u64 tx_messages;
	u64 rx_messages;
	u64 tx_bytes;
	u64 rx_bytes;
	u64 rx_unauthenticated;
	u64 rx_malformed;
	u64 completion_errors;
	u64 credit_waits;
	u64 pings;
	u64 ping_errors;
	u64 downs;
	u64 heartbeats;
	u64 heartbeats_missed;
};

/**
 * rcl_stats_read - copy counters that are being written
 * @to: each counter is one that @from had, not all of the same moment
 * @from: of a link
 */
static inline void rcl_stats_read(struct rcl_stats *to,
				  const struct rcl_stats *from)
{
	const u64 *src = (const u64 *)from;
	u64 *dst = (u64 *)to;
	unsigned int i;

	for (i = 0; i < sizeof(*to) / sizeof(*dst); i++)
		dst[i] = READ_ONCE(src[i]);
}

/**
 * struct rcl_traffic - what channels do, one for each processor
 * @channels: opened here less those that ended here; the sum is what is open
 * @ops: operations posted, receives apart
 * @bytes: what they move, in either direction
 * @recvs: messages received
 * @recv_bytes: of these
 *
 * Written with this_cpu_add(), so that channels do not share cache lines.
 */
struct rcl_traffic {
	u64 channels;
	u64 ops;
	u64 bytes;
	u64 recvs;
	u64 recv_bytes;
};

/**
 * rcl_traffic_read - add up counters that are being written
 * @to: each is one that there was, not all of the same moment
 * @from: of a link
 */
static inline void rcl_traffic_read(struct rcl_traffic *to,
				    const struct rcl_traffic __percpu *from)
{
	int cpu;

	memset(to, 0, sizeof(*to));
	for_each_possible_cpu(cpu) {
		const struct rcl_traffic *one = per_cpu_ptr(from, cpu);

		to->channels += READ_ONCE(one->channels);
		to->ops += READ_ONCE(one->ops);
		to->bytes += READ_ONCE(one->bytes);
		to->recvs += READ_ONCE(one->recvs);
		to->recv_bytes += READ_ONCE(one->recv_bytes);
	}
}

#endif /* RCL_STATS_H */
