// SPDX-License-Identifier: GPL-2.0
/*
 * When a link is rotated, the old epoch still works. So its channels need
 * not have anything in flight when it ends: what a consumer submits stays in
 * the chain, as if the peer had posted no receive, and a WRITE of no bytes
 * completes after all that the device was given before. Its key is not checked
 * (IBA C9-88). Receives are still posted meanwhile, or the peer could not come
 * to rest, either.
 */
#include "chan-park.h"

#include <rdma/ib_verbs.h>

#include "chan.h"
#include "chan-io.h"
#include "qp.h"

/* Under the lock, or called by the drain, when nobody else has the QP. */
static void rcl_chan_marked(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_keep *keep = container_of(wc->wr_cqe, struct rcl_keep, mark);
	struct rcl_chan *chan = keep->chan;

	keep->marking = false;
	/* Otherwise the others fail, too, and say why. */
	if (!wc->status && (s32)(keep->mark_end - chan->sends.done) > 0)
		rcl_chan_retire(chan, keep->mark_end);
}

static void rcl_chan_post_mark(struct rcl_chan *chan, u32 end)
{
	struct rcl_keep *keep = chan->keep;
	/*
	 * Fenced, or rxe of 6.12 could no longer answer a READ whose answer was
	 * lost: read_reply() goes by the length of the newest request.
	 */
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &keep->mark,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED | IB_SEND_FENCE,
	};

	keep->mark.done = rcl_chan_marked;
	keep->mark_end = end;
	keep->marking = !rcl_qp_post_send(chan->qp, &wr.wr);
}

/**
 * rcl_chan_keep_still - stop giving sends to the device, or start again
 * @lessee: of a channel that is attached; nothing to do if it cannot go on
 * @still: true to stop
 *
 * Context: may sleep.
 */
void rcl_chan_keep_still(struct rcl_lessee *lessee, bool still)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);

	if (!chan->keep)
		return;
	spin_lock_bh(&chan->lock);
	chan->keep->parked = still;
	rcl_chan_flush(chan);
	spin_unlock_bh(&chan->lock);
	/* The device may have refused something. */
	if (!still)
		chan->ops->news(chan);
}

/**
 * rcl_chan_is_still - has all that the device was given completed?
 * @lessee: of a channel after rcl_chan_keep_still()
 *
 * Context: may sleep; to be called now and then until it returns true.
 * Return: true if so, or if that will never be.
 */
bool rcl_chan_is_still(struct rcl_lessee *lessee)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);
	struct rcl_keep *keep = chan->keep;
	bool still = true;
	int n = 0;
	u32 end;

	if (!keep)
		return true;
	spin_lock_bh(&chan->lock);
	if (chan->qp)
		n = rcl_chan_poll(chan, RCL_CHAN_SEND_SLOTS +
				  RCL_CHAN_RECV_SLOTS);
	end = chan->chain.n ? rcl_chan_chained(chan)->number :
			      chan->sends.posted;
	if (chan->qp && !keep->stalled && !keep->broken)
		still = end == chan->sends.done;
	/* One at a time: RCL_EPOCH_MARKS. */
	if (!still && !keep->marking)
		rcl_chan_post_mark(chan, end);
	rcl_chan_unlock_polled(chan, n);
	return still;
}
