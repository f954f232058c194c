// SPDX-License-Identifier: GPL-2.0
/*
 * Channels of kernel modules: see include/rclink.h.
 *
 * Completions wait in a ring of the channel's own until they are delivered
 * without a lock, so that the consumer may post from its callback. One
 * deliverer at a time: the softirq side, or, of a polled channel, the consumer
 * itself.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_verbs.h>

#include <rclink.h>

#include "chan.h"
#include "chan-event.h"
#include "chan-io.h"
#include "event.h"
#include "listener.h"
#include "region.h"
#include "remote.h"

#define RCL_KAPI_CQ_DEPTH	64	/* more than can be in flight */

/**
 * struct rclink_chan - a channel of a module
 * @chan: the channel
 * @ops: of the consumer; NULL until it owns the channel
 * @ctx: for @ops
 * @gone: nothing comes in any more; under @chan.lock
 * @told: @ops->ended was called; of the softirq side
 * @over: completed when nothing is called any more
 * @head: completions delivered
 * @tail: completions there
 * @cqe: those
 */
struct rclink_chan {
	struct rcl_chan chan;
	const struct rclink_chan_ops *ops;
	void *ctx;
	bool gone;
	bool told;
	struct completion over;
	u32 head;
	u32 tail;
	struct rclink_dev_cqe cqe[RCL_KAPI_CQ_DEPTH];
};

/**
 * struct rclink_listener - a listener of a module
 * @listener: the listener
 * @waiting: of the consumer
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
	/* Pairs with the release of who filled them. */
	u32 tail = smp_load_acquire(&chan->tail);
	u32 head = chan->head;
	int n = 0;

	while (head != tail && n < budget) {
		chan->ops->completed(chan, chan->ctx,
				     &chan->cqe[head % RCL_KAPI_CQ_DEPTH]);
		/* Then the entry may be filled again. */
		smp_store_release(&chan->head, ++head);
		n++;
	}
	return n;
}

static void rcl_kapi_deliver(struct rcl_chan *common, int n)
{
	struct rclink_chan *chan = rcl_kapi_of(common);
	bool gone;

	spin_lock(&common->lock);
	gone = chan->gone && chan->ops;
	spin_unlock(&common->lock);
	rcl_kapi_give(chan, RCL_KAPI_CQ_DEPTH);
	if (!gone || chan->told)
		return;
	chan->told = true;
	chan->ops->ended(chan, chan->ctx, common->why);
	complete_all(&chan->over);
}

static void rcl_kapi_news(struct rcl_chan *common)
{
	if (!common->polled)
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
	kfree_rcu(rcl_kapi_of(common), chan.rcu);
}

static const struct rcl_chan_ops rcl_kapi_chan_ops = {
	.deliver = rcl_kapi_deliver,
	.news = rcl_kapi_news,
	.ended = rcl_kapi_ended,
	.release = rcl_kapi_release,
};

static struct rclink_chan *rcl_kapi_new(bool polled)
{
	struct rcl_cq cq = { .depth = RCL_KAPI_CQ_DEPTH };
	struct rclink_chan *chan;

	BUILD_BUG_ON(RCLINK_DEV_SENDS + RCLINK_DEV_RECVS >= RCL_KAPI_CQ_DEPTH);
	chan = kzalloc(sizeof(*chan), GFP_KERNEL);
	if (!chan)
		return NULL;
	init_completion(&chan->over);
	cq.cqe = chan->cqe;
	cq.head = &chan->head;
	cq.tail = &chan->tail;
	if (!rcl_chan_init(&chan->chan, &rcl_kapi_chan_ops, &cq, polled))
		return chan;
	kfree(chan);
	return NULL;
}

static void rcl_kapi_drop(struct rclink_chan *chan)
{
	rcl_chan_close(&chan->chan);
	rcl_chan_put(&chan->chan);
}

/* From now on the consumer hears of it, unless it has ended already. */
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

static bool rcl_kapi_is_name(const char *name, size_t size)
{
	return name[0] && strnlen(name, size) < size;
}

/**
 * rclink_connect - open a channel to a service of the peer
 * @link: name of the link
 * @service: name, that the peer listens on
 * @flags: RCLINK_CONNECT_WAIT to wait for a free queue pair, RCLINK_CHAN_POLLED
 *	to have completions in rclink_poll() only
 * @ops: of the caller, constant
 * @ctx: for @ops
 *
 * Context: may sleep; a signal interrupts it. Not from a callback of rclink.
 * Return: the channel, or an ERR_PTR: -ENODEV for no such link, -ENOTCONN if it
 * is not up, -ECONNREFUSED if nobody listens, -EAGAIN if no queue pair is free,
 * -ECONNRESET if it has ended again already, -EINVAL, -EINTR, -ENOMEM, or the
 * errno of a verbs call.
 */
struct rclink_chan *rclink_connect(const char *link, const char *service,
				   u32 flags, const struct rclink_chan_ops *ops,
				   void *ctx)
{
	struct rclink_chan *chan;
	int ret;

	if (flags & ~(RCLINK_CONNECT_WAIT | RCLINK_CHAN_POLLED) ||
	    !rcl_kapi_is_name(link, RCLINK_DEV_LINK_LEN) ||
	    !rcl_kapi_is_name(service, RCLINK_DEV_SERVICE_LEN))
		return ERR_PTR(-EINVAL);
	chan = rcl_kapi_new(flags & RCLINK_CHAN_POLLED);
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
 * @chan: that nobody uses any more, but for its callbacks; also one that is
 *	over
 *
 * What is in flight completes, and @ops->ended is called, before it returns.
 * Then no callback runs any more, the device accesses none of the memory that
 * was registered, and @chan is no more.
 *
 * Context: may sleep, for a drain. Not from a callback of rclink.
 */
void rclink_close(struct rclink_chan *chan)
{
	rcl_chan_close(&chan->chan);
	/* The link's work item comes to it, even if the link is deleted. */
	wait_for_completion(&chan->over);
	if (chan->chan.polled)
		rcl_kapi_give(chan, RCL_KAPI_CQ_DEPTH);
	rcl_chan_put(&chan->chan);
}
EXPORT_SYMBOL_GPL(rclink_close);

static struct rclink_listener *rcl_kapi_listener(struct rcl_listener *listener)
{
	return container_of(listener, struct rclink_listener, listener);
}

static struct rcl_chan *rcl_kapi_make(struct rcl_listener *listener)
{
	struct rclink_chan *chan = rcl_kapi_new(listener->polled);

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
 * @flags: RCLINK_CHAN_POLLED to have their completions in rclink_poll() only
 * @waiting: a channel waits for rclink_accept(); called in process context,
 *	must not sleep and not call rclink: it wakes or queues who does
 * @ctx: for @waiting
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: the listener, or an ERR_PTR: -EADDRINUSE if somebody listens there,
 * -EINVAL or -ENOMEM.
 */
struct rclink_listener *rclink_listen(const char *link, const char *service,
				      u32 backlog, u32 flags,
				      void (*waiting)(void *ctx), void *ctx)
{
	struct rclink_listener *listener;
	int ret;

	if (!backlog || backlog > RCLINK_DEV_BACKLOG_MAX ||
	    flags & ~RCLINK_CHAN_POLLED ||
	    !rcl_kapi_is_name(link, RCLINK_DEV_LINK_LEN) ||
	    !rcl_kapi_is_name(service, RCLINK_DEV_SERVICE_LEN))
		return ERR_PTR(-EINVAL);
	listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	rcl_listener_init(&listener->listener, &rcl_kapi_listener_ops, NULL,
			  link, service);
	listener->listener.max = backlog;
	listener->listener.polled = flags & RCLINK_CHAN_POLLED;
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
 * @ops: of the caller, constant
 * @ctx: for @ops
 *
 * The channel does not need the listener any more.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: the channel, or ERR_PTR(-EAGAIN) when none waits.
 */
struct rclink_chan *rclink_accept(struct rclink_listener *listener,
				  const struct rclink_chan_ops *ops, void *ctx)
{
	struct rclink_chan *chan;
	struct rcl_chan *common;

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
 * @listener: that nobody uses any more; its callback does not run any more when
 *	this returns
 *
 * Context: may sleep, for drains. Not from a callback of rclink.
 */
void rclink_unlisten(struct rclink_listener *listener)
{
	rcl_chan_unlisten(&listener->listener);
}
EXPORT_SYMBOL_GPL(rclink_unlisten);

static void rcl_kapi_memory_free(struct rcl_memory *memory)
{
	sg_free_table(&memory->sgt);
	kfree(memory);
}

static int rcl_kapi_register(struct rclink_chan *chan,
			     struct rcl_memory *memory, const char *name,
			     u32 rights, u32 *handle)
{
	int ret;

	memory->free = rcl_kapi_memory_free;
	ret = rcl_region_check(&chan->chan, name, rights, memory->npages);
	if (ret) {
		rcl_kapi_memory_free(memory);
		return ret;
	}
	return rcl_region_register(&chan->chan, memory, name, rights, handle);
}

/**
 * rclink_register_sg - register memory by a list of its pieces
 * @chan: any
 * @sgl: the list; each piece but the first begins with a page, each but the
 *	last one ends with one; only read, during the call
 * @nents: pieces of the list
 * @name: the peer may import it under this name; NULL for local use only
 * @rights: RCLINK_REGION_*, what the peer may do; 0 without @name
 * @handle: set; names it in entries of this channel
 *
 * The memory stays the caller's, who keeps it until rclink_withdraw() or
 * rclink_close() has returned. While it is registered the device and the
 * processor use it side by side, so it must be coherent for that device: on
 * machines where that needs bounce buffers or cache maintenance, it is not.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: 0, -EINVAL, -EMSGSIZE for more than 4096 registrations of the device
 * take, -EEXIST for a name that the link has already, -EOPNOTSUPP for an atomic
 * right that the device does not have, or RCLINK_REGION_INVALIDATE where one
 * registration is too small, -ENOSPC, -ENOMEM, -EINTR for a fatal signal, the
 * reason when the channel is over, or the errno of a verbs call.
 */
int rclink_register_sg(struct rclink_chan *chan, struct scatterlist *sgl,
		       unsigned int nents, const char *name, u32 rights,
		       u32 *handle)
{
	struct scatterlist *from, *to;
	struct rcl_memory *memory;
	unsigned int i;
	int ret;

	name = name ? : "";
	if (!nents || strnlen(name, RCLINK_DEV_REGION_LEN) ==
		      RCLINK_DEV_REGION_LEN)
		return -EINVAL;
	memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		return -ENOMEM;
	ret = sg_alloc_table(&memory->sgt, nents, GFP_KERNEL);
	if (ret) {
		kfree(memory);
		return ret;
	}
	to = memory->sgt.sgl;
	for_each_sg(sgl, from, nents, i) {
		sg_set_page(to, sg_page(from), from->length, from->offset);
		memory->len += from->length;
		memory->npages += DIV_ROUND_UP(from->offset + from->length,
					       PAGE_SIZE);
		to = sg_next(to);
	}
	return rcl_kapi_register(chan, memory, name, rights, handle);
}
EXPORT_SYMBOL_GPL(rclink_register_sg);

static struct page *rcl_kapi_page(const void *p)
{
	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

/**
 * rclink_register - register a buffer
 * @chan: any
 * @buf: of kmalloc(), vmalloc() or a page allocator
 * @len: bytes
 * @name: as for rclink_register_sg()
 * @rights: as for rclink_register_sg()
 * @handle: set; names it in entries of this channel
 *
 * Context: as for rclink_register_sg(), which also says whose the memory is.
 * Return: as for rclink_register_sg().
 */
int rclink_register(struct rclink_chan *chan, void *buf, size_t len,
		    const char *name, u32 rights, u32 *handle)
{
	u32 npages = DIV_ROUND_UP(offset_in_page(buf) + len, PAGE_SIZE);
	struct page **pages;
	struct sg_table sgt;
	u32 i;
	int ret;

	if (!len)
		return -EINVAL;
	if (len > INT_MAX)
		return -EMSGSIZE;
	pages = kvmalloc_array(npages, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < npages; i++)
		pages[i] = rcl_kapi_page(buf + i * PAGE_SIZE);
	ret = sg_alloc_table_from_pages(&sgt, pages, npages,
					offset_in_page(buf), len, GFP_KERNEL);
	kvfree(pages);
	if (ret)
		return ret;
	ret = rclink_register_sg(chan, sgt.sgl, sgt.orig_nents, name, rights,
				 handle);
	sg_free_table(&sgt);
	return ret;
}
EXPORT_SYMBOL_GPL(rclink_register);

/**
 * rclink_withdraw - end a registration
 * @chan: any
 * @handle: of rclink_register()
 *
 * What is in flight fails, here or at the peer. Afterwards neither the device
 * nor the peer accesses the memory.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: 0, -ESTALE for no such region, or -EIO when the device did not end
 * the registration: then the memory must never be used for anything else.
 */
int rclink_withdraw(struct rclink_chan *chan, u32 handle)
{
	return rcl_region_withdraw(&chan->chan, handle);
}
EXPORT_SYMBOL_GPL(rclink_withdraw);

/**
 * rclink_import - find a region of the peer
 * @chan: any
 * @name: that the peer registered it under
 * @remote: set
 *
 * Context: may sleep; a fatal signal interrupts it. Not from a callback of
 * rclink.
 * Return: 0, -ENOENT, -EINVAL, -ENOSPC beyond 64 at a time, -EINTR, -ENOMEM,
 * or the reason when the channel is over.
 */
int rclink_import(struct rclink_chan *chan, const char *name,
		  struct rclink_remote *remote)
{
	struct rcl_window window;
	int ret;

	if (!rcl_kapi_is_name(name, RCLINK_DEV_REGION_LEN))
		return -EINVAL;
	ret = rcl_chan_import(&chan->chan, name, &window, &remote->handle);
	if (ret)
		return ret;
	remote->len = window.len;
	remote->rights = window.rights;
	return 0;
}
EXPORT_SYMBOL_GPL(rclink_import);

/**
 * rclink_release - give an import back
 * @chan: any
 * @remote: of rclink_import(); cannot be used any more afterwards
 *
 * What is in flight goes on, and another region can be imported instead.
 *
 * Context: process context. Not from a callback of rclink.
 * Return: 0, or -ESTALE for no such import.
 */
int rclink_release(struct rclink_chan *chan,
		   const struct rclink_remote *remote)
{
	return rcl_remote_release(&chan->chan, remote->handle);
}
EXPORT_SYMBOL_GPL(rclink_release);

/**
 * rclink_post - start operations
 * @chan: any
 * @sqe: entries, in order
 * @n: how many
 * @taken: set to how many were started
 *
 * At most RCLINK_DEV_SENDS operations and RCLINK_DEV_RECVS receives are in
 * flight, and completions that were not delivered yet count.
 *
 * Context: process or softirq context, also a callback of this channel; never
 * with interrupts off.
 * Return: 0, or why the next one was not started: -EBUSY when as many as can be
 * are in flight, -EINVAL for a wrong entry, -ESTALE for an unknown handle,
 * -EACCES without the right, -EMSGSIZE when it touches too many extents of
 * regions, -EOPNOTSUPP for an atomic that the device does not have, the reason
 * when the channel is over, or the errno of the verbs call.
 */
int rclink_post(struct rclink_chan *chan, const struct rclink_dev_sqe *sqe,
		unsigned int n, unsigned int *taken)
{
	struct rcl_chan *common = &chan->chan;
	unsigned int i = 0;
	int ret;

	spin_lock_bh(&common->lock);
	ret = common->qp ? 0 : common->why;
	while (!ret && i < n) {
		ret = rcl_chan_post(common, &sqe[i]);
		i += !ret;
	}
	rcl_chan_flush(common);
	spin_unlock_bh(&common->lock);
	*taken = i;
	return ret;
}
EXPORT_SYMBOL_GPL(rclink_post);

/**
 * rclink_poll - handle completions of a polled channel
 * @chan: opened with RCLINK_CHAN_POLLED; not polled by anybody else now
 * @budget: call @ops->completed at most so many times, 1 or more
 *
 * Context: process or softirq context; @ops->completed is called in it. Who
 * waits this way in process context calls cond_resched() in between, because
 * the device may need the processor.
 * Return: how many there were, or the reason when the channel is over and all
 * were delivered.
 */
int rclink_poll(struct rclink_chan *chan, int budget)
{
	bool over = rcl_chan_is_over(&chan->chan);
	int n;

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
 * Return: as the verbs call it.
 */
const char *rclink_status_name(u32 status)
{
	return ib_wc_status_msg(status);
}
EXPORT_SYMBOL_GPL(rclink_status_name);

/**
 * rclink_register_notifier - hear of links
 * @nb: called with a struct rclink_link_event, and one of
 *	RCLINK_EVENT_KIND_CHANGED and RCLINK_EVENT_KIND_DELETED as the action
 *
 * The callback runs in process context, in the work item of the link, for which
 * the link waits: it is to be short, and to leave to others what calls rclink
 * or waits for somebody who does. Events of one link come in order. A link that
 * is up already is not told: rclink_connect() finds out.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: 0, or -EEXIST when it is registered already.
 */
int rclink_register_notifier(struct notifier_block *nb)
{
	return rcl_event_listen(nb);
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
	rcl_event_unlisten(nb);
}
EXPORT_SYMBOL_GPL(rclink_unregister_notifier);
