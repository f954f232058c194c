/* SPDX-License-Identifier: GPL-2.0 */
/* Round trips that are checked at both ends, one after the other per link. */
#ifndef RCL_PING_H
#define RCL_PING_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <uapi/linux/rclink.h>

struct rcl_epoch;
struct rcl_msg;

/**
 * struct rcl_ping - round trips that somebody asked for
 * @node: in the link's queue
 * @op: enum rclink_ping_op
 * @size: bytes of payload
 * @count: one after the other, RCLINK_PING_COUNT_MAX at most
 * @done: called exactly once, by the link's work item; owns the ping then
 * @error: result: 0, or a negative errno
 * @why: with @error, a sentence
 * @ok: result: how many were verified
 * @rtt: result: the time of each of these, in nanoseconds
 */
struct rcl_ping {
	struct list_head node;
	u32 op;
	u32 size;
	u32 count;
	void (*done)(struct rcl_ping *ping);
	int error;
	const char *why;
	u32 ok;
	u64 rtt[RCLINK_PING_COUNT_MAX];
};

enum rcl_ping_step {
	RCL_PING_DONE,
	RCL_PING_ECHO,		/* SEND: fragments out, echoes in */
	RCL_PING_FILL,		/* the peer puts known data into its buffer */
	RCL_PING_RUN,		/* the RDMA operations that are timed */
	RCL_PING_CHECK,		/* the peer looks at its buffer */
};

/**
 * struct rcl_pinger - the round trips under way, which are verified together
 * @ping: the request that it belongs to, or NULL
 * @step: where it is, in a list that ends with RCL_PING_DONE
 * @asked: the question or a work request of this step has been posted
 * @cookie: its answers must carry this
 * @seed: of the data before the operations
 * @run: how many operations there are, unless they take long; 1 for SEND
 * @ran: how many are over
 * @sent: payload bytes sent, SEND only
 * @echoed: payload bytes echoed, SEND only
 * @mem: local side of the RDMA operations, side by side
 * @dma: address of @mem for the device
 * @len: bytes of @mem
 * @cqe: of an operation
 * @begun: when the first operation was posted
 * @start: when the operation under way, or its first message, was posted
 * @end: when it completed; 0 until then
 */
struct rcl_pinger {
	struct rcl_ping *ping;
	const enum rcl_ping_step *step;
	bool asked;
	u32 cookie;
	u32 seed;
	u32 run;
	u32 ran;
	u32 sent;
	u32 echoed;
	u8 *mem;
	u64 dma;
	u32 len;
	struct ib_cqe cqe;
	ktime_t begun;
	ktime_t start;
	ktime_t end;
};

void rcl_ping_start(struct rcl_epoch *ep, struct rcl_ping *ping);
int rcl_ping_continue(struct rcl_epoch *ep);
int rcl_ping_answer(struct rcl_epoch *ep, const struct rcl_msg *msg,
		    ktime_t arrived);
u32 rcl_ping_walks(const struct rcl_msg *msg);
int rcl_ping_question(struct rcl_epoch *ep, const struct rcl_msg *msg);
void rcl_ping_abort(struct rcl_epoch *ep, int error, const char *why);

void rcl_ping_finish(struct rcl_ping *ping, int error, const char *why);

#endif /* RCL_PING_H */
