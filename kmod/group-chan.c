// SPDX-License-Identifier: GPL-2.0
/*
 * Rings like those of a channel with a link, and nothing else of one: what is
 * submitted is carried out at once, by copying.
 *
 * Locks: rcl_group_chan.submit (mutex) is held while a send waits for its turn.
 * Messages are received under rcl_group_chan.lock (spinlock): so the consumer,
 * which takes it in its own context, holds up neither the group nor its other
 * listeners, however long it gets no processor.
 */
#include "group-chan.h"

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "group-hear.h"
#include "group-mem.h"
#include "group-use.h"
#include "mcast.h"
#include "pages.h"
#include "region.h"
#include "shm.h"
#include "sqe.h"

/* A power of two, so that numbers may wrap; not all entries are used. */
#define RCL_GROUP_RECVS	32

/**
 * struct rcl_group_recv - a posted receive
 * @user_data: for its completion
 * @num_sge: number of pieces
 * @sge: where the message goes
 */
struct rcl_group_recv {
	u64 user_data;
	u32 num_sge;
	struct rclink_dev_sge sge[RCLINK_DEV_SGE_MAX];
};

/**
 * struct rcl_group_chan - a channel to a group
 * @listener: what the group knows of it
 * @group: in use; constant
 * @shared: rings, mapped by the consumer: hostile
 * @wait: woken by completions and by the end
 * @submit: protects the two below; held while a send waits for its turn
 * @sq_head: submissions taken
 * @buf: RCL_MCAST_MTU bytes: what is being sent
 * @lock: protects those below; a leaf
 * @over: the group is gone
 * @sending: something is being sent, and may complete; cleared without @lock
 * @filled: completions so far
 * @posted: receives so far
 * @done: how many of those have completed
 * @full_at: receives that were pending when the next entry had no room and
 *	nothing was there to reap; else 0
 * @recv: receive i is at i % RCL_GROUP_RECVS
 * @mem: regions
 */
struct rcl_group_chan {
	struct rcl_group_listener listener;
	struct rcl_group *group;
	struct rclink_dev_group_shared *shared;
	wait_queue_head_t wait;
	struct mutex submit;	/* protects sq_head and buf */
	u32 sq_head;
	u8 *buf;
	spinlock_t lock;	/* protects all below */
	bool over;
	bool sending;
	u32 filled;
	u32 posted;
	u32 done;
	u32 full_at;
	struct rcl_group_recv recv[RCL_GROUP_RECVS];
	struct rcl_group_mem mem;
};

static struct rcl_group_chan *
rcl_group_chan_of(struct rcl_group_listener *listener)
{
	return container_of(listener, struct rcl_group_chan, listener);
}

/* The consumer's head is hostile: it is only compared. */
static bool rcl_group_chan_has_room(const struct rcl_group_chan *chan)
{
	u32 ready = chan->filled - READ_ONCE(chan->shared->shared.cq.head);

	return ready < RCLINK_DEV_CQ_DEPTH &&
	       ready + chan->posted - chan->done < RCLINK_DEV_CQ_DEPTH;
}

/* Completions to be reaped; the consumer can falsify it only for itself. */
static u32 rcl_group_chan_ready(const struct rcl_group_chan *chan)
{
	/* Pairs with the release in rcl_group_chan_push(). */
	u32 filled = smp_load_acquire(&chan->filled);

	/* Another thread of it may have reaped what is not counted yet. */
	return max_t(s32, filled -
		     READ_ONCE(chan->shared->shared.cq.head), 0);
}

/* If so, all completions are in the ring: no send begins once it is over. */
static bool rcl_group_chan_is_over(const struct rcl_group_chan *chan)
{
	/* Pairs with the release in rcl_group_chan_ended(). */
	if (!smp_load_acquire(&chan->over))
		return false;
	/* Pairs with the release in rcl_group_chan_one(). */
	return !smp_load_acquire(&chan->sending);
}

/* Whatever may be posted has room for its completion. */
static void rcl_group_chan_push(struct rcl_group_chan *chan,
				const struct rclink_dev_cqe *cqe, const u8 *gid)
{
	struct rclink_dev_group_shared *shared = chan->shared;
	u32 slot = chan->filled % RCLINK_DEV_CQ_DEPTH;

	lockdep_assert_held(&chan->lock);
	shared->shared.cqe[slot] = *cqe;
	shared->shared.cqe[slot].time = ktime_get_ns();
	if (gid)
		memcpy(shared->source[slot], gid, RCLINK_GID_LEN);
	else
		memset(shared->source[slot], 0, RCLINK_GID_LEN);
	/* The consumer loads it with acquire, then reads the entry. */
	smp_store_release(&shared->shared.cq.tail, chan->filled + 1);
	/* Last: whoever waited for it must find the entry. */
	smp_store_release(&chan->filled, chan->filled + 1);
}

static u32 rcl_group_chan_take(struct rcl_group_chan *chan,
			       const struct rcl_group_recv *recv,
			       const struct rcl_heard *heard)
{
	u32 room;

	/* Fails for memory that was withdrawn since. */
	if (rcl_group_mem_check(&chan->mem, recv->sge, recv->num_sge, &room))
		return IB_WC_LOC_PROT_ERR;
	if (heard->len > room)
		return IB_WC_LOC_LEN_ERR;
	if (rcl_group_mem_write(&chan->mem, recv->sge, recv->num_sge,
				heard->data, heard->len))
		return IB_WC_LOC_PROT_ERR;
	return IB_WC_SUCCESS;
}

/*
 * A receive that is too short uses up the message, as everywhere. A consumer
 * that never posted one only sends, and misses nothing.
 */
static bool rcl_group_chan_hear_locked(struct rcl_group_chan *chan,
				       const struct rcl_heard *heard)
{
	struct rclink_dev_cqe cqe = { .op = RCLINK_OP_RECV };

	lockdep_assert_held(&chan->lock);
	while (chan->done != chan->posted) {
		const struct rcl_group_recv *recv =
			&chan->recv[chan->done++ % RCL_GROUP_RECVS];

		cqe.user_data = recv->user_data;
		cqe.status = rcl_group_chan_take(chan, recv, heard);
		if (cqe.status != IB_WC_LOC_PROT_ERR) {
			cqe.len = heard->len;
			if (heard->sender != RCL_GROUP_NOBODY) {
				cqe.imm = heard->sender;
				cqe.flags = RCLINK_CQE_SENDER;
			}
			rcl_group_chan_push(chan, &cqe, heard->gid);
			return true;
		}
		rcl_group_chan_push(chan, &cqe, NULL);
	}
	return !chan->posted;
}

static bool rcl_group_chan_hear(struct rcl_group_listener *listener,
				const struct rcl_heard *heard)
{
	struct rcl_group_chan *chan = rcl_group_chan_of(listener);
	bool taken;

	spin_lock(&chan->lock);
	taken = rcl_group_chan_hear_locked(chan, heard);
	spin_unlock(&chan->lock);
	/* Also after a receive has failed. */
	if (wq_has_sleeper(&chan->wait))
		wake_up(&chan->wait);
	return taken;
}

static void rcl_group_chan_ended(struct rcl_group_listener *listener)
{
	struct rcl_group_chan *chan = rcl_group_chan_of(listener);
	struct rclink_dev_cqe cqe = {
		.op = RCLINK_OP_RECV,
		.status = IB_WC_WR_FLUSH_ERR,
	};

	spin_lock(&chan->lock);
	for (; chan->done != chan->posted; chan->done++) {
		cqe.user_data =
			chan->recv[chan->done % RCL_GROUP_RECVS].user_data;
		rcl_group_chan_push(chan, &cqe, NULL);
	}
	/* Pairs with rcl_group_chan_is_over(): they are in the ring by then. */
	smp_store_release(&chan->over, true);
	spin_unlock(&chan->lock);
	wake_up_all(&chan->wait);
}

static u32 rcl_group_chan_max(const struct rcl_group_chan *chan)
{
	return rcl_group_max(chan->group, chan->listener.service);
}

static void rcl_group_chan_free(struct rcl_group_chan *chan)
{
	rcl_pages_free(chan->shared);
	kfree(chan->buf);
	kfree(chan);
}

static struct rcl_group_chan *rcl_group_chan_new(void)
{
	struct rcl_group_chan *chan;

	chan = kzalloc(sizeof(*chan), GFP_KERNEL_ACCOUNT);
	if (!chan)
		return NULL;
	chan->listener.hear = rcl_group_chan_hear;
	chan->listener.ended = rcl_group_chan_ended;
	init_waitqueue_head(&chan->wait);
	mutex_init(&chan->submit);
	spin_lock_init(&chan->lock);
	chan->shared = rcl_pages_new(sizeof(*chan->shared));
	chan->buf = kmalloc(RCL_MCAST_MTU, GFP_KERNEL_ACCOUNT);
	if (chan->shared && chan->buf)
		return chan;
	rcl_group_chan_free(chan);
	return NULL;
}

/**
 * rcl_group_chan_open - open a channel to a group
 * @name: of the group
 * @service: name of the service that it joins
 * @cred: credentials of the consumer
 *
 * Context: may sleep.
 * Return: the channel, or the ERR_PTR of -ENODEV for no such group, -EACCES,
 * -ENOSPC when too many use it, -ENOMEM, or -EINTR for a fatal signal.
 */
struct rcl_group_chan *rcl_group_chan_open(const char *name,
					   const char *service,
					   const struct cred *cred)
{
	struct rcl_group_chan *chan;
	int ret;

	chan = rcl_group_chan_new();
	if (!chan)
		return ERR_PTR(-ENOMEM);
	strscpy(chan->listener.service, service,
		sizeof(chan->listener.service));
	ret = rcl_group_use(name, cred, &chan->listener, &chan->group);
	if (ret) {
		rcl_group_chan_free(chan);
		return ERR_PTR(ret);
	}
	chan->shared->max = rcl_group_chan_max(chan);
	return chan;
}

/**
 * rcl_group_chan_close - the mirror of rcl_group_chan_open()
 * @chan: nobody submits or maps any more
 *
 * Context: may sleep.
 */
void rcl_group_chan_close(struct rcl_group_chan *chan)
{
	rcl_group_unuse(chan->group, &chan->listener);
	rcl_group_mem_free_all(&chan->mem);
	rcl_group_chan_free(chan);
}

/**
 * rcl_group_chan_region - pin memory of the calling process, or allocate some
 * @chan: any
 * @arg: the region, hostile; @arg->handle is set
 * @allocate: as for RCLINK_IOC_MEMORY
 *
 * Context: may sleep.
 * Return: 0, -ENOSPC, -ESHUTDOWN, or what rcl_group_mem_new() returns.
 */
int rcl_group_chan_region(struct rcl_group_chan *chan,
			  struct rclink_dev_region *arg, bool allocate)
{
	struct rcl_memory *memory;
	int ret;

	memory = rcl_group_mem_new(arg, allocate);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	spin_lock(&chan->lock);
	ret = chan->over ? -ESHUTDOWN :
	      rcl_group_mem_add(&chan->mem, memory, &arg->handle);
	spin_unlock(&chan->lock);
	if (ret)
		memory->free(memory);
	return ret;
}

/**
 * rcl_group_chan_withdraw - release memory
 * @chan: any
 * @handle: of the memory, hostile
 *
 * Receives into it fail, each when a message arrives.
 *
 * Context: may sleep.
 * Return: 0 or -ESTALE.
 */
int rcl_group_chan_withdraw(struct rcl_group_chan *chan, u32 handle)
{
	struct rcl_memory *memory;

	spin_lock(&chan->lock);
	memory = rcl_group_mem_del(&chan->mem, handle);
	spin_unlock(&chan->lock);
	if (!memory)
		return -ESTALE;
	memory->free(memory);
	return 0;
}

/**
 * rcl_group_chan_mmap - map the rings, or allocated memory
 * @chan: any
 * @vma: shared
 *
 * Context: the mmap lock is held.
 * Return: 0, or the errno of what refuses.
 */
int rcl_group_chan_mmap(struct rcl_group_chan *chan, struct vm_area_struct *vma)
{
	struct file *file;
	u64 len = 0;

	if (!(vma->vm_pgoff >> (RCL_SHM_SHIFT - PAGE_SHIFT)))
		return rcl_pages_map(vma, chan->shared, sizeof(*chan->shared));
	spin_lock(&chan->lock);
	file = rcl_group_mem_file(&chan->mem, rcl_shm_slot(vma), &len);
	spin_unlock(&chan->lock);
	return rcl_shm_map(file, len, vma);
}

static int rcl_group_chan_check(const struct rclink_dev_sqe *sqe)
{
	if (sqe->op >= RCLINK_OP_MAX || sqe->flags & ~RCLINK_SQE_FLAGS ||
	    sqe->num_sge > RCLINK_DEV_SGE_MAX || sqe->pad)
		return -EINVAL;
	if (sqe->op != RCLINK_OP_RECV && sqe->op != RCLINK_OP_SEND)
		return -EOPNOTSUPP;
	if (sqe->compare_mask || sqe->swap_mask)
		return -EINVAL;
	if (sqe->op == RCLINK_OP_RECV)
		return sqe->flags ? -EINVAL : 0;
	if (sqe->flags & RCLINK_SQE_INLINE &&
	    (sqe->num_sge || sqe->len > RCLINK_DEV_INLINE_MAX))
		return -EINVAL;
	return 0;
}

static int rcl_group_chan_post_recv(struct rcl_group_chan *chan,
				    const struct rclink_dev_sqe *sqe)
{
	struct rcl_group_recv *recv =
		&chan->recv[chan->posted % RCL_GROUP_RECVS];
	u32 ignored;
	int ret;

	BUILD_BUG_ON(RCLINK_DEV_RECVS > RCL_GROUP_RECVS);
	if (chan->posted - chan->done == RCLINK_DEV_RECVS)
		return -EBUSY;
	ret = rcl_group_mem_check(&chan->mem, sqe->sge, sqe->num_sge, &ignored);
	if (ret)
		return ret;
	recv->user_data = sqe->user_data;
	recv->num_sge = sqe->num_sge;
	memcpy(recv->sge, sqe->sge, sizeof(recv->sge));
	chan->posted++;
	return 0;
}

/* Copies to chan->buf, once, so that what is sealed cannot change. */
static int rcl_group_chan_copy(struct rcl_group_chan *chan,
			       const struct rclink_dev_sqe *sqe, u32 *len)
{
	int ret = 0;

	*len = sqe->len;
	if (sqe->flags & RCLINK_SQE_INLINE) {
		memcpy(chan->buf, sqe->inline_data, sqe->len);
		return 0;
	}
	ret = rcl_group_mem_check(&chan->mem, sqe->sge, sqe->num_sge, len);
	if (ret)
		return ret;
	if (*len > rcl_group_chan_max(chan))
		return -EMSGSIZE;
	return rcl_group_mem_read(&chan->mem, sqe->sge, sqe->num_sge,
				  chan->buf);
}

/* Returns 1 for a send, which is in chan->buf now. */
static int rcl_group_chan_begin(struct rcl_group_chan *chan,
				const struct rclink_dev_sqe *sqe, u32 *len)
{
	int ret;

	lockdep_assert_held(&chan->lock);
	if (chan->over)
		return -ESHUTDOWN;
	ret = rcl_group_chan_check(sqe);
	if (ret)
		return ret;
	if (!rcl_group_chan_has_room(chan))
		return -EBUSY;
	if (sqe->op == RCLINK_OP_RECV)
		return rcl_group_chan_post_recv(chan, sqe);
	return rcl_group_chan_copy(chan, sqe, len) ? : 1;
}

static int rcl_group_chan_send(struct rcl_group_chan *chan,
			       const struct rclink_dev_sqe *sqe, u32 len)
{
	struct rclink_dev_cqe cqe = {
		.user_data = sqe->user_data,
		.len = len,
		.op = sqe->op,
	};
	int ret;

	ret = rcl_group_send(chan->group, chan->listener.service, chan->buf,
			     len);
	if (ret && ret != -ENETDOWN)
		return ret;
	if (ret)
		cqe.status = IB_WC_WR_FLUSH_ERR;
	if (!ret && !(sqe->flags & RCLINK_SQE_SIGNALED))
		return 0;
	spin_lock(&chan->lock);
	rcl_group_chan_push(chan, &cqe, NULL);
	spin_unlock(&chan->lock);
	/* The entries behind it may have to wait for the device. */
	if (wq_has_sleeper(&chan->wait))
		wake_up(&chan->wait);
	return 0;
}

static int rcl_group_chan_one(struct rcl_group_chan *chan)
{
	struct rclink_dev_sqe sqe;
	u32 len;
	int ret;

	rcl_sqe_read(&sqe, &chan->shared->shared, chan->sq_head);
	spin_lock(&chan->lock);
	ret = rcl_group_chan_begin(chan, &sqe, &len);
	/* With nothing to reap, only a message makes room. */
	chan->full_at = ret == -EBUSY && !rcl_group_chan_ready(chan) ?
				chan->posted - chan->done : 0;
	WRITE_ONCE(chan->sending, ret == 1);
	spin_unlock(&chan->lock);
	if (ret == 1) {
		ret = rcl_group_chan_send(chan, &sqe, len);
		/* Pairs with rcl_group_chan_is_over(). */
		smp_store_release(&chan->sending, false);
	}
	if (ret == -EMSGSIZE)
		WRITE_ONCE(chan->shared->max, rcl_group_chan_max(chan));
	return ret;
}

/**
 * rcl_group_chan_submit - carry out what is in the submission ring
 * @chan: any
 * @count: how many at most
 * @taken: set to how many were carried out
 *
 * Context: process context; can be interrupted.
 * Return: 0, or why the next one was not: -EINVAL for a wrong entry, -ESTALE
 * for an unknown handle, -EOPNOTSUPP for an operation that groups do not have,
 * -EMSGSIZE for one that is too long, -EBUSY when no more can be in flight,
 * -EINTR, or -ESHUTDOWN when the group is gone.
 */
int rcl_group_chan_submit(struct rcl_group_chan *chan, u32 count, u32 *taken)
{
	struct rclink_dev_ring *sq = &chan->shared->shared.sq;
	int ret = 0;

	*taken = 0;
	/* Who only waits does not wait for somebody who sends. */
	if (!count)
		return rcl_group_chan_is_over(chan) ? -ESHUTDOWN : 0;
	/* Somebody may fill the ring meanwhile. */
	count = min_t(u32, count, RCLINK_DEV_DEPTH);
	if (mutex_lock_interruptible(&chan->submit))
		return -EINTR;
	while (!ret && *taken < count) {
		/* Pairs with the consumer's release after filling entries. */
		u32 there = smp_load_acquire(&sq->tail) - chan->sq_head;

		if (!there)
			break;
		if (there > RCLINK_DEV_DEPTH)
			ret = -EINVAL;
		else
			ret = rcl_group_chan_one(chan);
		if (ret)
			break;
		chan->sq_head++;
		/* From now on, the consumer may fill the entry again. */
		smp_store_release(&sq->head, chan->sq_head);
		++*taken;
		cond_resched();
	}
	mutex_unlock(&chan->submit);
	/* Also for the end, which waits for the send under way. */
	if (wq_has_sleeper(&chan->wait))
		wake_up(&chan->wait);
	if (!ret && rcl_group_chan_is_over(chan))
		ret = -ESHUTDOWN;
	return ret;
}

/* Says the result, too: another thread may reap before the waiter goes on. */
static bool rcl_group_chan_met(const struct rcl_group_chan *chan, u32 want,
			       int *ret)
{
	bool over = rcl_group_chan_is_over(chan);

	*ret = rcl_group_chan_ready(chan) >= want ? 0 : -ESHUTDOWN;
	return !*ret || over;
}

/**
 * rcl_group_chan_wait - wait for completions
 * @chan: any
 * @want: how many are to be in the ring
 * @end: time limit in jiffies, 0 for none
 *
 * Context: may sleep; can be interrupted.
 * Return: 0, -ETIME, -EINTR, or -ESHUTDOWN when no more can come.
 */
int rcl_group_chan_wait(struct rcl_group_chan *chan, u32 want,
			unsigned long end)
{
	long left = end ? max_t(long, end - jiffies, 0) : MAX_SCHEDULE_TIMEOUT;
	int ret;

	left = wait_event_interruptible_timeout(chan->wait,
						rcl_group_chan_met(chan, want,
								   &ret), left);
	if (left > 0)
		return ret;
	return left ? -EINTR : -ETIME;
}

/*
 * May there be room for what is in the ring? Not when the group is gone, or
 * when as many receives are pending as when the first entry had no room.
 */
static bool rcl_group_chan_may_submit(struct rcl_group_chan *chan)
{
	bool may;

	spin_lock(&chan->lock);
	may = !chan->over && (!chan->full_at ||
			      chan->full_at != chan->posted - chan->done);
	spin_unlock(&chan->lock);
	return may;
}

/**
 * rcl_group_chan_poll - what is ready?
 * @chan: any
 * @filp: the file
 * @wait: of the caller
 *
 * Context: process context.
 * Return: EPOLL*.
 */
__poll_t rcl_group_chan_poll(struct rcl_group_chan *chan, struct file *filp,
			     poll_table *wait)
{
	__poll_t mask = 0;

	poll_wait(filp, &chan->wait, wait);
	/* Pairs with wq_has_sleeper(); not all kernels' poll_wait() has it. */
	smp_mb();
	if (rcl_group_chan_is_over(chan))
		mask |= EPOLLHUP | EPOLLERR;
	if (rcl_group_chan_ready(chan))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (rcl_group_chan_may_submit(chan))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}
