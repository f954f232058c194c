// SPDX-License-Identifier: GPL-2.0
/*
 * An entry is checked against what the consumer registered and imported; what
 * it asks to send is posted together with what follows, because one chain of
 * work requests costs a device less than its parts. A WRITE or READ that
 * touches several extents of the peer's region has one work request for each.
 * What completes goes to the channel's completions, from where the consumer's
 * side takes it.
 *
 * Neither consumer knows when the other one has posted its first receive. Until
 * the peer's kernel says so, the first operation that needs one stays in the
 * chain, and so does what is behind it. The device would give up after some
 * milliseconds, or, told to try for ever, load the network meanwhile.
 */
#include "chan-io.h"

#include <linux/ktime.h>
#include <linux/nospec.h>

#include "chan.h"
#include "qp.h"
#include "region.h"
#include "remote.h"
#include "upcall.h"

#define RCL_LEN_MAX	BIT(30)	/* bytes; IBA allows twice that */

static u32 rcl_queue_busy(const struct rcl_queue *queue)
{
	return queue->posted - queue->done;
}

/* What a completion says beside its status. */
struct rcl_news {
	u32 len;
	u32 imm;
	u8 flags;
};

static void rcl_chan_push(struct rcl_op *op, const struct ib_wc *wc,
			  const struct rcl_news *news)
{
	struct rcl_cq *cq = &op->chan->cq;
	struct rclink_dev_cqe *cqe = &cq->cqe[cq->filled & (cq->depth - 1)];

	cqe->user_data = op->user_data;
	cqe->time = cq->timed ? ktime_get_ns() : 0;
	cqe->status = wc->status;
	cqe->vendor_err = wc->status ? wc->vendor_err : 0;
	cqe->len = news->len;
	cqe->imm = news->imm;
	cqe->flags = news->flags;
	cqe->op = op->op;
	WRITE_ONCE(cq->filled, cq->filled + 1);
	/* The consumer loads it with acquire, then reads the entry. */
	smp_store_release(cq->tail, cq->filled);
}

/*
 * All parts that are behind one that failed fail, too; the consumer asked for
 * one operation.
 */
static void rcl_chan_failed(struct rcl_op *op, const struct ib_wc *wc)
{
	struct rcl_chan *chan = op->chan;
	u32 i;

	chan->heard = true;
	if (op->told)
		return;
	rcl_chan_push(op, wc, &(struct rcl_news){ .len = op->len });
	for (i = chan->sends.done; i != op->last + 1; i++) {
		struct rcl_op *part = &chan->send_op[i % RCL_CHAN_SEND_SLOTS];

		if (part->last == op->last)
			part->told = true;
	}
}

/* Under the lock, or below the drain, when nobody else has the QP. */
static void rcl_chan_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_op *op = container_of(wc->wr_cqe, struct rcl_op, cqe);

	op->chan->sends.done = op->number + 1;
	if (wc->status) {
		rcl_qp_wc_fault(cq, wc);
		rcl_chan_failed(op, wc);
	} else if (op->signaled) {
		rcl_chan_push(op, wc, &(struct rcl_news){ .len = op->len });
	}
}

static void rcl_chan_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_op *op = container_of(wc->wr_cqe, struct rcl_op, cqe);
	struct rcl_qp *qp = cq->cq_context;
	struct rcl_news news = { .len = wc->byte_len };

	op->chan->recvs.done = op->number + 1;
	if (wc->status) {
		op->chan->heard = true;
		news.len = 0;
		rcl_qp_wc_fault(cq, wc);
		rcl_chan_push(op, wc, &news);
		return;
	}
	this_cpu_inc(op->chan->traffic->recvs);
	this_cpu_add(op->chan->traffic->recv_bytes, wc->byte_len);
	if (wc->wc_flags & IB_WC_WITH_IMM) {
		news.flags = RCLINK_CQE_IMM;
		news.imm = be32_to_cpu(wc->ex.imm_data);
	} else if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		news.flags = RCLINK_CQE_INVALIDATED;
		/* Our kernel lets it be sent for no other. */
		if (!rcl_region_invalidated(op->chan, wc->ex.invalidate_rkey,
					    &news.imm))
			qp->up->fail(qp->up, RCLINK_DOWN_REASON_PROTOCOL, 0, 0,
				     qp->index);
	}
	rcl_chan_push(op, wc, &news);
}

/* Each operation in flight may need an entry, also if it is not signaled. */
static bool rcl_chan_has_room(const struct rcl_chan *chan, u32 n)
{
	u32 used = rcl_chan_ready(chan);

	return used <= chan->cq.depth &&
	       used + rcl_queue_busy(&chan->sends) +
	       rcl_queue_busy(&chan->recvs) + n <= chan->cq.depth;
}

static int rcl_chan_sge(struct rcl_chan *chan,
			const struct rclink_dev_sqe *sqe, struct ib_sge *sge,
			u32 *len)
{
	u32 n = 0;
	u32 i;

	*len = 0;
	for (i = 0; i < sqe->num_sge; i++) {
		const struct rclink_dev_sge *from = &sqe->sge[i];
		int ret;

		ret = rcl_region_sge(chan, from, &sge[n], chan->max_sge - n);
		if (ret < 0)
			return ret;
		if (from->len > RCL_LEN_MAX - *len)
			return -EMSGSIZE;
		n += ret;
		*len += from->len;
	}
	return n;
}

static int rcl_chan_post_recv(struct rcl_chan *chan,
			      const struct rclink_dev_sqe *sqe)
{
	struct rcl_op *op = &chan->recv_op[chan->recvs.posted %
					   RCL_CHAN_RECV_SLOTS];
	struct ib_sge sge[RCLINK_DEV_PARTS_MAX] __uninitialized;
	struct ib_recv_wr wr = {
		.wr_cqe = &op->cqe,
		.sg_list = sge,
	};
	u32 len;
	int ret;

	if (sqe->flags)
		return -EINVAL;
	if (rcl_queue_busy(&chan->recvs) == RCLINK_DEV_RECVS)
		return -EBUSY;
	ret = rcl_chan_sge(chan, sqe, sge, &len);
	if (ret < 0)
		return ret;
	wr.num_sge = ret;
	op->cqe.done = rcl_chan_received;
	op->user_data = sqe->user_data;
	op->op = sqe->op;
	op->number = chan->recvs.posted;
	ret = ib_post_recv(chan->qp->qp, &wr, NULL);
	if (!ret)
		chan->recvs.posted++;
	return ret;
}

static u32 rcl_chan_right(u8 op)
{
	switch (op) {
	case RCLINK_OP_READ:
		return RCLINK_REGION_READ;
	case RCLINK_OP_CAS:
	case RCLINK_OP_FADD:
	case RCLINK_OP_MCAS:
	case RCLINK_OP_MFADD:
		return RCLINK_REGION_ATOMIC;
	case RCLINK_OP_SEND_INV:
		return RCLINK_REGION_INVALIDATE;
	default:
		return RCLINK_REGION_WRITE;
	}
}

static struct rcl_window *rcl_chan_window(struct rcl_chan *chan,
					  const struct rclink_dev_sqe *sqe)
{
	struct rcl_window *window = rcl_remote_find(chan, sqe->remote);

	if (!window || !window->rights)
		return ERR_PTR(-ESTALE);
	if (!(window->rights & rcl_chan_right(sqe->op)))
		return ERR_PTR(-EACCES);
	return window;
}

/* Returns how many work requests that takes. */
static int rcl_chan_remote(struct rcl_chan *chan,
			   const struct rclink_dev_sqe *sqe, u32 len,
			   u64 *addr, u32 *rkey)
{
	const struct rcl_window *window = rcl_chan_window(chan, sqe);
	u32 parts;

	if (IS_ERR(window))
		return PTR_ERR(window);
	if (sqe->remote_offset > window->len ||
	    len > window->len - sqe->remote_offset)
		return -EINVAL;
	*addr = window->addr + sqe->remote_offset;
	*rkey = window->rkeys[rcl_window_index(window, *addr)];
	parts = rcl_window_touched(window, *addr, len);
	return parts > RCLINK_DEV_PARTS_MAX ? -EMSGSIZE : parts;
}

static bool rcl_chan_has_atomic(const struct rcl_chan *chan, u8 op)
{
	if (!(chan->access & IB_ACCESS_REMOTE_ATOMIC))
		return false;
	return op == RCLINK_OP_CAS || op == RCLINK_OP_FADD ||
	       chan->qp->qp->device->attrs.masked_atomic_cap != IB_ATOMIC_NONE;
}

static int rcl_chan_fill_atomic(struct rcl_chan *chan,
				const struct rclink_dev_sqe *sqe, u32 len,
				u32 num_sge, struct ib_atomic_wr *wr)
{
	int ret;

	if (!rcl_chan_has_atomic(chan, sqe->op))
		return -EOPNOTSUPP;
	if (len != sizeof(u64) || sqe->num_sge != 1)
		return -EINVAL;
	if (num_sge != 1)
		return -EMSGSIZE;
	ret = rcl_chan_remote(chan, sqe, len, &wr->remote_addr, &wr->rkey);
	if (ret < 0)
		return ret;
	if (wr->remote_addr % sizeof(u64))
		return -EINVAL;
	wr->compare_add = sqe->compare_add;
	wr->swap = sqe->swap;
	wr->compare_add_mask = sqe->compare_mask;
	wr->swap_mask = sqe->swap_mask;
	return 1;
}

/* The peer has no such region any more, once it has the message. */
static int rcl_chan_fill_inv(struct rcl_chan *chan,
			     const struct rclink_dev_sqe *sqe,
			     struct ib_send_wr *wr)
{
	struct rcl_window *window = rcl_chan_window(chan, sqe);

	if (IS_ERR(window))
		return PTR_ERR(window);
	wr->ex.invalidate_rkey = window->rkeys[0];
	window->rights = 0;
	return 1;
}

/* Returns how many work requests it takes; the first one is filled. */
static int rcl_chan_fill(struct rcl_chan *chan,
			 const struct rclink_dev_sqe *sqe, u32 len, u32 num_sge,
			 union rcl_wr *wr)
{
	static const enum ib_wr_opcode opcodes[] = {
		[RCLINK_OP_SEND] = IB_WR_SEND,
		[RCLINK_OP_SEND_IMM] = IB_WR_SEND_WITH_IMM,
		[RCLINK_OP_WRITE] = IB_WR_RDMA_WRITE,
		[RCLINK_OP_WRITE_IMM] = IB_WR_RDMA_WRITE_WITH_IMM,
		[RCLINK_OP_READ] = IB_WR_RDMA_READ,
		[RCLINK_OP_CAS] = IB_WR_ATOMIC_CMP_AND_SWP,
		[RCLINK_OP_FADD] = IB_WR_ATOMIC_FETCH_AND_ADD,
		[RCLINK_OP_SEND_INV] = IB_WR_SEND_WITH_INV,
		[RCLINK_OP_MCAS] = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		[RCLINK_OP_MFADD] = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
	};

	wr->send.opcode = opcodes[array_index_nospec(sqe->op,
						     ARRAY_SIZE(opcodes))];
	wr->send.ex.imm_data = cpu_to_be32(sqe->imm);
	switch (sqe->op) {
	case RCLINK_OP_SEND:
	case RCLINK_OP_SEND_IMM:
		return 1;
	case RCLINK_OP_SEND_INV:
		return rcl_chan_fill_inv(chan, sqe, &wr->send);
	case RCLINK_OP_WRITE:
	case RCLINK_OP_WRITE_IMM:
	case RCLINK_OP_READ:
		return rcl_chan_remote(chan, sqe, len, &wr->rdma.remote_addr,
				       &wr->rdma.rkey);
	default:
		return rcl_chan_fill_atomic(chan, sqe, len, num_sge,
					    &wr->atomic);
	}
}

static int rcl_chan_inline(struct rcl_chan *chan,
			   const struct rclink_dev_sqe *sqe, u32 slot,
			   struct ib_sge *sge, u32 *len)
{
	u32 at = slot * RCLINK_DEV_INLINE_MAX;

	if (sqe->num_sge || sqe->len > RCLINK_DEV_INLINE_MAX ||
	    (sqe->op > RCLINK_OP_WRITE_IMM && sqe->op != RCLINK_OP_SEND_INV))
		return -EINVAL;
	memcpy(chan->inl + at, sqe->inline_data, sqe->len);
	ib_dma_sync_single_for_device(chan->qp->qp->device, chan->inl_dma + at,
				      RCLINK_DEV_INLINE_MAX, DMA_TO_DEVICE);
	sge->addr = chan->inl_dma + at;
	sge->length = sqe->len;
	sge->lkey = chan->qp->qp->pd->local_dma_lkey;
	*len = sqe->len;
	return 1;
}

static int rcl_chan_send_flags(struct rcl_chan *chan,
			       const struct rclink_dev_sqe *sqe,
			       const struct rcl_op *op)
{
	int flags = 0;

	if (op->signaled || ++chan->quiet >= RCL_CHAN_SIGNAL) {
		flags |= IB_SEND_SIGNALED;
		chan->quiet = 0;
	}
	if (sqe->flags & RCLINK_SQE_FENCE)
		flags |= IB_SEND_FENCE;
	if (sqe->flags & RCLINK_SQE_SOLICITED)
		flags |= IB_SEND_SOLICITED;
	return flags;
}

/* Does it take a receive of the peer, who may have none yet? */
static bool rcl_chan_is_early(const struct rcl_chan *chan, u8 op)
{
	return !chan->heard &&
	       (op == RCLINK_OP_SEND || op == RCLINK_OP_SEND_IMM ||
		op == RCLINK_OP_SEND_INV || op == RCLINK_OP_WRITE_IMM);
}

/* The work request at the end of the chain is whole but for what is here. */
static void rcl_chan_append(struct rcl_chan *chan,
			    const struct rclink_dev_sqe *sqe, u32 len, u32 last,
			    u32 num_sge)
{
	struct rcl_chain *chain = &chan->chain;
	struct rcl_op *op = &chan->send_op[chan->sends.posted %
					   RCL_CHAN_SEND_SLOTS];
	union rcl_wr *wr = &chain->wr[chain->n];

	op->cqe.done = rcl_chan_sent;
	op->user_data = sqe->user_data;
	op->op = sqe->op;
	op->len = len;
	op->number = chan->sends.posted++;
	op->last = last;
	op->signaled = op->number == last && sqe->flags & RCLINK_SQE_SIGNALED;
	op->told = false;
	wr->send.next = NULL;
	wr->send.wr_cqe = &op->cqe;
	wr->send.sg_list = chain->sge[chain->n];
	wr->send.num_sge = num_sge;
	wr->send.send_flags = rcl_chan_send_flags(chan, sqe, op);
	if (chain->n)
		chain->wr[chain->n - 1].send.next = &wr->send;
	chain->held |= rcl_chan_is_early(chan, sqe->op);
	if (op->number == last) {
		chain->ops++;
		chain->bytes += len;
	}
	chain->n++;
}

/* Pieces that have more than @len bytes: what is behind goes to @to. */
static u32 rcl_chan_split(struct ib_sge *sge, u32 *n, u64 len,
			  struct ib_sge *to)
{
	u32 rest = 0;
	u32 i, keep;

	for (i = 0; sge[i].length <= len; i++)
		len -= sge[i].length;
	keep = i;
	if (len) {
		to[rest] = sge[i];
		to[rest].addr += len;
		to[rest++].length -= len;
		sge[i++].length = len;
		keep = i;
	}
	while (i < *n)
		to[rest++] = sge[i++];
	*n = keep;
	return rest;
}

/* As far as there is another extent, that is another work request. */
static void rcl_chan_append_parts(struct rcl_chan *chan,
				  const struct rclink_dev_sqe *sqe, u32 len,
				  u32 parts, u32 num_sge)
{
	const struct rcl_window *window = rcl_chan_window(chan, sqe);
	u32 last = chan->sends.posted + parts - 1;
	struct rcl_chain *chain = &chan->chain;

	while (chan->sends.posted != last) {
		struct ib_rdma_wr *wr = &chain->wr[chain->n].rdma;
		struct ib_rdma_wr *next = &chain->wr[chain->n + 1].rdma;
		u64 left = rcl_window_left(window, wr->remote_addr);
		u32 rest = rcl_chan_split(chain->sge[chain->n], &num_sge, left,
					  chain->sge[chain->n + 1]);

		*next = *wr;
		next->remote_addr += left;
		next->rkey = window->rkeys[rcl_window_index(window,
							    next->remote_addr)];
		/* The peer hears of it when all is there. */
		if (wr->wr.opcode == IB_WR_RDMA_WRITE_WITH_IMM)
			wr->wr.opcode = IB_WR_RDMA_WRITE;
		rcl_chan_append(chan, sqe, len, last, num_sge);
		num_sge = rest;
	}
	rcl_chan_append(chan, sqe, len, last, num_sge);
}

static int rcl_chan_chain(struct rcl_chan *chan,
			  const struct rclink_dev_sqe *sqe)
{
	u32 slot = chan->sends.posted % RCL_CHAN_SEND_SLOTS;
	struct rcl_chain *chain = &chan->chain;
	struct ib_sge *sge;
	int num_sge, parts;
	u32 len;

	if (rcl_queue_busy(&chan->sends) == RCLINK_DEV_SENDS)
		return -EBUSY;
	/* What is before it needs not wait. */
	if (rcl_chan_is_early(chan, sqe->op))
		rcl_chan_flush(chan);
	sge = chain->sge[chain->n];
	if (sqe->flags & RCLINK_SQE_INLINE)
		num_sge = rcl_chan_inline(chan, sqe, slot, sge, &len);
	else
		num_sge = rcl_chan_sge(chan, sqe, sge, &len);
	if (num_sge < 0)
		return num_sge;
	parts = rcl_chan_fill(chan, sqe, len, num_sge, &chain->wr[chain->n]);
	if (parts < 0)
		return parts;
	if (parts > 1 &&
	    (rcl_queue_busy(&chan->sends) + parts > RCLINK_DEV_SENDS ||
	     !rcl_chan_has_room(chan, parts)))
		return -EBUSY;
	if (parts > 1)
		rcl_chan_append_parts(chan, sqe, len, parts, num_sge);
	else
		rcl_chan_append(chan, sqe, len, chan->sends.posted, num_sge);
	if (chain->n >= RCL_CHAN_CHAIN)
		rcl_chan_flush(chan);
	return 0;
}

static void rcl_chan_chain_empty(struct rcl_chain *chain)
{
	chain->n = 0;
	chain->held = false;
	chain->ops = 0;
	chain->bytes = 0;
}

/* As if the device had them, and had failed: it took none from this one on. */
static void rcl_chan_refused(struct rcl_chan *chan,
			     const struct ib_send_wr *wr,
			     enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status };
	struct rcl_op *op;

	op = container_of(wr->wr_cqe, struct rcl_op, cqe);
	chan->sends.posted = op->number;
	/* One that completes may be among these. */
	chan->quiet = RCL_CHAN_SIGNAL;
	for (; wr; wr = wr->next)
		rcl_chan_failed(container_of(wr->wr_cqe, struct rcl_op, cqe),
				&wc);
}

/* The peer's kernel is to know of the first receive, and of those beside it. */
static void rcl_chan_tell(struct rcl_chan *chan)
{
	if (!chan->recvs.posted || chan->lessee.hears)
		return;
	WRITE_ONCE(chan->lessee.hears, true);
	chan->qp->up->kick(chan->qp->up);
}

/**
 * rcl_chan_flush - give the device what rcl_chan_post() has chained
 * @chan: any, its lock held
 *
 * Nothing, while the peer has to post a receive first. What the device refuses
 * completes with an error. Our first receives are told to the peer.
 *
 * Context: process or softirq context.
 */
void rcl_chan_flush(struct rcl_chan *chan)
{
	struct rcl_chain *chain = &chan->chain;
	const struct ib_send_wr *bad;

	lockdep_assert_held(&chan->lock);
	if (!chan->qp)
		return;
	rcl_chan_tell(chan);
	if (!chain->n || (chain->held && !chan->heard))
		return;
	if (rcl_qp_post_chain(chan->qp, &chain->wr[0].send, &bad)) {
		rcl_chan_refused(chan, bad, IB_WC_GENERAL_ERR);
	} else {
		this_cpu_add(chan->traffic->ops, chain->ops);
		this_cpu_add(chan->traffic->bytes, chain->bytes);
	}
	rcl_chan_chain_empty(chain);
}

/**
 * rcl_chan_drop - let what the device was not given complete as flushed
 * @chan: detached, its lock held; nothing else completes any more
 */
void rcl_chan_drop(struct rcl_chan *chan)
{
	struct rcl_chain *chain = &chan->chain;

	if (chain->n)
		rcl_chan_refused(chan, &chain->wr[0].send, IB_WC_WR_FLUSH_ERR);
	rcl_chan_chain_empty(chain);
}

/**
 * rcl_chan_poll - handle completions
 * @chan: open, its lock held
 * @budget: at most so many
 *
 * Context: process or softirq context.
 * Return: how many were handled.
 */
int rcl_chan_poll(struct rcl_chan *chan, int budget)
{
	int n = rcl_qp_poll(chan->qp, budget);

	/* If one has failed, the device is to flush what was held, too. */
	rcl_chan_flush(chan);
	return n;
}

/**
 * rcl_chan_post - check an entry, and post it with rcl_chan_flush()
 * @chan: open, its lock held; not to be unlocked before rcl_chan_flush()
 * @sqe: hostile, but nobody writes it any more
 *
 * Context: process or softirq context.
 * Return: 0, -EINVAL for an entry that is wrong, -ESTALE for an unknown handle,
 * -EACCES without the right, -EMSGSIZE when it touches too many extents,
 * -EOPNOTSUPP for an atomic that the device does not have, -EBUSY when as many
 * are in flight as can be, or what the verbs call says.
 */
int rcl_chan_post(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe)
{
	if (sqe->op >= RCLINK_OP_MAX || sqe->flags & ~RCLINK_SQE_FLAGS ||
	    sqe->num_sge > RCLINK_DEV_SGE_MAX || sqe->pad ||
	    (sqe->compare_mask && sqe->op < RCLINK_OP_MCAS) ||
	    (sqe->swap_mask && sqe->op != RCLINK_OP_MCAS))
		return -EINVAL;
	if (!rcl_chan_has_room(chan, 1))
		return -EBUSY;
	if (sqe->op == RCLINK_OP_RECV)
		return rcl_chan_post_recv(chan, sqe);
	return rcl_chan_chain(chan, sqe);
}

/**
 * rcl_chan_io_init - begin with nothing in flight
 * @chan: zeroed
 */
void rcl_chan_io_init(struct rcl_chan *chan)
{
	u32 i;

	BUILD_BUG_ON(RCLINK_DEV_SENDS > RCL_CHAN_SEND_SLOTS);
	BUILD_BUG_ON(RCLINK_DEV_RECVS > RCL_CHAN_RECV_SLOTS);
	for (i = 0; i < RCL_CHAN_SEND_SLOTS; i++)
		chan->send_op[i].chan = chan;
	for (i = 0; i < RCL_CHAN_RECV_SLOTS; i++)
		chan->recv_op[i].chan = chan;
}
