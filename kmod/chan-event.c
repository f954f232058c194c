// SPDX-License-Identifier: GPL-2.0
/*
 * An event polls in softirq context, and asks for the next one when nothing
 * more is there.
 */
#include "chan-event.h"

#include "chan.h"
#include "chan-io.h"
#include "qp.h"

/**
 * rcl_chan_arm - let the next completion be an event
 * @chan: any
 *
 * Context: process context.
 * Return: true when something may have come in before: then look again.
 */
bool rcl_chan_arm(struct rcl_chan *chan)
{
	bool refused, more;

	spin_lock_bh(&chan->lock);
	/* What is not held any more is to be in flight when somebody sleeps. */
	refused = rcl_chan_flush(chan);
	more = chan->qp && rcl_qp_arm(chan->qp);
	spin_unlock_bh(&chan->lock);
	/* Somebody else may sleep already. */
	if (refused)
		chan->ops->news(chan);
	return refused || more;
}

/**
 * rcl_chan_kick - let @chan->ops->deliver be called
 * @chan: any
 *
 * Context: process context.
 */
void rcl_chan_kick(struct rcl_chan *chan)
{
	/* It may just be about to end, and is not scheduled again then. */
	spin_lock_bh(&chan->lock);
	chan->kicked = true;
	spin_unlock_bh(&chan->lock);
	irq_poll_sched(&chan->iop);
}

static int rcl_chan_irq_poll(struct irq_poll *iop, int budget)
{
	struct rcl_chan *chan = container_of(iop, struct rcl_chan, iop);
	bool more;
	int n = 0;

	spin_lock(&chan->lock);
	chan->kicked = false;
	if (chan->qp)
		n = rcl_chan_poll(chan, budget);
	spin_unlock(&chan->lock);
	chan->ops->deliver(chan, n);
	if (n >= budget)
		return n;
	irq_poll_complete(iop);
	spin_lock(&chan->lock);
	more = chan->kicked;
	if (chan->qp && rcl_chan_has_events(chan))
		more |= rcl_qp_arm(chan->qp);
	spin_unlock(&chan->lock);
	if (more)
		irq_poll_sched(iop);
	return n;
}

/**
 * rcl_chan_events_init - begin without events
 * @chan: zeroed
 */
void rcl_chan_events_init(struct rcl_chan *chan)
{
	irq_poll_init(&chan->iop, RCL_POLL_BUDGET, rcl_chan_irq_poll);
}

/**
 * rcl_chan_events_exit - no event is handled any more
 * @chan: detached
 *
 * Context: may sleep.
 */
void rcl_chan_events_exit(struct rcl_chan *chan)
{
	irq_poll_disable(&chan->iop);
}
