// SPDX-License-Identifier: GPL-2.0
/*
 * What was in flight when an epoch ended stays so: its entries were kept. In
 * the next epoch the peer says how many messages it has got, and that decides
 * what becomes of each operation (fate.h). Those to be posted again are
 * posted in their order. One that is not, but is behind one that is, becomes a
 * ghost, so that completions keep the order, too.
 *
 * A peer that has got fewer messages than it has acknowledged has lost some, or
 * somebody else has acknowledged them; and nobody can have got more than were
 * sent. Neither can be mended: the channel ends.
 */
#include "chan-resume.h"

#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "chan.h"
#include "chan-call.h"
#include "chan-io.h"
#include "fate.h"
#include "inbox.h"
#include "qp.h"
#include "remote.h"
#include "upcall.h"

/**
 * struct rcl_rest - an operation that was in flight
 * @sqe: the entry
 * @len: bytes
 * @fate: what becomes of it
 * @status: what it completes with, if it is not posted again
 */
struct rcl_rest {
	struct rclink_dev_sqe sqe;
	u32 len;
	enum rcl_fate fate;
	u32 status;
};

/**
 * struct rcl_rests - all of them
 * @nsends: entries of @send
 * @nrecvs: entries of @recv
 * @send: in order
 * @recv: in order
 */
struct rcl_rests {
	u32 nsends;
	u32 nrecvs;
	struct rcl_rest send[RCL_CHAN_SEND_SLOTS];
	struct rclink_dev_sqe recv[RCL_CHAN_RECV_SLOTS];
};

/**
 * rcl_chan_suspend - end posting and polling; what is in flight stays so
 * @lessee: of a channel that is attached
 *
 * Context: the link's work item.
 * Return: false if it cannot go on in another epoch.
 */
bool rcl_chan_suspend(struct rcl_lessee *lessee)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);
	struct rcl_keep *keep = chan->keep;
	bool held;

	spin_lock_bh(&chan->lock);
	held = keep && !keep->broken;
	if (held) {
		keep->suspended = true;
		keep->parked = false;
		chan->why = -EAGAIN;
		chan->heard = false;
		WRITE_ONCE(chan->qp, NULL);
		WRITE_ONCE(chan->attached, false);
	}
	spin_unlock_bh(&chan->lock);
	if (held)
		this_cpu_inc(chan->traffic->suspended);
	return held;
}

static u32 rcl_rest_status(enum rcl_fate fate)
{
	switch (fate) {
	case RCL_FATE_UNKNOWN:
		return RCLINK_STATUS_UNKNOWN;
	case RCL_FATE_FLUSHED:
		return IB_WC_WR_FLUSH_ERR;
	default:
		return IB_WC_SUCCESS;
	}
}

static void rcl_rest_send(struct rcl_chan *chan, u32 number,
			  struct rcl_rest *rest)
{
	const struct rcl_kept *kept = rcl_keep_send_op(chan->keep, number);

	rest->sqe = kept->sqe;
	rest->len = rcl_chan_send_op(chan, number)->len;
	if (kept->ghost) {
		rest->fate = RCL_FATE_DONE;
		rest->status = kept->status;
		return;
	}
	if (rcl_chan_in_chain(chan, number))
		rest->fate = RCL_FATE_AGAIN;
	else
		rest->fate = rcl_fate_of(kept->sqe.op, kept->counted,
					 chan->lessee.had, chan->replay);
	rest->status = rcl_rest_status(rest->fate);
}

/* Takes everything out of the queues. */
static void rcl_rests_take(struct rcl_chan *chan, struct rcl_rests *rests)
{
	struct rcl_keep *keep = chan->keep;
	u32 i;

	for (i = chan->sends.done; i != chan->sends.posted; i++) {
		const struct rcl_op *op = rcl_chan_send_op(chan, i);

		/* Skip those that failed before, and parts before the last. */
		if (op->last != i || op->told)
			continue;
		rcl_rest_send(chan, i, &rests->send[rests->nsends++]);
	}
	for (i = chan->recvs.done; i != chan->recvs.posted; i++)
		rests->recv[rests->nrecvs++] = *rcl_keep_recv_op(keep, i);
	memset(&chan->sends, 0, sizeof(chan->sends));
	memset(&chan->recvs, 0, sizeof(chan->recvs));
	rcl_chan_chain_empty(&chan->chain);
	keep->ghosts = 0;
	keep->marking = false;
	keep->stalled = 0;
	keep->sends_held = false;
	keep->sent = chan->lessee.had;
	keep->acked = chan->lessee.had;
}

/* The device does not have it any more: rcl_chan_drop() completes it. */
static void rcl_chan_ghost_recv(struct rcl_chan *chan,
				const struct rclink_dev_sqe *sqe)
{
	u32 number = chan->recvs.posted++;

	rcl_op_set_recv(rcl_chan_recv_op(chan, number), sqe, number);
}

/* It is not posted again, and completes after those before it. */
static void rcl_chan_ghost(struct rcl_chan *chan,
			   const struct rclink_dev_sqe *sqe, u32 len,
			   u32 status)
{
	u32 number = chan->sends.posted++;
	struct rcl_kept *kept = rcl_keep_send_op(chan->keep, number);

	rcl_op_set_send(rcl_chan_send_op(chan, number), sqe, number, number,
			len);
	kept->sqe = *sqe;
	kept->counted = chan->keep->sent;
	kept->ghost = true;
	kept->status = status;
	chan->keep->ghosts++;
}

static int rcl_rests_post_recvs(struct rcl_chan *chan,
				const struct rcl_rests *rests)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < rests->nrecvs; i++) {
		if (!ret)
			ret = rcl_chan_post(chan, &rests->recv[i]);
		if (ret)
			rcl_chan_ghost_recv(chan, &rests->recv[i]);
	}
	return ret;
}

/*
 * If one cannot be posted, none behind it may be; none at all if @ret is an
 * errno already.
 */
static int rcl_rests_post_sends(struct rcl_chan *chan,
				const struct rcl_rests *rests, int ret)
{
	u32 i;

	for (i = 0; i < rests->nsends; i++) {
		const struct rcl_rest *rest = &rests->send[i];
		u32 status = rest->status;

		if (rest->fate == RCL_FATE_AGAIN && !ret) {
			/* What waits behind it needs its completion. */
			chan->quiet = RCL_CHAN_SIGNAL;
			ret = rcl_chan_post(chan, &rest->sqe);
			if (!ret) {
				this_cpu_inc(chan->traffic->resends);
				continue;
			}
			status = IB_WC_LOC_PROT_ERR;
		} else if (rest->fate == RCL_FATE_AGAIN) {
			status = IB_WC_WR_FLUSH_ERR;
		}
		rcl_chan_ghost(chan, &rest->sqe, rest->len, status);
		rcl_chan_pass_head(chan);
	}
	return ret;
}

/* Also -ESTALE if the device has refused something, which was reported. */
static int rcl_rests_post(struct rcl_chan *chan, const struct rcl_rests *rests)
{
	int recvs = rcl_rests_post_recvs(chan, rests);
	int ret;

	ret = rcl_rests_post_sends(chan, rests, recvs);
	rcl_chan_flush(chan);
	if (rcl_chan_has_events(chan) && rcl_qp_arm(chan->qp))
		WRITE_ONCE(chan->kicked, true);
	return !recvs && chan->refused ? -ESTALE : ret;
}

/* Is what the peer says possible? */
static bool rcl_chan_had_is_sane(const struct rcl_chan *chan)
{
	const struct rcl_keep *keep = chan->keep;
	u32 had = chan->lessee.had;

	return (s32)(had - keep->acked) >= 0 && (s32)(keep->sent - had) >= 0;
}

/* An errno ends the channel; @rests is NULL if there was no memory. */
static int rcl_chan_resume_locked(struct rcl_chan *chan,
				  struct rcl_rests *rests)
{
	struct rcl_keep *keep = chan->keep;
	int ret = 0;

	lockdep_assert_held(&chan->lock);
	if (!rests || !rcl_chan_had_is_sane(chan)) {
		ret = rests ? -EPROTO : -ENOMEM;
	} else {
		rcl_rests_take(chan, rests);
		keep->suspended = false;
		chan->why = 0;
		WRITE_ONCE(chan->qp, keep->qp);
		ret = rcl_rests_post(chan, rests);
	}
	if (!ret)
		return 0;
	keep->suspended = false;
	keep->broken = true;
	chan->why = -ECONNRESET;
	WRITE_ONCE(chan->qp, NULL);
	return ret;
}

/* Does not wait, because the link may wait for us. */
static void rcl_chan_give_up(struct rcl_chan *chan, int ret)
{
	const struct rcl_qp *qp = chan->keep->qp;
	struct rcl_call *call;

	/* It is no fault of the link if either process withdrew memory. */
	if (ret != -ESTALE && ret != -EACCES)
		qp->up->fault(qp->up, ret == -EPROTO ?
				      RCLINK_DOWN_REASON_PROTOCOL :
				      RCLINK_DOWN_REASON_LOCAL_ERROR,
			      0, 0, qp->index);
	call = rcl_call_new(RCL_CALL_CLOSE, &chan->lessee,
			    GFP_KERNEL | __GFP_NOFAIL);
	call->why = -ECONNRESET;
	rcl_inbox_ask_call(chan->link, call);
	rcl_call_put(call);
}

/*
 * An import that the peer takes too long for is lost, as if the peer had
 * withdrawn it. But -ENOMEM is not the peer's doing.
 */
static int rcl_chan_fetch_all(struct rcl_chan *chan)
{
	unsigned long until = jiffies + msecs_to_jiffies(RCL_FETCH_MS);
	char name[RCLINK_DEV_REGION_LEN];
	struct rcl_window window;
	u32 handle;
	u32 i;

	for (i = 0; rcl_remote_next(chan, &i, &handle, name); i++) {
		int ret = rcl_chan_fetch(chan, name, &window, &until);

		if (ret == -ENOMEM)
			return ret;
		rcl_remote_renew(chan, handle, ret ? NULL : &window);
	}
	return 0;
}

/**
 * rcl_chan_resume - post again what was in flight
 * @lessee: of a channel that has rejoined; all memory is registered, at both
 *	ends
 *
 * The channel may have ended meanwhile, or may have to end.
 *
 * Context: may sleep; an errand.
 */
void rcl_chan_resume(struct rcl_lessee *lessee)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);
	struct rcl_rests *rests = NULL;
	bool kicked, attached;
	int ret = -ENOTCONN;

	if (!rcl_chan_fetch_all(chan))
		rests = kvzalloc(sizeof(*rests), GFP_KERNEL);
	spin_lock_bh(&chan->lock);
	attached = chan->attached;
	if (attached)
		ret = rcl_chan_resume_locked(chan, rests);
	kicked = READ_ONCE(chan->kicked);
	spin_unlock_bh(&chan->lock);
	kvfree(rests);
	if (kicked)
		irq_poll_sched(&chan->iop);
	if (attached && ret)
		rcl_chan_give_up(chan, ret);
	if (attached)
		chan->ops->resumed(chan);
	if (!ret)
		this_cpu_inc(chan->traffic->resumes);
}
