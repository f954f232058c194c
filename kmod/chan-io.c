// SPDX-License-Identifier: GPL-2.0
/*
 * A send is posted together with those that follow, because one chain of work
 * requests costs a device less than its parts. A WRITE or READ that touches
 * several extents of the peer's region has one work request for each. What has
 * completed goes to the channel's completions, from where the consumer's side
 * takes it.
 *
 * Neither consumer knows when the other one has posted its first receive. Until
 * the peer's kernel says so, the first operation that needs one stays in the
 * chain, as does what is behind it, but not what is before it. Otherwise the
 * device would give up after some milliseconds or, told to retry forever, load
 * the network meanwhile.
 */
#include "chan-io.h"

#include <linux/ktime.h>
#include <linux/string.h>

#include "chan.h"
#include "chan-wr.h"
#include "compat.h"
#include "fate.h"
#include "qp.h"
#include "region.h"
#include "upcall.h"

/* What a completion says besides its status. */
struct rcl_news {
	u32 len;
	u32 imm;
	u8 flags;
};

/* Inlined, because a call would be a good part of the cost. */
static __always_inline void rcl_chan_push(struct rcl_op *op,
					  const struct ib_wc *wc,
					  struct rcl_news news)
{
	struct rcl_cq *cq = &op->chan->cq;
	u32 filled = cq->filled;
	struct rclink_dev_cqe *cqe = &cq->cqe[filled & (cq->depth - 1)];

	cqe->user_data = op->user_data;
	cqe->status = wc->status;
	cqe->vendor_err = wc->status ? wc->vendor_err : 0;
	cqe->len = news.len;
	cqe->imm = news.imm;
	cqe->flags = news.flags;
	cqe->op = op->op;
	cqe->time = cq->timed ? ktime_get_ns() : 0;
	/* The consumer loads it with acquire, then reads the entry. */
	smp_store_release(cq->tail, filled + 1);
	/* Last: whoever waited for it must find the entry. */
	smp_store_release(&cq->filled, filled + 1);
}

/*
 * All parts behind a failed one fail, too; but the consumer asked for only one
 * operation.
 */
static void rcl_chan_failed(struct rcl_op *op, const struct ib_wc *wc)
{
	struct rcl_chan *chan = op->chan;
	u32 i;

	chan->heard = true;
	if (op->told)
		return;
	rcl_chan_push(op, wc, (struct rcl_news){ .len = op->len });
	for (i = chan->sends.done; i != op->last + 1; i++) {
		struct rcl_op *part = rcl_chan_send_op(chan, i);

		if (part->last == op->last)
			part->told = true;
	}
}

/* A ghost completes when its turn comes. Returns false for others. */
static bool rcl_chan_pass(struct rcl_chan *chan, u32 number)
{
	struct rcl_op *op = rcl_chan_send_op(chan, number);
	struct rcl_kept *kept = rcl_keep_send_op(chan->keep, number);
	struct ib_wc wc = { .status = kept->status };

	if (!kept->ghost)
		return false;
	kept->ghost = false;
	chan->keep->ghosts--;
	if (op->signaled || wc.status)
		rcl_chan_push(op, &wc, (struct rcl_news){ .len = op->len });
	return true;
}

/* Ghosts before an operation that has completed have had their turn. */
static void rcl_chan_pass_before(struct rcl_chan *chan, u32 number)
{
	u32 i;

	for (i = chan->sends.done; chan->keep->ghosts && i != number; i++)
		rcl_chan_pass(chan, i);
}

/**
 * rcl_chan_retire - sends were carried out, including unsignaled ones
 * @chan: its lock held, or called by the drain
 * @number: all before this one
 */
void rcl_chan_retire(struct rcl_chan *chan, u32 number)
{
	struct rcl_keep *keep = chan->keep;

	if (keep && number != chan->sends.done) {
		rcl_chan_pass_before(chan, number);
		keep->acked = rcl_keep_send_op(keep, number - 1)->counted;
	}
	chan->sends.done = number;
}

/**
 * rcl_chan_pass_head - complete the ghosts at the head of the queue
 * @chan: with @chan->keep, its lock held
 */
void rcl_chan_pass_head(struct rcl_chan *chan)
{
	struct rcl_keep *keep = chan->keep;

	while (keep->ghosts && rcl_keep_send_op(keep, chan->sends.done)->ghost)
		rcl_chan_pass(chan, chan->sends.done++);
}

/* Have the link ask the peer whether it is there. */
static void rcl_chan_stall(struct rcl_chan *chan, struct rcl_qp *qp)
{
	if (chan->lessee.stalled || chan->keep->suspended)
		return;
	WRITE_ONCE(chan->lessee.stalled, true);
	qp->up->kick(qp->up);
}

/* If one part of an operation failed, repost all of its parts. */
static u32 rcl_chan_first(struct rcl_chan *chan, const struct rcl_op *op)
{
	u32 n = op->number;

	while (n != chan->sends.done &&
	       rcl_chan_send_op(chan, n - 1)->last == op->last)
		n--;
	return n;
}

/* Under the lock, or called by the drain, when nobody else has the QP. */
static void rcl_chan_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_op *op = container_of(wc->wr_cqe, struct rcl_op, cqe);
	struct rcl_chan *chan = op->chan;
	struct rcl_keep *keep = chan->keep;

	if (unlikely(!rcl_queue_has(&chan->sends, op->number) ||
		     rcl_chan_in_chain(chan, op->number)))
		return;
	if (keep && wc->status && rcl_keep_holds(keep, cq, wc, true)) {
		if (!keep->sends_held)
			rcl_chan_retire(chan, rcl_chan_first(chan, op));
		keep->sends_held = true;
		rcl_chan_stall(chan, cq->cq_context);
		return;
	}
	if (keep)
		rcl_chan_retire(chan, op->number + !wc->status);
	chan->sends.done = op->number + 1;
	if (wc->status) {
		rcl_qp_wc_fault(cq, wc);
		rcl_chan_failed(op, wc);
	} else if (op->signaled) {
		rcl_chan_push(op, wc, (struct rcl_news){ .len = op->len });
	}
	if (keep)
		rcl_chan_pass_head(chan);
}

static void rcl_chan_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_op *op = container_of(wc->wr_cqe, struct rcl_op, cqe);
	struct rcl_qp *qp = cq->cq_context;
	struct rcl_news news = { .len = wc->byte_len };
	struct rcl_keep *keep = op->chan->keep;

	if (unlikely(!rcl_queue_has(&op->chan->recvs, op->number)))
		return;
	if (wc->status && keep && rcl_keep_holds(keep, cq, wc, false)) {
		rcl_chan_stall(op->chan, qp);
		return;
	}
	op->chan->recvs.done = op->number + 1;
	if (wc->status) {
		op->chan->heard = true;
		news.len = 0;
		rcl_qp_wc_fault(cq, wc);
		rcl_chan_push(op, wc, news);
		return;
	}
	op->chan->lessee.got++;
	this_cpu_inc(op->chan->traffic->recvs);
	this_cpu_add(op->chan->traffic->recv_bytes, wc->byte_len);
	if (wc->wc_flags & IB_WC_WITH_IMM) {
		news.flags = RCLINK_CQE_IMM;
		if (rcl_qp_wc_written(cq, wc))
			news.flags |= RCLINK_CQE_WRITTEN;
		news.imm = be32_to_cpu(wc->ex.imm_data);
	} else if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		int ret = rcl_region_invalidated(op->chan,
						 wc->ex.invalidate_rkey,
						 &news.imm);

		news.flags = ret ? 0 : RCLINK_CQE_INVALIDATED;
		/* The module lets it be sent for no other key. */
		if (ret == -EPROTO)
			rcl_qp_fail(qp, RCLINK_DOWN_REASON_PROTOCOL, 0, 0);
	}
	rcl_chan_push(op, wc, news);
}

/* Each operation in flight may need an entry, even if it is not signaled. */
static bool rcl_chan_has_room(const struct rcl_chan *chan, u32 n)
{
	return rcl_chan_ready(chan) + rcl_queue_busy(&chan->sends) +
	       rcl_queue_busy(&chan->recvs) + n <= chan->cq.depth;
}

static int rcl_chan_post_recv(struct rcl_chan *chan,
			      const struct rclink_dev_sqe *sqe)
{
	struct rcl_op *op = rcl_chan_recv_op(chan, chan->recvs.posted);
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
	ret = rcl_region_pieces(chan, sqe, true, sge, &len);
	if (ret < 0)
		return ret;
	wr.num_sge = ret;
	/* irdma takes the first piece, even if there is none. */
	if (!ret)
		wr.sg_list = NULL;
	rcl_op_set_recv(op, sqe, chan->recvs.posted);
	ret = ib_post_recv(chan->qp->qp, &wr, NULL);
	/* These mean something else to the caller. */
	if (ret == -EAGAIN || ret == -EBUSY)
		return -EIO;
	if (ret)
		return ret;
	if (chan->keep)
		*rcl_keep_recv_op(chan->keep, op->number) = *sqe;
	chan->recvs.posted++;
	return 0;
}

static int rcl_chan_send_flags(struct rcl_chan *chan,
			       const struct rclink_dev_sqe *sqe,
			       const struct rcl_op *op)
{
	int flags = 0;

	/* Parts before the last one would report too early. */
	if (op->signaled || (++chan->quiet >= RCL_CHAN_SIGNAL &&
			     op->number == op->last)) {
		flags |= IB_SEND_SIGNALED;
		chan->quiet = 0;
	}
	if (sqe->flags & RCLINK_SQE_FENCE)
		flags |= IB_SEND_FENCE;
	if (sqe->flags & RCLINK_SQE_SOLICITED)
		flags |= IB_SEND_SOLICITED;
	if (sqe->flags & RCLINK_SQE_INLINE &&
	    rcl_chan_driver_copies(chan, op->len))
		flags |= IB_SEND_INLINE;
	return flags;
}

/* Does it need a receive of the peer, which may have none yet? */
static bool rcl_chan_is_early(const struct rcl_chan *chan, u8 op)
{
	return !chan->heard && rcl_fate_counts(op);
}

/* The work request at the end of the chain lacks only what is set here. */
static __always_inline void rcl_chan_append(struct rcl_chan *chan,
					    const struct rclink_dev_sqe *sqe,
					    u32 len, u32 last)
{
	struct rcl_chain *chain = &chan->chain;
	union rcl_wr *wr = &chain->wr[chain->n];
	u32 number = chan->sends.posted++;
	struct rcl_op *op = rcl_chan_send_op(chan, number);

	rcl_op_set_send(op, sqe, number, last, len);
	if (chan->keep)
		rcl_keep_send(chan->keep, number, last, sqe);
	wr->send.wr_cqe = &op->cqe;
	wr->send.send_flags = rcl_chan_send_flags(chan, sqe, op);
	if (chain->n)
		chain->wr[chain->n - 1].send.next = &wr->send;
	if (chain->ready == chain->n && !rcl_chan_is_early(chan, sqe->op))
		chain->ready++;
	chain->n++;
}

/* Fails the first one with @status, and the others as flushed. */
static void rcl_chan_fail_from(struct rcl_chan *chan, u32 number,
			       enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status };

	for (; number != chan->sends.posted; number++) {
		if (chan->keep && rcl_chan_pass(chan, number))
			continue;
		rcl_chan_failed(rcl_chan_send_op(chan, number), &wc);
		wc.status = IB_WC_WR_FLUSH_ERR;
	}
}

/* The device took none from @wr on: fail them as if it had taken them. */
static void rcl_chan_refused(struct rcl_chan *chan, const struct ib_send_wr *wr)
{
	u32 status = chan->refused ? IB_WC_WR_FLUSH_ERR : IB_WC_GENERAL_ERR;
	struct rcl_op *op;

	op = container_of(wr->wr_cqe, struct rcl_op, cqe);
	if (chan->keep) {
		rcl_keep_unsend(chan->keep, op->number,
				op->number == op->last &&
				rcl_fate_counts(op->op));
		/* The channel cannot go on without it, in any epoch. */
		chan->keep->broken = true;
	}
	if (!chan->refused)
		rcl_qp_fault(chan->qp, status, 0);
	rcl_chan_fail_from(chan, op->number, status);
	chan->sends.posted = op->number;
	/* One that is signaled may be among these. */
	chan->quiet = RCL_CHAN_SIGNAL;
	chan->refused = true;
	chan->chain.refused = true;
}

/* Counts the first @n, or those before @bad, which the device has. */
static void rcl_chan_count(struct rcl_chan *chan, u32 n,
			   const struct ib_send_wr *bad)
{
	u32 ops = 0;
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < n && &chan->chain.wr[i].send != bad; i++) {
		const struct rcl_op *op =
			container_of(chan->chain.wr[i].send.wr_cqe,
				     struct rcl_op, cqe);

		if (op->number == op->last) {
			ops++;
			bytes += op->len;
		}
	}
	this_cpu_add(chan->traffic->ops, ops);
	this_cpu_add(chan->traffic->bytes, bytes);
}

/* Drops the first @n; what is behind them moves up. */
static void rcl_chain_cut(struct rcl_chain *chain, u32 n)
{
	u32 i;

	chain->n -= n;
	chain->ready = 0;
	memmove(chain->wr, chain->wr + n, chain->n * sizeof(chain->wr[0]));
	memmove(chain->sge, chain->sge + n, chain->n * sizeof(chain->sge[0]));
	for (i = 0; i < chain->n; i++) {
		chain->wr[i].send.sg_list = chain->sge[i];
		if (i)
			chain->wr[i - 1].send.next = &chain->wr[i].send;
	}
}

/*
 * Sends that wait for the peer, for the end of a rotation, or for another QP,
 * stay: the device has none of them.
 */
static void rcl_chan_give(struct rcl_chan *chan)
{
	struct rcl_chain *chain = &chan->chain;
	u32 n = chan->heard ? chain->n : chain->ready;
	const struct ib_send_wr *bad;
	bool refused;

	if (!n || (chan->keep && (chan->keep->parked || chan->keep->stalled)))
		return;
	chain->wr[n - 1].send.next = NULL;
	/*
	 * bnxt_re, irdma and qedr flush what they have carried out, too, if no
	 * signaled send behind it has completed: it would be done again.
	 */
	if (chan->keep)
		chain->wr[n - 1].send.send_flags |= IB_SEND_SIGNALED;
	bad = &chain->wr[0].send;
	refused = chan->refused || ib_post_send(chan->qp->qp, bad, &bad);
	rcl_chan_count(chan, n, refused ? bad : NULL);
	if (refused) {
		rcl_chan_refused(chan, bad);
		/* Those that wait have failed, too. */
		n = chain->n;
	}
	if (n < chain->n)
		rcl_chain_cut(chain, n);
	else
		rcl_chan_chain_empty(chain);
}

/* Each further extent takes another work request; @last is left to do. */
static noinline void rcl_chan_append_parts(struct rcl_chan *chan,
					   const struct rclink_dev_sqe *sqe,
					   u32 len, u32 last)
{
	struct rcl_chain *chain = &chan->chain;

	while (chan->sends.posted != last) {
		rcl_chan_cut(chan, sqe, &chain->wr[chain->n].rdma,
			     &chain->wr[chain->n + 1].rdma);
		rcl_chan_append(chan, sqe, len, last);
	}
}

/* Does the device write the result to local memory? */
static bool rcl_chan_writes(u8 op)
{
	return !rcl_fate_counts(op) && op != RCLINK_OP_WRITE;
}

static int rcl_chan_chain(struct rcl_chan *chan,
			  const struct rclink_dev_sqe *sqe)
{
	struct rcl_chain *chain = &chan->chain;
	struct rcl_op *op;
	union rcl_wr *wr;
	int ret;

	if (rcl_queue_busy(&chan->sends) == RCLINK_DEV_SENDS)
		return -EBUSY;
	/* What is before it need not wait. */
	if (rcl_chan_is_early(chan, sqe->op))
		rcl_chan_give(chan);
	op = rcl_chan_send_op(chan, chan->sends.posted);
	wr = &chain->wr[chain->n];
	if (sqe->flags & RCLINK_SQE_INLINE)
		ret = rcl_chan_inline(chan, sqe,
				      chan->sends.posted % RCL_CHAN_SEND_SLOTS,
				      wr->send.sg_list, &op->len);
	else
		ret = rcl_region_pieces(chan, sqe, rcl_chan_writes(sqe->op),
					wr->send.sg_list, &op->len);
	if (ret < 0)
		return ret;
	wr->send.num_sge = ret;
	/* irdma takes the first piece of a WRITE or READ, as of a receive. */
	if (!ret)
		wr->send.sg_list[0] = (struct ib_sge){};
	ret = rcl_chan_fill(chan, sqe, op->len, wr);
	if (ret < 0)
		return ret;
	if (ret > 1) {
		if (rcl_queue_busy(&chan->sends) + ret > RCLINK_DEV_SENDS ||
		    !rcl_chan_has_room(chan, ret))
			return -EBUSY;
		rcl_chan_append_parts(chan, sqe, op->len,
				      chan->sends.posted + ret - 1);
	}
	rcl_chan_append(chan, sqe, op->len, chan->sends.posted);
	if (chain->n >= RCL_CHAN_CHAIN)
		rcl_chan_give(chan);
	return 0;
}

/**
 * rcl_chan_chain_empty - nothing is chained any more
 * @chain: any
 */
void rcl_chan_chain_empty(struct rcl_chain *chain)
{
	chain->n = 0;
	chain->ready = 0;
}

/*
 * Have the peer's kernel told of the first receive, and of those with it; but
 * nothing arrives at a QP that has failed.
 */
static void rcl_chan_tell(struct rcl_chan *chan)
{
	if (!chan->recvs.posted || chan->lessee.hears ||
	    (chan->keep && chan->keep->stalled))
		return;
	WRITE_ONCE(chan->lessee.hears, true);
	chan->qp->up->kick(chan->qp->up);
}

/**
 * rcl_chan_flush - give the device what rcl_chan_post() has chained
 * @chan: any, its lock held
 *
 * Until the peer has posted a receive, what needs one stays, as does what is
 * behind it; while the channel is parked or stalled, everything stays. What the
 * device refuses completes with an error. The peer is told of our first
 * receives.
 *
 * Context: process or softirq context.
 * Return: true if something was refused since the last call: then
 * @chan->ops->news is to be called, because no event comes.
 */
bool rcl_chan_flush(struct rcl_chan *chan)
{
	bool refused;

	lockdep_assert_held(&chan->lock);
	if (chan->qp) {
		rcl_chan_tell(chan);
		rcl_chan_give(chan);
	}
	refused = chan->chain.refused;
	chan->chain.refused = false;
	return refused;
}

/**
 * rcl_chan_drained - nothing of the QP completes any more
 * @chan: detached or suspended, its lock held
 *
 * An unsignaled send reports nothing if it was carried out, else it is flushed.
 * A signaled one without a completion is of a QP that could not be drained; so
 * nothing is known of those that go on in another epoch.
 */
void rcl_chan_drained(struct rcl_chan *chan)
{
	u32 end = chan->sends.posted;
	u32 i = chan->sends.done;

	if (chan->keep && chan->keep->suspended &&
	    chan->keep->qp->state != RCL_QP_DRAINED)
		chan->keep->sends_held = true;
	if (chan->keep && chan->keep->sends_held)
		return;
	if (chan->chain.n)
		end = rcl_chan_chained(chan)->number;
	while (i != end && (!rcl_chan_send_op(chan, i)->signaled ||
			    (chan->keep &&
			     rcl_keep_send_op(chan->keep, i)->ghost)))
		i++;
	rcl_chan_retire(chan, i);
}

/**
 * rcl_chan_drop - let what is still in flight complete as flushed
 * @chan: detached, its lock held; nothing else completes any more
 *
 * This is what the device was not given, and what was held for another epoch.
 */
void rcl_chan_drop(struct rcl_chan *chan)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	u32 stalled = chan->keep ? chan->keep->stalled : 0;

	rcl_chan_fail_from(chan, chan->sends.done,
			   stalled ? : IB_WC_WR_FLUSH_ERR);
	chan->sends.done = chan->sends.posted;
	rcl_chan_chain_empty(&chan->chain);
	for (; chan->recvs.done != chan->recvs.posted; chan->recvs.done++)
		rcl_chan_push(rcl_chan_recv_op(chan, chan->recvs.done), &wc,
			      (struct rcl_news){});
}

/**
 * rcl_chan_post - check an entry, and post it or chain it for rcl_chan_flush()
 * @chan: open, its lock held; not to be unlocked before rcl_chan_flush()
 * @sqe: hostile, but nobody writes it any more
 *
 * Context: process or softirq context.
 * Return: 0, -EINVAL for an invalid entry, -ESTALE for an unknown handle,
 * -EACCES without the right, -EMSGSIZE if it touches too many extents,
 * -EOPNOTSUPP for an atomic that the device does not have, -EBUSY if as many
 * are in flight as can be, or what the verbs call returns.
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
	for (i = 0; i < RCL_CHAN_SEND_SLOTS; i++) {
		chan->send_op[i].chan = chan;
		chan->send_op[i].cqe.done = rcl_chan_sent;
		chan->chain.wr[i].send.sg_list = chan->chain.sge[i];
	}
	for (i = 0; i < RCL_CHAN_RECV_SLOTS; i++) {
		chan->recv_op[i].chan = chan;
		chan->recv_op[i].cqe.done = rcl_chan_received;
	}
}
