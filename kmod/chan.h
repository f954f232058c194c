/* SPDX-License-Identifier: GPL-2.0 */
/* A channel: the lease of one pooled QP by one consumer. */
#ifndef RCL_CHAN_H
#define RCL_CHAN_H

/* Before irq_poll.h, which needs it and does not include it. */
#include <linux/list.h>
#include <linux/irq_poll.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include <uapi/linux/rclink_dev.h>

#include "export.h"
#include "lessee.h"
#include "qp.h"

#define RCL_CHAN_REGIONS	64
#define RCL_CHAN_IMPORTS	64
/* Powers of two, as the counters wrap; not all are used. */
#define RCL_CHAN_SEND_SLOTS	32
#define RCL_CHAN_RECV_SLOTS	32
#define RCL_CHAN_SIGNAL		8	/* sends that one completion retires */
#define RCL_POLL_BUDGET		32	/* completions under one lock */

struct cred;
struct rcl_chan;
struct rcl_link;
struct rcl_listener;
struct rcl_region;

/**
 * struct rcl_op - an operation in flight
 * @cqe: of its work request
 * @chan: whose
 * @user_data: for its completion
 * @number: counted per queue
 * @len: bytes, of a send
 * @op: enum rclink_dev_op
 * @signaled: the consumer wants to know of success
 */
struct rcl_op {
	struct ib_cqe cqe;
	struct rcl_chan *chan;
	u64 user_data;
	u32 number;
	u32 len;
	u8 op;
	bool signaled;
};

/**
 * struct rcl_queue - operations that complete in order
 * @posted: how many
 * @done: of those
 */
struct rcl_queue {
	u32 posted;
	u32 done;
};

/**
 * struct rcl_chan - a channel
 * @lessee: what the pool knows of it, with the reference count
 * @rcu: the end of an event may still look at a channel that was freed
 * @link: a reference is held, to close it; constant after connect or offer
 * @listener: whose backlog it goes to when it is attached; a reference is held
 * @backlog: there
 * @polled: completions are reaped in calls only
 * @shared: rings, mapped by the consumer: hostile
 * @wait: woken by completions and by the end
 * @asleep: who waits there in a call
 * @iop: polls after an event
 * @lock: protects all down to @slots; taken in process and softirq context
 * @qp: may be posted to and polled; NULL before attach and after detach
 * @why: errno while @qp is NULL
 * @access: rights that the device can give
 * @sq_head: submissions taken
 * @cq_tail: completions given; also read without the lock
 * @sends: and their operations
 * @recvs: and their operations
 * @send_op: number i is at i % RCL_CHAN_SEND_SLOTS
 * @recv_op: number i is at i % RCL_CHAN_RECV_SLOTS
 * @inl: inline data, RCLINK_DEV_INLINE_MAX bytes for each of @send_op
 * @inl_dma: address of @inl for the device
 * @imports: memory of the peer
 * @nimports: entries of @imports
 * @slots: own regions by handle
 * @setup: protects the three below, and registrations; before @lock
 * @pending: a registration whose work request has not completed, but its
 *	caller gave up; unmapped when gone, freed with the channel
 * @pd: between attach and gone
 * @exports: between attach and gone
 */
struct rcl_chan {
	struct rcl_lessee lessee;
	struct rcu_head rcu;
	struct rcl_link *link;
	struct rcl_listener *listener;
	struct list_head backlog;
	bool polled;
	struct rclink_dev_shared *shared;
	wait_queue_head_t wait;
	atomic_t asleep;
	struct irq_poll iop;
	spinlock_t lock;	/* protects all down to slots */
	struct rcl_qp *qp;
	int why;
	int access;
	u32 sq_head;
	u32 cq_tail;
	struct rcl_queue sends;
	struct rcl_queue recvs;
	struct rcl_op send_op[RCL_CHAN_SEND_SLOTS];
	struct rcl_op recv_op[RCL_CHAN_RECV_SLOTS];
	u8 *inl;
	u64 inl_dma;
	struct rcl_window imports[RCL_CHAN_IMPORTS];
	u32 nimports;
	struct rcl_region *slots[RCL_CHAN_REGIONS];
	struct mutex setup;	/* protects those below, and registrations */
	struct rcl_region *pending;
	struct ib_pd *pd;
	struct rcl_exports *exports;
};

/**
 * rcl_chan_look - handle what has completed
 * @chan: any
 *
 * Context: process context.
 * Return: true when there was something.
 */
static inline bool rcl_chan_look(struct rcl_chan *chan)
{
	int n = 0;

	spin_lock_bh(&chan->lock);
	if (chan->qp)
		n = rcl_qp_poll(chan->qp, RCL_POLL_BUDGET);
	spin_unlock_bh(&chan->lock);
	/* The event will find nothing more: who sleeps must hear of it here. */
	if (n && wq_has_sleeper(&chan->wait))
		wake_up(&chan->wait);
	return n;
}

struct rcl_chan *rcl_chan_new(bool polled);
void rcl_chan_put(struct rcl_chan *chan);
int rcl_chan_connect(struct rcl_chan *chan, const struct cred *cred,
		     const char *link, const char *service, bool wait);
int rcl_chan_import(struct rcl_chan *chan, const char *name,
		    struct rcl_window *window, u32 *handle);
void rcl_chan_close(struct rcl_chan *chan);
struct rcl_listener *rcl_chan_listen(const struct cred *cred, const char *link,
				     const char *service, u32 max, bool polled);
void rcl_chan_unlisten(struct rcl_listener *listener);

#endif /* RCL_CHAN_H */
