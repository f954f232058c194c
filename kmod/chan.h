/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel: the lease of one pooled QP by one consumer. struct rcl_chan_ops
 * hides whether that is a process (ring.h) or a kernel module (kapi.c).
 */
#ifndef RCL_CHAN_H
#define RCL_CHAN_H

/* Before irq_poll.h, which needs it and does not include it. */
#include <linux/list.h>
#include <linux/irq_poll.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include <uapi/linux/rclink_dev.h>

#include "chan-io.h"
#include "chan-keep.h"
#include "export.h"
#include "lessee.h"
#include "qp.h"
#include "stats.h"

#define RCL_CHAN_SIGNAL		8	/* sends before one is signaled */
#define RCL_CHAN_CHAIN		8	/* sends at which a chain is posted */
#define RCL_POLL_BUDGET		32	/* completions handled under one lock */

struct cred;
struct rcl_chan;
struct rcl_link;
struct rcl_listener;
struct rcl_region;

/**
 * struct rcl_op - an operation in flight, or a part of one
 * @cqe: of its work request
 * @chan: the channel
 * @user_data: for its completion
 * @number: counted per queue
 * @last: of a send: number of the last part of the operation
 * @len: of a send: bytes of all parts
 * @op: enum rclink_dev_op
 * @signaled: last part, whose success the consumer wants to know of
 * @told: of a send: the consumer already knows that it failed
 */
struct rcl_op {
	struct ib_cqe cqe;
	struct rcl_chan *chan;
	u64 user_data;
	u32 number;
	u32 last;
	u32 len;
	u8 op;
	bool signaled;
	bool told;
};

/**
 * struct rcl_queue - operations that complete in order
 * @posted: how many were posted
 * @done: how many of them have completed
 */
struct rcl_queue {
	u32 posted;
	u32 done;
};

static inline u32 rcl_queue_busy(const struct rcl_queue *queue)
{
	return queue->posted - queue->done;
}

/*
 * bnxt_re may refuse what it has queued, for want of memory, and complete it:
 * that is not in flight. It does so only in ERR, where all that is taken for
 * another request of the same number, which it was given since, is a flush.
 */
static inline bool rcl_queue_has(const struct rcl_queue *queue, u32 number)
{
	return number - queue->done < rcl_queue_busy(queue);
}

union rcl_wr {
	struct ib_send_wr send;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
};

/**
 * struct rcl_chain - sends that the device was not given yet
 * @n: how many; all count as in flight
 * @ready: how many precede the first that needs a receive of the peer, when it
 *	has posted none; all of them, if none does
 * @refused: the device has refused some, and nobody was told yet
 * @wr: the work requests
 * @sge: their pieces
 */
struct rcl_chain {
	u32 n;
	u32 ready;
	bool refused;
	union rcl_wr wr[RCL_CHAN_SEND_SLOTS];
	struct ib_sge sge[RCL_CHAN_SEND_SLOTS][RCLINK_DEV_PARTS_MAX];
};

/**
 * struct rcl_remote - memory of the peer
 * @window: what it is; has no keys if there is none
 * @handle: slot and generation
 */
struct rcl_remote {
	struct rcl_window window;
	u32 handle;
};

/**
 * struct rcl_cq - completions: filled here, taken by the consumer
 * @cqe: the entries
 * @depth: how many, a power of two; more than can be in flight
 * @head: taken so far; written by the consumer, which may be hostile
 * @tail: filled so far, for the consumer, which may write there, too
 * @filled: the same, but written by nobody else
 * @timed: entries contain the time
 */
struct rcl_cq {
	struct rclink_dev_cqe *cqe;
	u32 depth;
	u32 *head;
	u32 *tail;
	u32 filled;
	bool timed;
};

/**
 * struct rcl_chan_ops - what a channel tells its consumer's side
 * @deliver: a poll has found @n; in softirq context, never twice at once
 * @news: something may have come in outside of an event; in the context of
 *	whoever found it
 * @resumed: operations may be posted again; process context
 * @ended: nothing comes in any more; may sleep
 * @release: the last reference was dropped: free it after an RCU grace period,
 *	because the end of an event may still look at it
 */
struct rcl_chan_ops {
	void (*deliver)(struct rcl_chan *chan, int n);
	void (*news)(struct rcl_chan *chan);
	void (*resumed)(struct rcl_chan *chan);
	void (*ended)(struct rcl_chan *chan);
	void (*release)(struct rcl_chan *chan);
};

/**
 * struct rcl_chan - a channel; embedded in its consumer's own structure
 * @lessee: what the pool knows of it, with the reference count
 * @rcu: for @ops->release
 * @ops: constant
 * @memcg: memory cgroup of its creator, charged for its memory; or NULL
 * @link: a reference is held, to close it; constant after connect or offer
 * @listener: whose backlog it goes to when it is attached; a reference is held
 * @backlog: entry there
 * @polled: only calls reap completions
 * @replay: READs and WRITEs may be carried out twice
 * @over: nothing comes in yet, or any more
 * @whole: it has ended, and all its completions are in @cq; set before @over
 * @asleep: waiters in rcl_ring_sleep(): events are wanted despite @polled
 * @traffic: counters of @link; constant from attach on
 * @keep: what it needs to go on in another epoch, or NULL; the pointer is
 *	constant from attach on, the contents are protected by @lock
 * @inl: inline data, RCLINK_DEV_INLINE_MAX bytes for each of @send_op: of
 *	whoever posts that one
 * @inl_dma: address of @inl for the device, from attach or rejoin until gone
 * @iop: polls after an event
 * @lock: protects all down to @left; taken in process and softirq context
 * @kicked: the softirq side must look again; cleared under @lock, set by any
 * @qp: may be posted to and polled; NULL before attach, after detach, and while
 *	suspended
 * @attached: from attach or rejoin until detach or suspend
 * @leases: how often it was attached or has rejoined
 * @why: errno while @qp is NULL
 * @access: rights that the device can give
 * @atomics: the devices of both ends have atomics
 * @masked_atomics: and also atomics on some of the bits
 * @max_sge: pieces that a work request may have
 * @shift: of the extents of its memory: rcl_mapping_shift()
 * @cq: completions
 * @quiet: unsignaled sends since the last signaled one, not counting what is
 *	signaled as the last of its chain
 * @sends: counters of the send queue
 * @recvs: counters of the receive queue
 * @send_op: see rcl_chan_send_op()
 * @recv_op: see rcl_chan_recv_op()
 * @chain: while @lock is free, empty unless held, parked, stalled, or without
 *	@qp
 * @heard: the peer has posted a receive, or an operation has failed: nothing is
 *	held
 * @refused: the device has refused a send, so the ones that follow are flushed
 * @imports: memory of the peer by handle
 * @slots: own regions by handle
 * @ended: keys of regions no longer in @slots that a message may still end
 * @left: call of an interrupted caller that the pool may still have, or NULL
 * @turn: held while a caller has a deputy; no link takes it; before @setup
 * @setup: protects the two below, and registrations; before @lock
 * @pd: from attach or rejoin until gone
 * @reg: valid as long as @pd
 */
struct rcl_chan {
	struct rcl_lessee lessee;
	struct rcu_head rcu;
	const struct rcl_chan_ops *ops;
	struct mem_cgroup *memcg;
	struct rcl_link *link;
	struct rcl_listener *listener;
	struct list_head backlog;
	bool polled;
	bool replay;
	bool over;
	bool whole;
	atomic_t asleep;
	struct rcl_traffic __percpu *traffic;
	struct rcl_keep *keep;
	u8 *inl;
	u64 inl_dma;
	struct irq_poll iop;
	spinlock_t lock;	/* protects all down to left */
	bool kicked;
	struct rcl_qp *qp;
	bool attached;
	u32 leases;
	int why;
	int access;
	bool atomics;
	bool masked_atomics;
	u32 max_sge;
	u32 shift;
	struct rcl_cq cq;
	u32 quiet;
	struct rcl_queue sends;
	struct rcl_queue recvs;
	struct rcl_op send_op[RCL_CHAN_SEND_SLOTS];
	struct rcl_op recv_op[RCL_CHAN_RECV_SLOTS];
	struct rcl_chain chain;
	bool heard;
	bool refused;
	struct rcl_remote imports[RCL_HANDLE_SLOTS];
	struct rcl_region *slots[RCL_HANDLE_SLOTS];
	u32 ended[RCL_HANDLE_SLOTS];
	struct rcl_call *left;
	struct mutex turn;	/* one caller at a time has a deputy */
	struct mutex setup;	/* protects those below, and registrations */
	struct ib_pd *pd;
	struct rcl_reg *reg;
};

static inline struct rcl_chan *rcl_chan_of(struct rcl_lessee *lessee)
{
	return container_of(lessee, struct rcl_chan, lessee);
}

/* The first that the device was not given yet, if the chain is not empty. */
static inline const struct rcl_op *rcl_chan_chained(const struct rcl_chan *chan)
{
	return container_of(chan->chain.wr[0].send.wr_cqe, struct rcl_op, cqe);
}

/* The device never had what is still in the chain. */
static inline bool rcl_chan_in_chain(const struct rcl_chan *chan, u32 number)
{
	return chan->chain.n &&
	       (s32)(number - rcl_chan_chained(chan)->number) >= 0;
}

static inline struct rcl_op *rcl_chan_send_op(struct rcl_chan *chan, u32 number)
{
	return &chan->send_op[number % RCL_CHAN_SEND_SLOTS];
}

static inline struct rcl_op *rcl_chan_recv_op(struct rcl_chan *chan, u32 number)
{
	return &chan->recv_op[number % RCL_CHAN_RECV_SLOTS];
}

static inline void rcl_op_set_recv(struct rcl_op *op,
				   const struct rclink_dev_sqe *sqe, u32 number)
{
	op->user_data = sqe->user_data;
	op->op = sqe->op;
	op->number = number;
}

static inline void rcl_op_set_send(struct rcl_op *op,
				   const struct rclink_dev_sqe *sqe, u32 number,
				   u32 last, u32 len)
{
	op->user_data = sqe->user_data;
	op->op = sqe->op;
	op->number = number;
	op->last = last;
	op->len = len;
	op->signaled = number == last && sqe->flags & RCLINK_SQE_SIGNALED;
	op->told = false;
}

/**
 * rcl_chan_ready - how many completions wait for the consumer?
 * @chan: any
 *
 * Return: the number, which a hostile consumer can make wrong for itself.
 */
static inline u32 rcl_chan_ready(const struct rcl_chan *chan)
{
	/* Pairs with the release in rcl_chan_push(). */
	u32 filled = smp_load_acquire(&chan->cq.filled);

	/* Another thread of the consumer may have taken later ones. */
	return max_t(s32, filled - READ_ONCE(*chan->cq.head), 0);
}

/**
 * rcl_chan_is_over - will nothing come in any more?
 * @chan: any
 *
 * Return: true if it is not open, and all that came in is in the ring.
 */
static inline bool rcl_chan_is_over(const struct rcl_chan *chan)
{
	/* Pairs with the release in rcl_chan_end(). */
	return smp_load_acquire(&chan->over);
}

/**
 * rcl_chan_is_whole - has it ended, with all that came in its ring?
 * @chan: open now or before
 *
 * Its QP may not be destroyed yet, and its regions may still be registered.
 *
 * Return: true if so; then @chan->why says why.
 */
static inline bool rcl_chan_is_whole(const struct rcl_chan *chan)
{
	/* Pairs with the release in rcl_chan_fill_up(). */
	return smp_load_acquire(&chan->whole);
}

/**
 * rcl_chan_has_events - does the softirq side handle what comes in?
 * @chan: any
 *
 * Return: false if its consumer looks by itself.
 */
static inline bool rcl_chan_has_events(const struct rcl_chan *chan)
{
	return !READ_ONCE(chan->polled) || atomic_read(&chan->asleep);
}

/**
 * rcl_chan_poll - handle completions
 * @chan: open, its lock held
 * @budget: how many at most
 *
 * Context: process or softirq context.
 * Return: how many were handled; one more if the device refused what was
 * chained.
 */
static inline int rcl_chan_poll(struct rcl_chan *chan, int budget)
{
	int n = rcl_qp_poll(chan->qp, budget);

	/* If one has failed, the device must flush what was held, too. */
	if (chan->chain.n)
		n += rcl_chan_flush(chan);
	return n;
}

/**
 * rcl_chan_reap - handle what has completed
 * @chan: any
 * @budget: how many at most
 *
 * Context: process or softirq context.
 * Return: how many were put into the ring, or were not for the consumer.
 */
static inline int rcl_chan_reap(struct rcl_chan *chan, int budget)
{
	int n = 0;

	spin_lock_bh(&chan->lock);
	if (chan->qp)
		n = rcl_chan_poll(chan, budget);
	spin_unlock_bh(&chan->lock);
	return n;
}

/**
 * rcl_chan_look - handle what has completed, and tell whoever waits for it
 * @chan: any
 *
 * Context: process context.
 * Return: true if there was something.
 */
static inline bool rcl_chan_look(struct rcl_chan *chan)
{
	int n = rcl_chan_reap(chan, RCL_POLL_BUDGET);

	/* The event will not find it any more. */
	if (n)
		chan->ops->news(chan);
	return n;
}

/**
 * rcl_chan_unlock_polled - unlock after a poll, and tell what it may have found
 * @chan: its lock held
 * @n: how many completions the poll has found
 *
 * Context: process context.
 */
static inline void rcl_chan_unlock_polled(struct rcl_chan *chan, int n)
	__releases(&chan->lock)
{
	/* If one has failed, what is held must follow. */
	bool events = n && rcl_chan_has_events(chan);

	if (events)
		WRITE_ONCE(chan->kicked, true);
	spin_unlock_bh(&chan->lock);
	if (n)
		chan->ops->news(chan);
	if (events)
		irq_poll_sched(&chan->iop);
}

int rcl_chan_init(struct rcl_chan *chan, const struct rcl_chan_ops *ops,
		  const struct rcl_cq *cq, u32 flags);
void rcl_chan_put(struct rcl_chan *chan);
int rcl_chan_connect(struct rcl_chan *chan, const struct cred *cred,
		     const char *link, const char *service, bool wait);
int rcl_chan_import(struct rcl_chan *chan, const char *name,
		    struct rcl_window *window, u32 *handle);
void rcl_chan_close(struct rcl_chan *chan);
int rcl_chan_listen(struct rcl_listener *listener);
void rcl_chan_unlisten(struct rcl_listener *listener);

#endif /* RCL_CHAN_H */
