// SPDX-License-Identifier: GPL-2.0
/*
 * Submissions are copied out of the shared ring once, then checked and posted.
 * A waiter polls the QP itself for a while, then asks for an event and sleeps;
 * events poll in softirq context, for consumers that only look at the ring.
 *
 * The kernel keeps its own indexes. What it reads from the ring, one head and
 * one tail, is only ever compared or used modulo the depth.
 */
#include "ring.h"

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "chan.h"
#include "chan-event.h"
#include "chan-io.h"
#include "charge.h"
#include "compat.h"
#include "listener.h"
#include "pages.h"
#include "region.h"
#include "shm.h"
#include "sqe.h"

/*
 * How long a waiter polls before it sleeps. A task that sleeps often is owed
 * processor time when it wakes, and then keeps the processor from the device's
 * own work for a whole slice, milliseconds (EEVDF): a poller has to poll for
 * longer than that. But not for much longer while somebody else wants its
 * processor: that may be what it waits for, such as the device on a host with
 * one processor.
 */
#define RCL_SPIN_US		100
#define RCL_SPIN_POLLED_US	20000
#define RCL_SPIN_SHARED_US	5000
#define RCL_SPIN_LOOKS		16	/* per look at the clock */

/* What a completion may make ready. */
#define RCL_RING_COMPLETES \
	(EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM)

/**
 * struct rcl_ring - a channel of a process
 * @chan: the channel
 * @shared: rings, mapped by the consumer: hostile
 * @sq_head: submissions taken; under the channel's lock
 * @full_at: operations in flight when the next one had no room and there was
 *	nothing to reap; else 0; under the channel's lock
 * @wait: woken by completions and by the end
 */
struct rcl_ring {
	struct rcl_chan chan;
	struct rclink_dev_shared *shared;
	u32 sq_head;
	u32 full_at;
	wait_queue_head_t wait;
};

static u32 rcl_ring_spin(const struct rcl_ring *ring)
{
	if (!READ_ONCE(ring->chan.polled))
		return RCL_SPIN_US;
	return single_task_running() ? RCL_SPIN_POLLED_US : RCL_SPIN_SHARED_US;
}

static struct rcl_ring *rcl_ring_of(struct rcl_chan *chan)
{
	return container_of(chan, struct rcl_ring, chan);
}

static void rcl_ring_deliver(struct rcl_chan *chan, int n)
{
	if (n)
		wake_up(&rcl_ring_of(chan)->wait);
}

static void rcl_ring_news(struct rcl_chan *chan)
{
	struct rcl_ring *ring = rcl_ring_of(chan);

	if (wq_has_sleeper(&ring->wait))
		wake_up(&ring->wait);
}

static void rcl_ring_ended(struct rcl_chan *chan)
{
	wake_up_all(&rcl_ring_of(chan)->wait);
}

static void rcl_ring_release(struct rcl_chan *chan)
{
	struct rcl_ring *ring = rcl_ring_of(chan);

	rcl_pages_free(ring->shared);
	mem_cgroup_put(ring->chan.memcg);
	kvfree_rcu(ring, chan.rcu);
}

static const struct rcl_chan_ops rcl_ring_ops = {
	.deliver = rcl_ring_deliver,
	.news = rcl_ring_news,
	.resumed = rcl_ring_news,
	.ended = rcl_ring_ended,
	.release = rcl_ring_release,
};

/**
 * rcl_ring_new - make a channel that is not open yet
 * @flags: RCLINK_CHAN_*
 *
 * Its memory is charged to the memory cgroup of the caller, or of the listener.
 *
 * Context: may sleep.
 * Return: the channel with one reference, or NULL.
 */
struct rcl_chan *rcl_ring_new(u32 flags)
{
	struct rcl_cq cq = {
		.depth = RCLINK_DEV_CQ_DEPTH,
		.timed = true,
	};
	struct rcl_ring *ring;

	/* kvzalloc(): several pages, and a forced charge reclaims nothing. */
	ring = kvzalloc(sizeof(*ring), RCL_GFP_CHARGED);
	if (!ring)
		return NULL;
	init_waitqueue_head(&ring->wait);
	ring->shared = rcl_pages_new(sizeof(*ring->shared));
	if (!ring->shared)
		goto err_free;
	cq.cqe = ring->shared->cqe;
	cq.head = &ring->shared->cq.head;
	cq.tail = &ring->shared->cq.tail;
	if (rcl_chan_init(&ring->chan, &rcl_ring_ops, &cq, flags))
		goto err_free;
	ring->chan.memcg = get_mem_cgroup_from_mm(current->mm);
	return &ring->chan;

err_free:
	rcl_pages_free(ring->shared);
	kvfree(ring);
	return NULL;
}

static struct rcl_chan *rcl_ring_make(struct rcl_listener *listener)
{
	struct rcl_charge charge = rcl_charge_begin(listener->memcg);
	struct rcl_chan *chan = rcl_ring_new(listener->flags);

	rcl_charge_end(&charge);
	return chan;
}

static void rcl_ring_waiting(struct rcl_listener *listener)
{
	wake_up(&listener->wait);
}

static void rcl_ring_listener_release(struct rcl_listener *listener)
{
	mem_cgroup_put(listener->memcg);
	kfree(listener);
}

static const struct rcl_listener_ops rcl_ring_listener_ops = {
	.make = rcl_ring_make,
	.waiting = rcl_ring_waiting,
	.release = rcl_ring_listener_release,
};

/**
 * rcl_ring_listen - wait for channels
 * @cred: of the consumer
 * @link: name; need not exist yet
 * @service: name
 * @max: channels that may wait to be accepted
 * @flags: RCLINK_CHAN_*, of these channels
 *
 * Context: may sleep.
 * Return: the listener with one reference, -EACCES without a right on a link
 * that exists, -EADDRINUSE, -ENOSPC or -ENOMEM.
 */
struct rcl_listener *rcl_ring_listen(const struct cred *cred, const char *link,
				     const char *service, u32 max, u32 flags)
{
	struct rcl_listener *listener;
	int ret;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	rcl_listener_init(listener, &rcl_ring_listener_ops, cred, link,
			  service);
	listener->memcg = get_mem_cgroup_from_mm(current->mm);
	listener->max = max;
	listener->flags = flags;
	ret = rcl_chan_listen(listener);
	if (!ret)
		return listener;
	rcl_listener_put(listener);
	return ERR_PTR(ret);
}

/* Reaping makes room, and nobody else reaps a polled channel. */
static int rcl_ring_post(struct rcl_chan *chan,
			 const struct rclink_dev_sqe *sqe, bool *some)
{
	int ret = rcl_chan_post(chan, sqe);

	if (ret != -EBUSY || !rcl_chan_poll(chan, RCL_POLL_BUDGET))
		return ret;
	*some = true;
	return rcl_chan_post(chan, sqe);
}

static u32 rcl_ring_in_flight(const struct rcl_chan *chan)
{
	return rcl_queue_busy(&chan->sends) + rcl_queue_busy(&chan->recvs);
}

static int rcl_ring_take(struct rcl_ring *ring, u32 count, u32 *taken)
{
	struct rclink_dev_ring *sq = &ring->shared->sq;
	struct rcl_chan *chan = &ring->chan;
	/* Each entry is written as a whole before it is looked at. */
	struct rclink_dev_sqe sqe __uninitialized;
	bool some = false;
	int ret = 0;

	/* Others may refill the ring meanwhile, and this keeps softirqs off. */
	count = min_t(u32, count, RCLINK_DEV_DEPTH);
	spin_lock_bh(&chan->lock);
	while (*taken < count) {
		/* Pairs with the release by whoever filled the entries. */
		u32 there = smp_load_acquire(&sq->tail) - ring->sq_head;

		/* A caller that hands over nothing gets no error from here. */
		if (!there)
			break;
		ret = chan->qp ? 0 : chan->why;
		if (there > RCLINK_DEV_DEPTH)
			ret = -EINVAL;
		if (ret)
			break;
		rcl_sqe_read(&sqe, ring->shared, ring->sq_head);
		ret = rcl_ring_post(chan, &sqe, &some);
		if (ret)
			break;
		ring->sq_head++;
		/* Now the consumer may fill the entry again. */
		smp_store_release(&sq->head, ring->sq_head);
		++*taken;
	}
	/* With nothing to reap, only what is in flight can make room. */
	ring->full_at = ret == -EBUSY && !rcl_chan_ready(chan) ?
				rcl_ring_in_flight(chan) : 0;
	some |= rcl_chan_flush(chan);
	spin_unlock_bh(&chan->lock);
	if (some)
		chan->ops->news(chan);
	return ret;
}

/*
 * Can what is in the submission ring be posted now? Not while the channel is
 * not open, or while as much is in flight as when the first entry had no room.
 */
static bool rcl_ring_has_room(struct rcl_ring *ring)
{
	struct rcl_chan *chan = &ring->chan;
	bool room;

	spin_lock_bh(&chan->lock);
	room = chan->qp && (!ring->full_at ||
			    ring->full_at != rcl_ring_in_flight(chan));
	spin_unlock_bh(&chan->lock);
	return room;
}

static int rcl_ring_wait_qp(struct rcl_ring *ring, unsigned long end)
{
	struct rcl_chan *chan = &ring->chan;
	long left = end ? max_t(long, end - jiffies, 0) : MAX_SCHEDULE_TIMEOUT;

	left = wait_event_interruptible_timeout(ring->wait,
						READ_ONCE(chan->qp) ||
						rcl_chan_is_whole(chan), left);
	if (!left)
		return -ETIME;
	return left < 0 ? -EINTR : 0;
}

/* Whatever a call failed with, it is told only once all is in the ring. */
static int rcl_ring_tell(struct rcl_ring *ring, int ret, unsigned long end)
{
	struct rcl_chan *chan = &ring->chan;
	bool ends;

	if (!ret)
		return 0;
	spin_lock_bh(&chan->lock);
	ends = !chan->qp && chan->why != -EAGAIN;
	spin_unlock_bh(&chan->lock);
	return (ends ? rcl_ring_wait_qp(ring, end) : 0) ? : ret;
}

/**
 * rcl_ring_settle - wait until the consumer may be told that a call failed
 * @chan: of a ring
 * @ret: result of the call; may be why the channel is not open
 *
 * A consumer that hears of the end reaps once more, and closes. So it is not
 * told while the QP drains: messages from the peer may still be to come.
 *
 * Context: process context; may sleep, for a drain, and can be interrupted.
 * Return: @ret, or -EINTR if the channel is ending and is not drained yet.
 */
int rcl_ring_settle(struct rcl_chan *chan, int ret)
{
	return rcl_ring_tell(rcl_ring_of(chan), ret, 0);
}

/**
 * rcl_ring_submit - post what is in the submission ring
 * @chan: of a ring
 * @count: at most this many
 * @wait: wait for the end of a suspension, too
 * @end: of that wait, in jiffies, 0 for none; also of the wait for completions
 *	of a channel that is ending: then -ETIME, and the next call says why
 * @taken: set to how many were posted
 *
 * Context: process context; may sleep with @wait, and like rcl_ring_settle();
 * can be interrupted.
 * Return: 0, or why the next one was not posted: -EINVAL for a wrong entry,
 * -ESTALE for an unknown handle, -EACCES without the right, -EOPNOTSUPP for an
 * atomic that the device of either end lacks, -EBUSY when as many are in flight
 * as can be, -EAGAIN while the channel is suspended, or with @wait -ETIME,
 * -EINTR, the reason when the channel is over, or what the verbs call returns.
 */
int rcl_ring_submit(struct rcl_chan *chan, u32 count, bool wait,
		    unsigned long end, u32 *taken)
{
	struct rcl_ring *ring = rcl_ring_of(chan);
	int ret;

	*taken = 0;
	for (;;) {
		ret = rcl_ring_take(ring, count, taken);
		if (ret != -EAGAIN || !wait)
			return rcl_ring_tell(ring, ret, wait ? end : 0);
		ret = rcl_ring_wait_qp(ring, end);
		if (ret)
			return ret;
	}
}

/**
 * rcl_ring_look - handle what has completed, without waiting
 * @chan: of a ring
 *
 * Context: process context.
 * Return: 0, or the reason when no more can come.
 */
int rcl_ring_look(struct rcl_chan *chan)
{
	bool whole = rcl_chan_is_whole(chan);

	rcl_chan_look(chan);
	return whole ? chan->why : 0;
}

/*
 * Counted as asleep before arming: the first event may bring too few. One that
 * came before that is lost, and arming bnxt_re says nothing of its flushes.
 */
static void rcl_ring_sleep(struct rcl_ring *ring, u32 want, long left)
{
	struct rcl_chan *chan = &ring->chan;

	atomic_inc(&chan->asleep);
	if (!rcl_chan_arm(chan) && !rcl_chan_look(chan))
		wait_event_interruptible_timeout(ring->wait,
						 rcl_chan_ready(chan) >= want ||
						 rcl_chan_is_whole(chan), left);
	atomic_dec(&chan->asleep);
}

/**
 * rcl_ring_wait - wait for completions
 * @chan: of a ring
 * @want: how many are to be in the ring
 * @end: in jiffies, 0 for none
 *
 * Context: may sleep; can be interrupted.
 * Return: 0, -ETIME, -EINTR, or the reason when no more can come.
 */
int rcl_ring_wait(struct rcl_chan *chan, u32 want, unsigned long end)
{
	struct rcl_ring *ring = rcl_ring_of(chan);
	ktime_t begun = ktime_get();
	long left = MAX_SCHEDULE_TIMEOUT;
	u32 looks = 0;

	for (;;) {
		bool whole = rcl_chan_is_whole(chan);
		bool some = rcl_chan_look(chan);

		if (rcl_chan_ready(chan) >= want)
			return 0;
		if (whole)
			return chan->why;
		if (signal_pending(current))
			return -EINTR;
		if (end && time_after_eq(jiffies, end))
			return -ETIME;
		cond_resched();
		if (some || looks++ % RCL_SPIN_LOOKS ||
		    ktime_us_delta(ktime_get(), begun) < rcl_ring_spin(ring))
			continue;
		if (end)
			left = max_t(long, end - jiffies, 1);
		rcl_ring_sleep(ring, want, left);
		looks = 0;
	}
}

/* The channel is no longer polled, if it was. */
static void rcl_ring_want_events(struct rcl_chan *chan)
{
	WRITE_ONCE(chan->polled, false);
	rcl_chan_look(chan);
	/*
	 * What came in before it was armed is left to the event. Arm it in any
	 * case: an edge-triggered waiter comes back only for the next edge.
	 */
	if (rcl_chan_arm(chan))
		irq_poll_sched(&chan->iop);
}

/**
 * rcl_ring_poll - what is ready?
 * @chan: of a ring
 * @filp: the file
 * @wait: of the caller of poll()
 *
 * Context: process context.
 * Return: EPOLL*.
 */
__poll_t rcl_ring_poll(struct rcl_chan *chan, struct file *filp,
		       poll_table *wait)
{
	struct rcl_ring *ring = rcl_ring_of(chan);
	__poll_t mask = 0;

	poll_wait(filp, &ring->wait, wait);
	/* Pairs with wq_has_sleeper(); not every poll_wait() has it. */
	smp_mb();
	if (rcl_chan_is_over(chan))
		mask |= EPOLLHUP | EPOLLERR;
	/* A consumer that only asks for the end goes on polling. */
	if (!READ_ONCE(chan->polled) ||
	    poll_requested_events(wait) & RCL_RING_COMPLETES)
		rcl_ring_want_events(chan);
	if (rcl_chan_ready(chan))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (rcl_ring_has_room(ring))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

/**
 * rcl_ring_mmap - map the rings, or memory that was allocated
 * @chan: of a ring
 * @vma: shared
 *
 * Context: the mmap lock is held.
 * Return: 0, or the errno of a refusal.
 */
int rcl_ring_mmap(struct rcl_chan *chan, struct vm_area_struct *vma)
{
	struct rcl_ring *ring = rcl_ring_of(chan);
	struct file *file;
	u64 len = 0;

	if (!(vma->vm_pgoff >> (RCL_SHM_SHIFT - PAGE_SHIFT)))
		return rcl_pages_map(vma, ring->shared, sizeof(*ring->shared));
	file = rcl_region_file(chan, rcl_shm_slot(vma), &len);
	return rcl_shm_map(file, len, vma);
}
