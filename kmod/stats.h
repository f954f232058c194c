/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of a link over all its epochs. */
#ifndef RCL_STATS_H
#define RCL_STATS_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "latency.h"

/**
 * struct rcl_stats - counters
 * @epochs: times the link came up
 * @tx_messages: sealed control messages sent
 * @rx_messages: authentic control messages received
 * @tx_bytes: bytes of @tx_messages on the wire
 * @rx_bytes: bytes of @rx_messages on the wire
 * @rx_unauthenticated: messages whose seal or epoch was wrong
 * @rx_malformed: authentic messages that broke the protocol
 * @completion_errors: work requests that failed on their own, not flushed
 * @credit_waits: times a question had to wait for an answer or a credit
 * @pings: verified round trips
 * @ping_errors: round trips that failed
 * @downs: times the link went down
 * @heartbeats: heartbeats sent
 * @heartbeats_missed: intervals that ended without an answer
 * @latency: of questions, until they were answered
 * @rx_out_of_sequence: authentic messages that were not the next one
 * @rx_wrong_size: receives too short for a seal, or too long for a message
 * @rx_wrong_kind: receives that no SEND completed
 * @unexplained_errors: flushes for which the device gave no cause
 * @chan_errors: work requests of channels, and registrations for them, that
 *	failed, not flushed
 * @local_access_errors: work requests, channels' too, with memory that is not
 *	registered here, or not for such access
 * @remote_access_errors: work requests, channels' too, that the peer refused
 * @qp_access_events: IB_EVENT_QP_ACCESS_ERR
 * @qp_request_events: IB_EVENT_QP_REQ_ERR
 *
 * Written only by the link's work item, except @completion_errors and those
 * from @chan_errors on, which are under the link's lock; read at any time, by
 * rcl_stats_read() or one by one. The link's chore may count @rx_wrong_size and
 * @rx_wrong_kind of an epoch that is not up: if both epochs get one at the same
 * moment, one may not be counted.
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
	struct rcl_latency latency;
	u64 rx_out_of_sequence;
	u64 rx_wrong_size;
	u64 rx_wrong_kind;
	u64 unexplained_errors;
	u64 chan_errors;
	u64 local_access_errors;
	u64 remote_access_errors;
	u64 qp_access_events;
	u64 qp_request_events;
};

/**
 * rcl_stats_read - copy counters that are being written
 * @to: each counter has a value it had in @from, not all at one moment
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
 * @channels: opened here minus ended here; the sum over all is what is open
 * @ops: operations posted, without receives
 * @bytes: what they move, in either direction
 * @recvs: messages received
 * @recv_bytes: bytes of these
 * @suspended: those of @channels that wait for another epoch; summed up, too
 * @resumes: times that one of these went on
 * @resends: operations posted again
 *
 * Written with this_cpu_add(), so that channels do not share cache lines.
 */
struct rcl_traffic {
	u64 channels;
	u64 ops;
	u64 bytes;
	u64 recvs;
	u64 recv_bytes;
	u64 suspended;
	u64 resumes;
	u64 resends;
};

/**
 * rcl_traffic_read - add up counters that are being written
 * @to: each adds up values that it had, not all at one moment
 * @from: of a link
 */
static inline void rcl_traffic_read(struct rcl_traffic *to,
				    const struct rcl_traffic __percpu *from)
{
	u64 *dst = (u64 *)to;
	unsigned int i;
	int cpu;

	memset(to, 0, sizeof(*to));
	for_each_possible_cpu(cpu) {
		const u64 *src = (const u64 *)per_cpu_ptr(from, cpu);

		for (i = 0; i < sizeof(*to) / sizeof(*dst); i++)
			dst[i] += READ_ONCE(src[i]);
	}
	/* A channel may begin on one and end on another, read after that. */
	to->channels = max_t(s64, to->channels, 0);
	to->suspended = max_t(s64, to->suspended, 0);
}

#endif /* RCL_STATS_H */
