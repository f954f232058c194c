// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a channel: made by its consumer, attached to a QP by the link's
 * work item, and detached by it when either end closes or the link goes down. A
 * channel is used once; a consumer that wants another one makes a new one.
 */
#include "chan.h"

#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "access.h"
#include "chan-call.h"
#include "chan-event.h"
#include "chan-io.h"
#include "chan-park.h"
#include "chan-resume.h"
#include "charge.h"
#include "inbox.h"
#include "link.h"
#include "listener.h"
#include "mapping.h"
#include "qp.h"
#include "region.h"
#include "remote.h"

static int rcl_chan_map_inline(struct rcl_chan *chan, struct ib_device *ib)
{
	u32 size = RCL_CHAN_SEND_SLOTS * RCLINK_DEV_INLINE_MAX;

	chan->inl_dma = ib_dma_map_single(ib, chan->inl, size, DMA_TO_DEVICE);
	return ib_dma_mapping_error(ib, chan->inl_dma) ? -EIO : 0;
}

static void rcl_chan_unmap_inline(struct rcl_chan *chan)
{
	ib_dma_unmap_single(chan->pd->device, chan->inl_dma,
			    RCL_CHAN_SEND_SLOTS * RCLINK_DEV_INLINE_MAX,
			    DMA_TO_DEVICE);
}

/* Takes all of a grant but its QP. */
static void rcl_chan_take(struct rcl_chan *chan, const struct rcl_grant *grant)
{
	mutex_lock(&chan->setup);
	chan->pd = grant->pd;
	chan->reg = grant->reg;
	spin_lock_bh(&chan->lock);
	chan->attached = true;
	chan->leases++;
	chan->access = grant->access;
	chan->atomics = grant->atomics;
	chan->masked_atomics = grant->masked_atomics;
	chan->max_sge = grant->max_sge;
	chan->shift = rcl_mapping_shift(grant->pd->device);
	spin_unlock_bh(&chan->lock);
	mutex_unlock(&chan->setup);
}

static void rcl_chan_event(struct rcl_lessee *lessee)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);

	/* May be a stale event, armed by the previous lessee. */
	if (!rcl_chan_has_events(chan))
		return;
	/* A poll that is about to end may have looked already. */
	WRITE_ONCE(chan->kicked, true);
	irq_poll_sched(&chan->iop);
}

static bool rcl_chan_heard(struct rcl_lessee *lessee, bool posted)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);
	bool resumes;

	spin_lock_bh(&chan->lock);
	if (posted) {
		chan->heard = true;
		rcl_chan_flush(chan);
	}
	resumes = chan->keep && !chan->keep->broken;
	spin_unlock_bh(&chan->lock);
	/* The device may have refused what was flushed. */
	chan->ops->news(chan);
	return resumes;
}

static void rcl_chan_detach(struct rcl_lessee *lessee, int why)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);

	spin_lock_bh(&chan->lock);
	chan->why = why;
	WRITE_ONCE(chan->qp, NULL);
	WRITE_ONCE(chan->attached, false);
	/* What fails from now on fails because of the detach. */
	if (chan->keep) {
		chan->keep->suspended = false;
		chan->keep->broken = true;
	}
	spin_unlock_bh(&chan->lock);
}

/* All that the device had is in the ring already. */
static void rcl_chan_fill_up(struct rcl_chan *chan)
{
	lockdep_assert_held(&chan->lock);
	rcl_chan_drop(chan);
	/* Pairs with rcl_chan_is_whole(): then why and the ring are whole. */
	smp_store_release(&chan->whole, true);
}

/* What is left may take long: destroying its QP and its registrations. */
static void rcl_chan_stopped(struct rcl_lessee *lessee)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);
	bool ends;

	spin_lock_bh(&chan->lock);
	ends = !chan->keep || !chan->keep->suspended;
	if (ends) {
		rcl_chan_drained(chan);
		rcl_chan_fill_up(chan);
	}
	spin_unlock_bh(&chan->lock);
	if (ends)
		chan->ops->news(chan);
}

static void rcl_chan_end(struct rcl_chan *chan)
{
	rcl_region_unexport_all(chan);
	spin_lock_bh(&chan->lock);
	rcl_chan_fill_up(chan);
	spin_unlock_bh(&chan->lock);
	this_cpu_dec(chan->traffic->channels);
	/* Pairs with rcl_chan_is_over(): then why and the ring are whole. */
	smp_store_release(&chan->over, true);
	chan->ops->ended(chan);
}

static void rcl_chan_gone(struct rcl_lessee *lessee)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);
	bool suspended;

	spin_lock_bh(&chan->lock);
	suspended = chan->keep && chan->keep->suspended;
	/* One that ends was drained before, or its sends' fate is unknown. */
	if (suspended)
		rcl_chan_drained(chan);
	else
		rcl_chan_fill_up(chan);
	spin_unlock_bh(&chan->lock);
	/* Registrations may take long to end. */
	chan->ops->news(chan);
	mutex_lock(&chan->setup);
	rcl_region_unmap_all(chan);
	rcl_chan_unmap_inline(chan);
	chan->pd = NULL;
	mutex_unlock(&chan->setup);
	if (!suspended)
		rcl_chan_end(chan);
}

/* Only the drain may have noticed a failure. */
static bool rcl_chan_can_rejoin(struct rcl_lessee *lessee)
{
	return !rcl_chan_of(lessee)->keep->broken;
}

static int rcl_chan_rejoin(struct rcl_lessee *lessee,
			   const struct rcl_grant *grant)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);
	int ret;

	ret = rcl_chan_map_inline(chan, grant->pd->device);
	if (ret)
		return ret;
	this_cpu_dec(chan->traffic->suspended);
	rcl_chan_take(chan, grant);
	spin_lock_bh(&chan->lock);
	chan->keep->qp = grant->qp;
	spin_unlock_bh(&chan->lock);
	return 0;
}

static int rcl_chan_register_again(struct rcl_lessee *lessee)
{
	return rcl_region_map_all(rcl_chan_of(lessee));
}

static void rcl_chan_lost(struct rcl_lessee *lessee, int why)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);

	rcl_chan_detach(lessee, why);
	this_cpu_dec(chan->traffic->suspended);
	rcl_chan_end(chan);
}

/* The memory must not be charged to the work item. */
static bool rcl_chan_new_keep(struct rcl_chan *chan)
{
	struct rcl_charge charge = rcl_charge_begin(chan->memcg);

	chan->keep = kvzalloc(sizeof(*chan->keep), RCL_GFP_CHARGED);
	rcl_charge_end(&charge);
	if (chan->keep)
		chan->keep->chan = chan;
	return chan->keep;
}

static int rcl_chan_attach(struct rcl_lessee *lessee,
			   const struct rcl_grant *grant)
{
	struct rcl_chan *chan = rcl_chan_of(lessee);
	int ret;

	if (grant->resumes && !rcl_chan_new_keep(chan))
		return -ENOMEM;
	ret = rcl_chan_map_inline(chan, grant->pd->device);
	if (ret)
		return ret;
	chan->traffic = chan->link->traffic;
	this_cpu_inc(chan->traffic->channels);
	rcl_chan_take(chan, grant);
	spin_lock_bh(&chan->lock);
	chan->over = false;
	chan->qp = grant->qp;
	if (chan->keep)
		chan->keep->qp = grant->qp;
	/* Nothing was posted that could have come in before. */
	if (!chan->polled)
		rcl_qp_arm(chan->qp);
	spin_unlock_bh(&chan->lock);
	if (!chan->listener || rcl_listener_add(chan->listener, chan))
		return 0;
	rcl_chan_detach(lessee, -ECONNREFUSED);
	rcl_chan_gone(lessee);
	return -ECONNREFUSED;
}

static void rcl_chan_release(struct kref *ref)
{
	struct rcl_chan *chan = rcl_chan_of(container_of(ref, struct rcl_lessee,
							 ref));

	rcl_chan_events_exit(chan);
	rcl_region_free_all(chan);
	rcl_remote_free_all(chan);
	if (chan->left)
		rcl_call_put(chan->left);
	if (chan->listener)
		rcl_listener_put(chan->listener);
	if (chan->link)
		rcl_link_put(chan->link);
	kvfree(chan->keep);
	kfree(chan->inl);
	chan->ops->release(chan);
}

static const struct rcl_lessee_ops rcl_chan_lessee_ops = {
	.attach = rcl_chan_attach,
	.event = rcl_chan_event,
	.heard = rcl_chan_heard,
	.detach = rcl_chan_detach,
	.stopped = rcl_chan_stopped,
	.gone = rcl_chan_gone,
	.keep_still = rcl_chan_keep_still,
	.is_still = rcl_chan_is_still,
	.suspend = rcl_chan_suspend,
	.can_rejoin = rcl_chan_can_rejoin,
	.rejoin = rcl_chan_rejoin,
	.register_again = rcl_chan_register_again,
	.resume = rcl_chan_resume,
	.lost = rcl_chan_lost,
	.release = rcl_chan_release,
};

/**
 * rcl_chan_init - initialize a channel that is not open yet
 * @chan: zeroed
 * @ops: of the consumer's side; @ops->release is called with the last reference
 * @cq: where completions go
 * @flags: RCLINK_CHAN_*
 *
 * Context: may sleep.
 * Return: 0 with one reference, or -ENOMEM.
 */
int rcl_chan_init(struct rcl_chan *chan, const struct rcl_chan_ops *ops,
		  const struct rcl_cq *cq, u32 flags)
{
	chan->inl = kzalloc(RCL_CHAN_SEND_SLOTS * RCLINK_DEV_INLINE_MAX,
			    RCL_GFP_CHARGED);
	if (!chan->inl)
		return -ENOMEM;
	rcl_lessee_init(&chan->lessee, &rcl_chan_lessee_ops);
	chan->ops = ops;
	chan->cq = *cq;
	chan->polled = flags & RCLINK_CHAN_POLLED;
	chan->replay = flags & RCLINK_CHAN_REPLAY;
	chan->over = true;
	chan->why = -ENOTCONN;
	spin_lock_init(&chan->lock);
	mutex_init(&chan->turn);
	mutex_init(&chan->setup);
	rcl_chan_io_init(chan);
	rcl_chan_events_init(chan);
	return 0;
}

/**
 * rcl_chan_put - drop a reference
 * @chan: may be freed
 *
 * Context: may sleep.
 */
void rcl_chan_put(struct rcl_chan *chan)
{
	rcl_lessee_put(&chan->lessee);
}

/**
 * rcl_chan_connect - lease a QP at both ends
 * @chan: new; the caller ensures that nobody else connects it
 * @cred: of the consumer, NULL for the kernel
 * @link: name
 * @service: name that somebody listens on there
 * @wait: wait as long as it takes for a QP to become free; one that a channel
 *	has just left is waited for anyway, for rcl_heartbeat_limit() at most
 *
 * Context: may sleep; can be interrupted. After a failure only
 * rcl_chan_close() and rcl_chan_put() may follow.
 * Return: 0, -ENODEV if there is no such link, -EACCES without the right to it,
 * -ENOTCONN if it is not up, -EAGAIN if no QP is free or about to be, too many
 * callers wait for one, or the peer says that it is busy; -ECONNREFUSED if
 * nobody listens, -EINTR, -ENOMEM, or the errno of a verbs call.
 */
int rcl_chan_connect(struct rcl_chan *chan, const struct cred *cred,
		     const char *link, const char *service, bool wait)
{
	struct rcl_link *found;
	struct rcl_call *call;
	int ret;

	found = rcl_access_get(link, cred);
	if (IS_ERR(found))
		return PTR_ERR(found);
	chan->link = found;
	call = rcl_call_new(RCL_CALL_OPEN, &chan->lessee, GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	strscpy(call->name, service, sizeof(call->name));
	call->wait = wait;
	ret = rcl_chan_call(chan, call, NULL);
	rcl_call_put(call);
	return ret == -ESHUTDOWN ? -ENODEV : ret;
}

/* It has a QP, or will get another one. */
static bool rcl_chan_lives(struct rcl_chan *chan, u32 *leases)
{
	bool lives;

	spin_lock_bh(&chan->lock);
	lives = chan->qp || (chan->keep && chan->keep->suspended);
	*leases = chan->leases;
	spin_unlock_bh(&chan->lock);
	return lives;
}

/**
 * rcl_chan_import - look up a region of the peer
 * @chan: open or suspended
 * @name: name that it is exported under
 * @window: set; its keys remain the channel's
 * @handle: set; valid for this channel only
 *
 * If the link is rotated meanwhile, the peer is asked again; but a peer that
 * has it rotated again and again gets no more time than one that is busy.
 *
 * Context: may sleep; can be interrupted, like rcl_chan_call().
 * Return: 0, -ENOENT, -ENOSPC, -EAGAIN if the channel is suspended and the link
 * is down, -ECONNRESET if the link is being deleted, @chan->why if it is not
 * open, -ETIMEDOUT like rcl_chan_fetch(), or if the link was rotated after
 * RCL_FETCH_MS, -EINTR or -ENOMEM.
 */
int rcl_chan_import(struct rcl_chan *chan, const char *name,
		    struct rcl_window *window, u32 *handle)
{
	unsigned long end = jiffies + msecs_to_jiffies(RCL_FETCH_MS);
	u32 leases;
	int ret;

	do {
		if (!rcl_chan_lives(chan, &leases))
			return chan->why;
		ret = rcl_chan_fetch(chan, name, window, NULL);
		if (ret)
			continue;
		ret = rcl_remote_keep(chan, leases, name, window, handle);
		if (ret)
			kvfree(window->rkeys);
	} while (ret == -EAGAIN && time_before(jiffies, end));
	if (ret == -EAGAIN)
		return -ETIMEDOUT;
	/* No epoch is up any more, or none will ever be. */
	if (ret == -ENOTCONN || ret == -ESHUTDOWN) {
		if (!rcl_chan_lives(chan, &leases))
			return chan->why;
		ret = ret == -ENOTCONN ? -EAGAIN : -ECONNRESET;
	}
	return ret;
}

/**
 * rcl_chan_close - end a channel
 * @chan: any; nobody submits any more
 *
 * When it returns, the lease has ended at this end, unless the link is being
 * deleted, which ends it, or the device did not stop this QP or another one of
 * the link: then the epoch ends, and memory may be written until it has ended.
 *
 * Context: may sleep, for a drain.
 */
void rcl_chan_close(struct rcl_chan *chan)
{
	struct rcl_call *call;

	if (!chan->link)
		return;
	/* A lease must not be left behind for lack of memory. */
	call = rcl_call_new(RCL_CALL_CLOSE, &chan->lessee,
			    GFP_KERNEL | __GFP_NOFAIL);
	call->why = -ESHUTDOWN;
	if (!rcl_inbox_ask_call(chan->link, call))
		wait_for_completion(&call->done);
	rcl_call_put(call);
	/* Wait for rcl_chan_gone(). */
	flush_work(&chan->lessee.work);
}

static struct rcl_lessee *rcl_chan_offer(struct rcl_service *service,
					 const char *link)
{
	struct rcl_listener *listener =
		container_of(service, struct rcl_listener, service);
	struct rcl_chan *chan;

	if (rcl_listener_is_full(listener))
		return ERR_PTR(-EBUSY);
	chan = listener->ops->make(listener);
	if (!chan)
		return ERR_PTR(-ENOMEM);
	kref_get(&listener->ref);
	chan->listener = listener;
	chan->link = rcl_link_get(link);
	/* The same name is not enough: this may be the link's successor. */
	if (chan->link && chan->link->name == link)
		return &chan->lessee;
	rcl_chan_put(chan);
	return ERR_PTR(-ECONNREFUSED);
}

/* Looked at for a peer, or for who would listen: this one asks for nothing. */
static bool rcl_chan_may(const struct rcl_service *service)
{
	const struct rcl_listener *listener =
		container_of(service, struct rcl_listener, service);

	return !rcl_access_check(service->link, listener->cred, false);
}

static void rcl_chan_put_listener(struct rcl_service *service)
{
	rcl_listener_put(container_of(service, struct rcl_listener, service));
}

/**
 * rcl_chan_listen - wait for channels
 * @listener: initialized; its link need not exist yet
 *
 * The right to the link is checked again for each channel: the link may have
 * come, or its rights may have changed, in the meantime.
 *
 * Context: may sleep.
 * Return: 0, -EACCES without the right to a link that exists, -EADDRINUSE, or
 * -ENOSPC.
 */
int rcl_chan_listen(struct rcl_listener *listener)
{
	if (rcl_access_check(listener->service.link, listener->cred, true) ==
	    -EACCES)
		return -EACCES;
	listener->service.may = rcl_chan_may;
	listener->service.offer = rcl_chan_offer;
	listener->service.put = rcl_chan_put_listener;
	kref_get(&listener->ref);
	return rcl_service_add(&listener->service);
}

/**
 * rcl_chan_unlisten - end a listener and the channels that wait there
 * @listener: after rcl_chan_listen(); the reference is dropped
 *
 * Context: may sleep, for drains.
 */
void rcl_chan_unlisten(struct rcl_listener *listener)
{
	struct rcl_chan *chan;

	rcl_service_del(&listener->service);
	rcl_listener_shut(listener);
	while ((chan = rcl_listener_take(listener))) {
		rcl_chan_close(chan);
		rcl_chan_put(chan);
	}
	rcl_listener_put(listener);
}
