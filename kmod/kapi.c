// SPDX-License-Identifier: GPL-2.0
/*
 * Channels of kernel modules: see include/rclink.h.
 *
 * Completions wait in a ring of the channel's own until they are delivered
 * without a lock, so that the consumer may post from its callback. There is one
 * deliverer at a time: the softirq side or, for a polled channel, the consumer
 * itself.
 */
#include "kapi.h"

#include <linux/err.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "chan-event.h"
#include "chan-io.h"
#include "event.h"
#include "listener.h"
#include "region.h"

/**
 * struct rclink_listener - a listener of a module
 * @listener: the listener
 * @waiting: the consumer's callback
 * @ctx: for @waiting
 */
struct rclink_listener {
	struct rcl_listener listener;
	void (*waiting)(void *ctx);
	void *ctx;
};

static struct rclink_chan *rcl_kapi_of(struct rcl_chan *chan)
{
	return container_of(chan, struct rclink_chan, chan);
}

static int rcl_kapi_give(struct rclink_chan *chan, int budget)
{
	/* Pairs with the release in rcl_chan_push(). */
	u32 tail = smp_load_acquire(&chan->tail);
	u32 head = chan->head;
	int n = 0;

	while (head != tail && n < budget) {
		chan->ops->completed(chan, chan->ctx,
				     &chan->cqe[head % RCL_KAPI_CQ_DEPTH]);
		/* From here on the entry may be filled again. */
		smp_store_release(&chan->head, ++head);
		n++;
	}
	return n;
}

/*
 * May what was refused be posted now? True once. A poster holds the lock from
 * the check for room on, so it has either seen that something @moved, or has
 * noted by now that it was refused.
 */
static bool rcl_kapi_has_news(struct rclink_chan *chan, bool moved)
{
	struct rcl_chan *common = &chan->chan;
	bool news;

	spin_lock(&common->lock);
	news = chan->ops && (chan->back || (chan->full && moved));
	if (news) {
		chan->back = false;
		chan->full = false;
	}
	spin_unlock(&common->lock);
	return news;
}

static void rcl_kapi_deliver(struct rcl_chan *common, int n)
{
	struct rclink_chan *chan = rcl_kapi_of(common);
	bool gone;

	spin_lock(&common->lock);
	gone = chan->gone && chan->ops;
	spin_unlock(&common->lock);
	n += rcl_kapi_give(chan, RCL_KAPI_CQ_DEPTH);
	if (rcl_kapi_has_news(chan, n) && chan->ops->resumed && !chan->told)
		chan->ops->resumed(chan, chan->ctx);
	if (!gone || chan->told)
		return;
	chan->told = true;
	chan->ops->ended(chan, chan->ctx, common->why);
	complete_all(&chan->over);
}

/* The deliverer does not see what somebody else has polled, so note it. */
static void rcl_kapi_news(struct rcl_chan *common)
{
	struct rclink_chan *chan = rcl_kapi_of(common);

	if (common->polled)
		return;
	spin_lock_bh(&common->lock);
	chan->back |= chan->full;
	spin_unlock_bh(&common->lock);
	rcl_chan_kick(common);
}

static void rcl_kapi_resumed(struct rcl_chan *common)
{
	if (common->polled)
		return;
	spin_lock_bh(&common->lock);
	rcl_kapi_of(common)->back = true;
	spin_unlock_bh(&common->lock);
	rcl_chan_kick(common);
}

static void rcl_kapi_ended(struct rcl_chan *common)
{
	struct rclink_chan *chan = rcl_kapi_of(common);
	bool owned;

	spin_lock_bh(&common->lock);
	chan->gone = true;
	owned = chan->ops;
	spin_unlock_bh(&common->lock);
	if (owned && !common->polled)
		rcl_chan_kick(common);
	else
		complete_all(&chan->over);
}

static void rcl_kapi_release(struct rcl_chan *common)
{
	kvfree_rcu(rcl_kapi_of(common), chan.rcu);
}

static const struct rcl_chan_ops rcl_kapi_chan_ops = {
	.deliver = rcl_kapi_deliver,
	.news = rcl_kapi_news,
	.resumed = rcl_kapi_resumed,
	.ended = rcl_kapi_ended,
	.release = rcl_kapi_release,
};

static struct rclink_chan *rcl_kapi_new(u32 flags)
{
	struct rcl_cq cq = { .depth = RCL_KAPI_CQ_DEPTH };
	struct rclink_chan *chan;

	BUILD_BUG_ON(RCLINK_DEV_SENDS + RCLINK_DEV_RECVS >= RCL_KAPI_CQ_DEPTH);
	/* For a listener this is in the link's work item: do not hold it up. */
	chan = kvzalloc(sizeof(*chan), GFP_KERNEL);
	if (!chan)
		return NULL;
	init_completion(&chan->over);
	cq.cqe = chan->cqe;
	cq.head = &chan->head;
	cq.tail = &chan->tail;
	if (!rcl_chan_init(&chan->chan, &rcl_kapi_chan_ops, &cq, flags))
		return chan;
	kvfree(chan);
	return NULL;
}

static void rcl_kapi_drop(struct rclink_chan *chan)
{
	rcl_chan_close(&chan->chan);
	rcl_chan_put(&chan->chan);
}

/* From now on the consumer hears of the channel, unless it has ended. */
static bool rcl_kapi_own(struct rclink_chan *chan,
			 const struct rclink_chan_ops *ops, void *ctx)
{
	bool gone;

	spin_lock_bh(&chan->chan.lock);
	gone = chan->gone;
	if (!gone) {
		chan->ctx = ctx;
		chan->ops = ops;
	}
	spin_unlock_bh(&chan->chan.lock);
	return !gone;
}

/* Callbacks for softirq context must not be missing. */
static bool rcl_kapi_fit(const struct rclink_chan_ops *ops, u32 flags)
{
	return ops->completed &&
	       (ops->ended || flags & RCLINK_CHAN_POLLED);
}

/**
 * rclink_connect - open a channel to a service of the peer
 * @link: name of the link
 * @service: name of the service that the peer listens on
 * @flags: RCLINK_CONNECT_WAIT to wait for a free queue pair, RCLINK_CHAN_POLLED
 *	to get completions from rclink_poll() and rclink_close() only,
 *	RCLINK_CHAN_REPLAY to have READs and WRITEs carried out again in another
 *	epoch
 * @ops: the caller's, constant
 * @ctx: for @ops
 *
 * A work item or a kernel thread, which gets no signals, should not wait,
 * because only the end of the link's epoch would end that. It should try again
 * later, after -EAGAIN.
 *
 * Context: may sleep; a signal interrupts it. Not from a callback of rclink.
 * Return: the channel, or an ERR_PTR: -ENODEV for no such link, -ENOTCONN if it
 * is not up, -ECONNREFUSED if nobody listens, -EAGAIN if no queue pair is free
 * or about to be (RCLINK_CONNECT_WAIT waits for one, unless 256 calls wait for
 * one of that link already), or if the peer has no room or memory for one more
 * channel that waits to be accepted, -ECONNRESET if the channel has ended again
 * already, -EINVAL, -EINTR, -ENOMEM, or the errno of a verbs call.
 */
struct rclink_chan *rclink_connect(const char *link, const char *service,
				   u32 flags, const struct rclink_chan_ops *ops,
				   void *ctx)
{
	struct rclink_chan *chan;
	int ret;

	if (flags & ~(RCLINK_CONNECT_WAIT | RCLINK_CHAN_FLAGS) ||
	    !rcl_kapi_fit(ops, flags) ||
	    !rcl_kapi_is_name(link, RCLINK_DEV_LINK_LEN) ||
	    !rcl_kapi_is_name(service, RCLINK_DEV_SERVICE_LEN))
		return ERR_PTR(-EINVAL);
	chan = rcl_kapi_new(flags);
	if (!chan)
		return ERR_PTR(-ENOMEM);
	ret = rcl_chan_connect(&chan->chan, NULL, link, service,
			       flags & RCLINK_CONNECT_WAIT);
	if (!ret && !rcl_kapi_own(chan, ops, ctx))
		ret = -ECONNRESET;
	if (!ret)
		return chan;
	rcl_kapi_drop(chan);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(rclink_connect);

/**
 * rclink_close - end a channel
 * @chan: not used any more except by its callbacks; may be over already
 *
 * This gives up what has not completed: to know that the last message has
 * arrived, have it signaled, and wait. All of it completes, and @ops->ended is
 * called, unless the channel is polled, before this returns. Then no callback
 * runs any more, the device accesses none of the memory that was registered,
 * unless the result is -EIO, and @chan is gone. Work that callbacks have queued
 * must not use @chan from before this call on, and is to be ended after it.
 *
 * Context: may sleep, for a drain. Not from a callback of rclink.
 * Return: 0, or -EIO if the device did not end a registration: then memory that
 * was registered, and not withdrawn, must never be used for anything else.
 */
int rclink_close(struct rclink_chan *chan)
{
	bool lost;

	rcl_chan_close(&chan->chan);
	/* The link's work item gets to it, even if the link is deleted. */
	wait_for_completion(&chan->over);
	if (chan->chan.polled)
		rcl_kapi_give(chan, RCL_KAPI_CQ_DEPTH);
	lost = rcl_region_is_lost(&chan->chan);
	rcl_chan_put(&chan->chan);
	return lost ? -EIO : 0;
}
EXPORT_SYMBOL_GPL(rclink_close);

static struct rclink_listener *rcl_kapi_listener(struct rcl_listener *listener)
{
	return container_of(listener, struct rclink_listener, listener);
}

static struct rcl_chan *rcl_kapi_make(struct rcl_listener *listener)
{
	struct rclink_chan *chan = rcl_kapi_new(listener->flags);

	return chan ? &chan->chan : NULL;
}

static void rcl_kapi_waiting(struct rcl_listener *common)
{
	struct rclink_listener *listener = rcl_kapi_listener(common);

	listener->waiting(listener->ctx);
}

static void rcl_kapi_listener_release(struct rcl_listener *listener)
{
	kfree(rcl_kapi_listener(listener));
}

static const struct rcl_listener_ops rcl_kapi_listener_ops = {
	.make = rcl_kapi_make,
	.waiting = rcl_kapi_waiting,
	.release = rcl_kapi_listener_release,
};

/**
 * rclink_listen - wait for channels on a service
 * @link: name of the link, which need not exist yet
 * @service: name
 * @backlog: channels that may wait to be accepted, 1 to 64
 * @flags: RCLINK_CHAN_POLLED and RCLINK_CHAN_REPLAY, as for rclink_connect()
 * @waiting: a channel waits for rclink_accept(); called in process context,
 *	maybe before this has returned; must neither sleep nor call rclink, but
 *	wake or queue something that does
 * @ctx: for @waiting
 *
 * A process that has listened since before the link existed, and may use it,
 * comes first.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: the listener, or an ERR_PTR: -EADDRINUSE if somebody listens there,
 * -ENOSPC beyond 4096 listeners of the kernel and root, -EINVAL or -ENOMEM.
 */
struct rclink_listener *rclink_listen(const char *link, const char *service,
				      u32 backlog, u32 flags,
				      void (*waiting)(void *ctx), void *ctx)
{
	struct rclink_listener *listener;
	int ret;

	if (!backlog || backlog > RCLINK_DEV_BACKLOG_MAX || !waiting ||
	    flags & ~RCLINK_CHAN_FLAGS ||
	    !rcl_kapi_is_name(link, RCLINK_DEV_LINK_LEN) ||
	    !rcl_kapi_is_name(service, RCLINK_DEV_SERVICE_LEN))
		return ERR_PTR(-EINVAL);
	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	rcl_listener_init(&listener->listener, &rcl_kapi_listener_ops, NULL,
			  link, service);
	listener->listener.max = backlog;
	listener->listener.flags = flags;
	listener->waiting = waiting;
	listener->ctx = ctx;
	ret = rcl_chan_listen(&listener->listener);
	if (!ret)
		return listener;
	rcl_listener_put(&listener->listener);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(rclink_listen);

/**
 * rclink_accept - take the next channel that waits
 * @listener: any
 * @ops: the caller's, constant
 * @ctx: for @ops
 *
 * The channel does not need the listener any more.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: the channel, or an ERR_PTR: -EAGAIN if none waits, -EINVAL if @ops
 * lack a callback that is called.
 */
struct rclink_chan *rclink_accept(struct rclink_listener *listener,
				  const struct rclink_chan_ops *ops, void *ctx)
{
	struct rclink_chan *chan;
	struct rcl_chan *common;

	if (!rcl_kapi_fit(ops, listener->listener.flags))
		return ERR_PTR(-EINVAL);
	while ((common = rcl_listener_take(&listener->listener))) {
		chan = rcl_kapi_of(common);
		if (rcl_kapi_own(chan, ops, ctx))
			return chan;
		rcl_kapi_drop(chan);
	}
	return ERR_PTR(-EAGAIN);
}
EXPORT_SYMBOL_GPL(rclink_accept);

/**
 * rclink_unlisten - end a listener and the channels that wait there
 * @listener: not used any more; its callback does not run any more when this
 *	returns
 *
 * Work that the callback has queued must not use @listener from before this
 * call on, and is to be ended after it.
 *
 * Context: may sleep, for drains. Not from a callback of rclink.
 */
void rclink_unlisten(struct rclink_listener *listener)
{
	rcl_chan_unlisten(&listener->listener);
}
EXPORT_SYMBOL_GPL(rclink_unlisten);

/**
 * rclink_post - start operations
 * @chan: any
 * @sqe: entries, in order
 * @n: how many
 * @taken: set to how many were started
 *
 * At most RCLINK_DEV_SENDS operations and RCLINK_DEV_RECVS receives can be in
 * flight, and completions that were not delivered yet count, too. Beyond that,
 * @ops->resumed says when to try again, except for a polled channel; there may
 * be too little room even then. Completions may be delivered before this
 * returns, also on this stack, as softirqs run when it ends.
 *
 * Context: process or softirq context, also a callback of this channel; never
 * with interrupts off.
 * Return: 0, or why the next one was not started: -EBUSY if as many as possible
 * are in flight, -EINVAL for an invalid entry, -ESTALE for an unknown handle,
 * -EACCES without the right, or if it writes to memory that is read-only,
 * -EMSGSIZE if it touches too many extents of regions, or has more than 1 GiB,
 * -EOPNOTSUPP for an atomic that the device of either end does not have,
 * -EAGAIN while the channel is suspended, the reason when it ends, or the errno
 * of the verbs call. Even after that reason completions come until @ops->ended,
 * or until rclink_poll() returns it. A send that the device refuses later
 * completes with "general error", and all sends behind it are flushed.
 */
int rclink_post(struct rclink_chan *chan, const struct rclink_dev_sqe *sqe,
		unsigned int n, unsigned int *taken)
{
	struct rcl_chan *common = &chan->chan;
	unsigned int i = 0;
	bool refused;
	int ret;

	spin_lock_bh(&common->lock);
	ret = common->qp ? 0 : common->why;
	while (!ret && i < n) {
		ret = rcl_chan_post(common, &sqe[i]);
		i += !ret;
	}
	chan->full |= ret == -EBUSY;
	refused = rcl_chan_flush(common);
	spin_unlock_bh(&common->lock);
	if (refused)
		common->ops->news(common);
	*taken = i;
	return ret;
}
EXPORT_SYMBOL_GPL(rclink_post);

/**
 * rclink_poll - handle completions of a polled channel
 * @chan: opened with RCLINK_CHAN_POLLED; not polled by anybody else now
 * @budget: call @ops->completed at most this many times, 1 or more
 *
 * Context: process or softirq context, not a callback of this channel, never
 * with interrupts off; @ops->completed is called in it, and may sleep if the
 * caller may. A caller that waits this way in process context should call
 * cond_resched() in between, because the device may need the processor.
 * Return: how many there were, or the reason if the channel is over and all
 * were delivered, or -EINVAL for a channel that is not polled.
 */
int rclink_poll(struct rclink_chan *chan, int budget)
{
	bool over = rcl_chan_is_over(&chan->chan);
	int n;

	/* Otherwise its completions are the softirq side's. */
	if (WARN_ON_ONCE(!chan->chan.polled))
		return -EINVAL;
	rcl_chan_reap(&chan->chan, budget);
	n = rcl_kapi_give(chan, budget);
	if (n || !over)
		return n;
	return chan->chan.why;
}
EXPORT_SYMBOL_GPL(rclink_poll);

/**
 * rclink_status_name - the status of a completion in words
 * @status: of struct rclink_dev_cqe
 *
 * Return: the name that the verbs have for it.
 */
const char *rclink_status_name(u32 status)
{
	if (status == RCLINK_STATUS_UNKNOWN)
		return "outcome unknown";
	return ib_wc_status_msg(status);
}
EXPORT_SYMBOL_GPL(rclink_status_name);

/**
 * rclink_register_notifier - hear of links
 * @nb: called with a struct rclink_link_event, and one of
 *	RCLINK_EVENT_KIND_CHANGED and RCLINK_EVENT_KIND_DELETED as the action
 *
 * The callback runs in process context, in the work item of the link, which
 * waits for it: it must be short, and leave to others what calls rclink or
 * waits for somebody who does. Events of one link come in order, those of
 * several links may come at the same time. The deletion of a link may be
 * reported after the next one of its name came up: their numbers tell which. A
 * link that is up already is not reported: rclink_connect() finds out.
 * NOTIFY_STOP_MASK must not be used, because others hear of links, too.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: 0, or -EEXIST if it is registered already.
 */
int rclink_register_notifier(struct notifier_block *nb)
{
	return blocking_notifier_chain_register(&rcl_event_chain, nb);
}
EXPORT_SYMBOL_GPL(rclink_register_notifier);

/**
 * rclink_unregister_notifier - hear of links no more
 * @nb: registered; not running any more when this returns
 *
 * Context: may sleep. Not from a callback of rclink.
 */
void rclink_unregister_notifier(struct notifier_block *nb)
{
	blocking_notifier_chain_unregister(&rcl_event_chain, nb);
}
EXPORT_SYMBOL_GPL(rclink_unregister_notifier);
