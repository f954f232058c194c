/* SPDX-License-Identifier: GPL-2.0 */
/* Many one-sided operations of one kind on the peer's link buffer. */
#ifndef RCV_FLOW_H
#define RCV_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct rcv_epoch;

struct rcv_flow {
	uint32_t op;		/* enum rclink_ping_op, not SEND */
	uint32_t size;
	uint32_t iters;
	uint32_t depth;		/* in flight, up to RCV_BENCH_DEPTH */
	uint64_t *times;	/* ns of each, with depth 1; or NULL */
	uint64_t duration;	/* result, ns */
	/* Called now and then: go on? */
	bool (*go_on)(void *ctx);
	void *ctx;
};

/*
 * Polls until all are done, and answers the peer's questions meanwhile. Returns
 * 0, or a negative errno with a sentence in err. The epoch may have ended then.
 */
int rcv_flow_run(struct rcv_epoch *ep, struct rcv_flow *flow, char *err);

#endif /* RCV_FLOW_H */
