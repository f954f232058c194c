// SPDX-License-Identifier: GPL-2.0
/*
 * An event polls in softirq context, and asks for the next one when it finds
 * nothing more.
 */
#include "chan-event.h"

#include "chan.h"
#include "chan-io.h"
#include "qp.h"

/**
 * rcl_chan_arm - make the next completion an event
 * @chan: any
 *
 * Context: process context.
 * Return: true if something may have come in before: then look again.
 */
bool rcl_chan_arm(struct rcl_chan *chan)
{
	bool refused, more;

	spin_lock_bh(&chan->lock);
	/* What is no longer held must be in flight before somebody sleeps. */
	refused = rcl_chan_flush(chan);
	more = chan->qp && rcl_qp_arm(chan->qp);
	spin_unlock_bh(&chan->lock);
	/* Somebody else may be asleep already. */
	if (refused)
		chan->ops->news(chan);
	return refused || more;
}

/**
 * rcl_chan_kick - have @chan->ops->deliver called
 * @chan: any
 *
 * Context: process context.
 */
void rcl_chan_kick(struct rcl_chan *chan)
{
	/* The poll may be about to end, and is not scheduled again then. */
	spin_lock_bh(&chan->lock);
	WRITE_ONCE(chan->kicked, true);
	spin_unlock_bh(&chan->lock);
	irq_poll_sched(&chan->iop);
}

static int rcl_chan_irq_poll(struct irq_poll *iop, int budget)
{
	struct rcl_chan *chan = container_of(iop, struct rcl_chan, iop);
	bool more;
	int n = 0;

	spin_lock(&chan->lock);
	WRITE_ONCE(chan->kicked, false);
	if (chan->qp)
		n = rcl_chan_poll(chan, budget);
	spin_unlock(&chan->lock);
	chan->ops->deliver(chan, n);
	if (n >= budget)
		return n;
	irq_poll_complete(iop);
	spin_lock(&chan->lock);
	more = READ_ONCE(chan->kicked);
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
 * rcl_chan_events_exit - handle no more events
 * @chan: detached
 *
 * Context: may sleep.
 */
void rcl_chan_events_exit(struct rcl_chan *chan)
{
	irq_poll_disable(&chan->iop);
}
