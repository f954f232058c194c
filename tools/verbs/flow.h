/* SPDX-License-Identifier: GPL-2.0 */
/* Many one-sided operations on the peer's link buffer, one kind of them. */
#ifndef RCV_FLOW_H
#define RCV_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct rcv_epoch;

struct rcv_flow {
	uint32_t op;		/* enum rclink_ping_op, not SEND */
	uint32_t size;
	uint32_t iters;
	uint32_t depth;		/* in flight, to RCV_BENCH_DEPTH */
	uint64_t *times;	/* of each, ns, with depth 1; or NULL */
	uint64_t duration;	/* result, ns */
	/* Asked now and then: go on? */
	bool (*go_on)(void *ctx);
	void *ctx;
};

/*
 * Polls until all are done: 0, or a negative errno with a sentence in err. What
 * the peer asks meanwhile is answered. The epoch may have ended then.
 */
int rcv_flow_run(struct rcv_epoch *ep, struct rcv_flow *flow, char *err);

#endif /* RCV_FLOW_H */
