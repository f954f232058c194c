// SPDX-License-Identifier: GPL-2.0
/*
 * SEND: the payload travels in sealed messages, each echoed by the peer.
 * WRITE, READ, CAS, FADD: RDMA operations on the peer's link buffer; around
 * them, the control channel proves the data at the peer's end, too:
 *
 *	WRITE		write pattern B		CHECK B
 *	READ		FILL A	read, compare with A here
 *	CAS, FADD	FILL A	compare the old value with A here	CHECK B
 *
 * Patterns come from a random seed: A from seed, B from ~seed. Only the
 * operations are timed, each by itself. Several in a row, on pieces of memory
 * side by side, are verified together, so that the device does not rest between
 * them.
 */
#include "ping.h"

#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "epoch.h"
#include "msg.h"
#include "pattern.h"
#include "stats.h"
#include "upcall.h"

#define RCL_ATOMIC_LEN	8
#define RCL_RUN_MAX	16	/* operations that are verified together */
#define RCL_RUN_LEN	4096	/* bytes of all of these, unless one has more */
#define RCL_RUN_US	1000	/* the peer is to be heard now and then */
#define RCL_REST_US_MIN	50	/* below this, no more than any message */
#define RCL_REST_US_MAX	20000	/* the host may have stalled meanwhile */

/**
 * rcl_ping_finish - hand a ping back to its requester
 * @ping: is no longer owned by the caller
 * @error: 0, or a negative errno
 * @why: sentence for @error
 *
 * Context: the link's work item.
 */
void rcl_ping_finish(struct rcl_ping *ping, int error, const char *why)
{
	ping->error = error;
	ping->why = error ? why : NULL;
	ping->done(ping);
}

static bool rcl_ping_is_atomic(u32 op)
{
	return op == RCLINK_PING_OP_CAS || op == RCLINK_PING_OP_FADD;
}

static const enum rcl_ping_step steps[][4] = {
	[RCLINK_PING_OP_SEND] = { RCL_PING_ECHO },
	[RCLINK_PING_OP_WRITE] = { RCL_PING_RUN, RCL_PING_CHECK },
	[RCLINK_PING_OP_READ] = { RCL_PING_FILL, RCL_PING_RUN },
	[RCLINK_PING_OP_CAS] = { RCL_PING_FILL, RCL_PING_RUN, RCL_PING_CHECK },
	[RCLINK_PING_OP_FADD] = { RCL_PING_FILL, RCL_PING_RUN, RCL_PING_CHECK },
};

static const char data_differs[] =
	"the data that came back is not what was sent";
static const char peer_differs[] = "the peer found other data than was sent";

static int rcl_ping_check(struct rcl_epoch *ep, const struct rcl_ping *ping,
			  const char **why)
{
	bool atomic = rcl_ping_is_atomic(ping->op);

	if (atomic && (!ep->local.atomics || !ep->remote.atomics)) {
		*why = "op: atomics need devices that have them at both ends";
		return -EOPNOTSUPP;
	}
	if (atomic && ping->size != RCL_ATOMIC_LEN) {
		*why = "size: atomics take 8 bytes";
		return -EINVAL;
	}
	if (ping->size > ep->remote.length) {
		*why = "size is beyond the peer's link buffer: see buffer-size";
		return -EMSGSIZE;
	}
	return 0;
}

/* How many of the operations that are left follow each other. */
static u32 rcl_ping_run_max(struct rcl_epoch *ep)
{
	const struct rcl_ping *ping = ep->pinger.ping;
	u32 len = min_t(u32, ep->remote.length, RCL_RUN_LEN);
	u32 fit = clamp_t(u32, len / max_t(u32, ping->size, 1), 1, RCL_RUN_MAX);

	return ping->op == RCLINK_PING_OP_SEND ?
	       1 : min(fit, ping->count - ping->ok);
}

static int rcl_ping_map(struct rcl_epoch *ep, struct rcl_pinger *p)
{
	p->len = rcl_ping_run_max(ep) * p->ping->size;
	p->mem = kzalloc(p->len, GFP_KERNEL | __GFP_NOWARN);
	if (!p->mem)
		return -ENOMEM;
	p->dma = ib_dma_map_single(ep->user.ib, p->mem, p->len,
				   DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(ep->user.ib, p->dma)) {
		kfree(p->mem);
		p->mem = NULL;
		return -EIO;
	}
	return 0;
}

/* Neither a round trip nor its data can be taken for an earlier one. */
static void rcl_ping_begin(struct rcl_epoch *ep)
{
	struct rcl_pinger *p = &ep->pinger;

	p->step = steps[p->ping->op];
	p->asked = false;
	p->cookie++;
	p->seed = get_random_u32();
	p->run = rcl_ping_run_max(ep);
	p->ran = 0;
	p->sent = 0;
	p->echoed = 0;
	p->end = 0;
	if (!p->mem)
		return;
	/* The previous round trips have left it to the processor. */
	ib_dma_sync_single_for_cpu(ep->user.ib, p->dma, p->len,
				   DMA_BIDIRECTIONAL);
	if (p->ping->op == RCLINK_PING_OP_WRITE)
		rcl_pattern_fill(p->mem, 0, p->len, ~p->seed);
	ib_dma_sync_single_for_device(ep->user.ib, p->dma, p->len,
				      DMA_BIDIRECTIONAL);
}

/* Ends the round trips under way, if any; no work request is outstanding. */
static void rcl_ping_end(struct rcl_epoch *ep, int error, const char *why)
{
	struct rcl_pinger *p = &ep->pinger;
	struct rcl_ping *ping = p->ping;

	/* If the device keeps the QP, what that may access stays, too. */
	if (p->mem && !ep->qp[0].lost) {
		ib_dma_unmap_single(ep->user.ib, p->dma, p->len,
				    DMA_BIDIRECTIONAL);
		kfree(p->mem);
		p->mem = NULL;
	}
	p->ping = NULL;
	if (error)
		ep->ctrl.stats->ping_errors++;
	rcl_ping_finish(ping, error, why);
}

/* It counts once it is verified, with those around it. */
static void rcl_ping_over(struct rcl_pinger *p)
{
	struct rcl_ping *ping = p->ping;
	ktime_t took = ktime_sub(p->end, p->start);

	ping->rtt[ping->ok + p->ran++] = ktime_to_ns(took);
}

static void rcl_ping_verified(struct rcl_epoch *ep)
{
	struct rcl_pinger *p = &ep->pinger;
	struct rcl_ping *ping = p->ping;

	ep->ctrl.stats->pings += p->ran;
	ping->ok += p->ran;
	if (ping->ok < ping->count)
		rcl_ping_begin(ep);
	else
		rcl_ping_end(ep, 0, NULL);
}

/**
 * rcl_ping_start - start a ping
 * @ep: active, without a round trip under way
 * @ping: from now on finished by this epoch
 *
 * To be followed by rcl_ping_continue().
 *
 * Context: the link's work item.
 */
void rcl_ping_start(struct rcl_epoch *ep, struct rcl_ping *ping)
{
	struct rcl_pinger *p = &ep->pinger;
	const char *why;
	int ret = 0;

	ret = rcl_ping_check(ep, ping, &why);
	if (ret) {
		rcl_ping_finish(ping, ret, why);
		return;
	}
	p->ping = ping;
	if (ping->op != RCLINK_PING_OP_SEND && ping->size)
		ret = rcl_ping_map(ep, p);
	if (ret)
		rcl_ping_end(ep, ret, "no memory in one piece for the payload: try a smaller size");
	else
		rcl_ping_begin(ep);
}

/* As many bytes of it as fit into one message. */
static u32 rcl_ping_piece(const struct rcl_ping *ping, u32 from)
{
	return min_t(u32, ping->size - from, RCL_MSG_DATA_MAX);
}

static int rcl_ping_send_echo(struct rcl_epoch *ep)
{
	struct rcl_pinger *p = &ep->pinger;
	u8 data[RCL_MSG_DATA_MAX];
	struct rcl_msg msg = {
		.type = RCL_MSG_PING,
		.cookie = p->cookie,
		.offset = p->sent,
		.len = rcl_ping_piece(p->ping, p->sent),
		.seed = p->seed,
		.data = data,
	};
	int ret;

	rcl_pattern_fill(data, msg.offset, msg.len, msg.seed);
	if (!p->asked)
		p->start = ktime_get();
	ret = rcl_ctrl_send(&ep->ctrl, &msg);
	if (ret)
		return ret;
	p->asked = true;
	p->sent += msg.len;
	return 0;
}

static int rcl_ping_echo(struct rcl_epoch *ep)
{
	struct rcl_pinger *p = &ep->pinger;
	int ret;

	while (!p->asked || p->sent < p->ping->size) {
		if (!rcl_ctrl_can_ask(&ep->ctrl)) {
			ep->ctrl.stats->credit_waits++;
			return 0;
		}
		ret = rcl_ping_send_echo(ep);
		if (ret)
			return ret == -EAGAIN ? 0 : ret;
	}
	return 0;
}

static int rcl_ping_ask(struct rcl_epoch *ep, u8 type, u32 n, u32 seed)
{
	struct rcl_pinger *p = &ep->pinger;
	struct rcl_msg msg = {
		.type = type,
		.cookie = p->cookie,
		.len = n * p->ping->size,
		.seed = seed,
	};
	int ret;

	if (p->asked || !rcl_ctrl_can_ask(&ep->ctrl))
		return 0;
	ret = rcl_ctrl_send(&ep->ctrl, &msg);
	if (ret)
		return ret == -EAGAIN ? 0 : ret;
	p->asked = true;
	return 0;
}

static void rcl_ping_completed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_pinger *p = container_of(wc->wr_cqe, struct rcl_pinger, cqe);

	if (wc->status != IB_WC_SUCCESS) {
		rcl_qp_wc_failed(cq, wc);
		return;
	}
	p->end = ktime_get();
}

static u64 rcl_ping_word(u32 offset, u32 seed)
{
	u64 word;

	rcl_pattern_fill((u8 *)&word, offset, sizeof(word), seed);
	return word;
}

static void rcl_ping_time(struct rcl_pinger *p)
{
	p->start = ktime_get();
	if (!p->ran)
		p->begun = p->start;
}

static int rcl_ping_post_atomic(struct rcl_epoch *ep, struct ib_sge *sge)
{
	struct rcl_pinger *p = &ep->pinger;
	u32 offset = p->ran * RCL_ATOMIC_LEN;
	u64 before = rcl_ping_word(offset, p->seed);
	u64 after = rcl_ping_word(offset, ~p->seed);
	struct ib_atomic_wr wr = {
		.wr.wr_cqe = &p->cqe,
		.wr.sg_list = sge,
		.wr.num_sge = 1,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = ep->remote.addr + offset,
		.rkey = ep->remote.rkey,
	};

	if (p->ping->op == RCLINK_PING_OP_CAS) {
		wr.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
		wr.compare_add = before;
		wr.swap = after;
	} else {
		wr.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD;
		wr.compare_add = after - before;
	}
	rcl_ping_time(p);
	return rcl_qp_post_send(&ep->qp[0], &wr.wr);
}

static int rcl_ping_post_rdma(struct rcl_epoch *ep, struct ib_sge *sge)
{
	struct rcl_pinger *p = &ep->pinger;
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &p->cqe,
		.wr.sg_list = sge,
		.wr.num_sge = sge->length ? 1 : 0,
		.wr.opcode = p->ping->op == RCLINK_PING_OP_WRITE ?
			     IB_WR_RDMA_WRITE : IB_WR_RDMA_READ,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = ep->remote.addr + p->ran * sge->length,
		.rkey = ep->remote.rkey,
	};

	/* A short one needs no access of the device to this memory. */
	if (wr.wr.opcode == IB_WR_RDMA_WRITE && wr.wr.num_sge &&
	    sge->length <= ep->qp[0].max_inline) {
		wr.wr.send_flags |= IB_SEND_INLINE;
		sge->addr = (uintptr_t)p->mem + p->ran * sge->length;
	}
	rcl_ping_time(p);
	return rcl_qp_post_send(&ep->qp[0], &wr.wr);
}

/*
 * If it is refused at once, nothing was posted, and the QP is as it was. A
 * software device may have completed it on return. What else has then completed
 * is looked at in another pass.
 */
static bool rcl_ping_post(struct rcl_epoch *ep)
{
	struct rcl_pinger *p = &ep->pinger;
	struct ib_sge sge = {
		.addr = p->dma + p->ran * p->ping->size,
		.length = p->ping->size,
		.lkey = ep->pd->local_dma_lkey,
	};
	int ret;

	p->end = 0;
	p->cqe.done = rcl_ping_completed;
	if (rcl_ping_is_atomic(p->ping->op))
		ret = rcl_ping_post_atomic(ep, &sge);
	else
		ret = rcl_ping_post_rdma(ep, &sge);
	if (ret) {
		rcl_ping_end(ep, ret, "the device refused the work request");
		return false;
	}
	p->asked = true;
	if (rcl_ctrl_poll(&ep->ctrl))
		ep->user.up->kick(ep->user.up);
	return true;
}

static void rcl_ping_next(struct rcl_pinger *p)
{
	p->step++;
	p->asked = false;
}

static bool rcl_ping_goes_on(const struct rcl_pinger *p)
{
	return p->ran < p->run &&
	       ktime_us_delta(p->end, p->begun) < RCL_RUN_US;
}

static void rcl_ping_run(struct rcl_epoch *ep)
{
	struct rcl_pinger *p = &ep->pinger;

	if (!p->asked && !rcl_ping_post(ep))
		return;
	while (p->end) {
		rcl_ping_over(p);
		if (!rcl_ping_goes_on(p))
			break;
		if (!rcl_ping_post(ep))
			return;
	}
	if (!p->end)
		return;

	if (p->mem)
		ib_dma_sync_single_for_cpu(ep->user.ib, p->dma, p->len,
					   DMA_BIDIRECTIONAL);
	if (p->ping->op != RCLINK_PING_OP_WRITE &&
	    !rcl_pattern_check(p->mem, 0, p->ran * p->ping->size, p->seed))
		rcl_ping_end(ep, -EILSEQ, data_differs);
	else
		rcl_ping_next(p);
}

/**
 * rcl_ping_continue - go on with the round trips under way, if there are any
 * @ep: active
 *
 * Context: the link's work item, after every kick.
 * Return: 0, or an errno that ends the epoch.
 */
int rcl_ping_continue(struct rcl_epoch *ep)
{
	struct rcl_pinger *p = &ep->pinger;
	const enum rcl_ping_step *step;
	int ret = 0;

	do {
		if (!p->ping)
			return 0;
		step = p->step;
		switch (*step) {
		case RCL_PING_ECHO:
			ret = rcl_ping_echo(ep);
			break;
		case RCL_PING_FILL:
			ret = rcl_ping_ask(ep, RCL_MSG_FILL, p->run, p->seed);
			break;
		case RCL_PING_RUN:
			rcl_ping_run(ep);
			break;
		case RCL_PING_CHECK:
			ret = rcl_ping_ask(ep, RCL_MSG_CHECK, p->ran,
					   ~p->seed);
			break;
		case RCL_PING_DONE:
			rcl_ping_verified(ep);
			break;
		}
	} while (!ret && p->step != step);
	return ret;
}

static int rcl_ping_echoed(struct rcl_epoch *ep, const struct rcl_msg *msg,
			   ktime_t arrived)
{
	struct rcl_pinger *p = &ep->pinger;

	if (msg->offset != p->echoed || msg->seed != p->seed ||
	    msg->len != rcl_ping_piece(p->ping, p->echoed))
		return -EPROTO;
	if (!rcl_pattern_check(msg->data, msg->offset, msg->len, p->seed)) {
		rcl_ping_end(ep, -EILSEQ, data_differs);
		return 0;
	}
	p->echoed += msg->len;
	if (p->echoed == p->ping->size) {
		p->end = arrived;
		rcl_ping_over(p);
		rcl_ping_next(p);
	}
	return 0;
}

/**
 * rcl_ping_answer - handle an answer of the peer
 * @ep: active
 * @msg: PONG, FILLED or CHECKED, the answer to the oldest question
 * @arrived: when its completion was handled
 *
 * Context: the link's work item.
 * Return: 0, or -EPROTO for an answer that nobody asked for.
 */
int rcl_ping_answer(struct rcl_epoch *ep, const struct rcl_msg *msg,
		    ktime_t arrived)
{
	static const u8 answers[] = {
		[RCL_PING_ECHO] = RCL_MSG_PONG,
		[RCL_PING_FILL] = RCL_MSG_FILLED,
		[RCL_PING_CHECK] = RCL_MSG_CHECKED,
	};
	struct rcl_pinger *p = &ep->pinger;
	enum rcl_ping_step step;

	/* For a ping that ended because another piece came back wrong. */
	if (!p->ping || msg->cookie != p->cookie)
		return 0;
	step = *p->step;
	if (!p->asked || step >= ARRAY_SIZE(answers) ||
	    answers[step] != msg->type)
		return -EPROTO;
	if (msg->status) {
		rcl_ping_end(ep, -EILSEQ, peer_differs);
		return 0;
	}
	if (step == RCL_PING_ECHO)
		return rcl_ping_echoed(ep, msg, arrived);
	rcl_ping_next(p);
	return 0;
}

/**
 * rcl_ping_walks - how much does a question have this end look at?
 * @msg: of any type; what is out of range ends the epoch
 *
 * Context: any.
 * Return: bytes of the link buffer.
 */
u32 rcl_ping_walks(const struct rcl_msg *msg)
{
	return msg->type == RCL_MSG_FILL || msg->type == RCL_MSG_CHECK ?
	       msg->len : 0;
}

/*
 * The link's work item has priority over all processes. A peer that never stops
 * having its buffer walked through must not get the processor for itself.
 */
static void rcl_ping_rest(ktime_t begun)
{
	u32 us = min_t(s64, ktime_us_delta(ktime_get(), begun),
		       RCL_REST_US_MAX);

	if (us >= RCL_REST_US_MIN)
		usleep_range(us, us + us / 4);
}

/**
 * rcl_ping_question - answer a question of the peer
 * @ep: active
 * @msg: PING, FILL or CHECK, hostile
 *
 * Context: the link's work item.
 * Return: 0, -EPROTO, or what rcl_ctrl_send() returns.
 */
int rcl_ping_question(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_buffer *buf = &ep->buffer;
	bool fill = msg->type == RCL_MSG_FILL;
	struct rcl_msg answer = *msg;
	ktime_t begun;
	int ret;

	if (msg->type == RCL_MSG_PING) {
		answer.type = RCL_MSG_PONG;
		answer.status = rcl_pattern_check(msg->data, msg->offset,
						  msg->len, msg->seed) ?
				RCL_MSG_OK : RCL_MSG_DIFFERS;
		return rcl_ctrl_send(&ep->ctrl, &answer);
	}
	if (msg->offset > buf->length || msg->len > buf->length - msg->offset)
		return -EPROTO;
	begun = ktime_get();
	answer.type = fill ? RCL_MSG_FILLED : RCL_MSG_CHECKED;
	answer.status = rcl_buffer_walk(buf, msg->offset, msg->len, msg->seed,
					fill) ? RCL_MSG_OK : RCL_MSG_DIFFERS;
	ret = rcl_ctrl_send(&ep->ctrl, &answer);
	rcl_ping_rest(begun);
	return ret;
}

/**
 * rcl_ping_abort - end the round trips under way, if there are any
 * @ep: stopped, so that nothing accesses its memory
 * @error: negative errno for it
 * @why: sentence for it
 *
 * Context: the link's work item.
 */
void rcl_ping_abort(struct rcl_epoch *ep, int error, const char *why)
{
	if (ep->pinger.ping)
		rcl_ping_end(ep, error, why);
}
