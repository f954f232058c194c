// SPDX-License-Identifier: GPL-2.0
#include "lessee.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "queues.h"
#include "upcall.h"

/**
 * rcl_errands_add - count one more errand
 * @errands: nobody waits for them yet
 */
void rcl_errands_add(struct rcl_errands *errands)
{
	refcount_inc(&errands->n);
}

/**
 * rcl_errands_drop - the mirror of rcl_errands_add()
 * @errands: may be gone afterwards
 */
void rcl_errands_drop(struct rcl_errands *errands)
{
	if (refcount_dec_and_test(&errands->n))
		complete(&errands->none);
}

/* Back from an errand; the lessee may be gone afterwards. */
static void rcl_lessee_return(struct rcl_lessee *lessee)
{
	rcl_errands_drop(lessee->errands);
	rcl_lessee_put(lessee);
}

static void rcl_lessee_resume(struct work_struct *work)
{
	struct rcl_lessee *lessee = container_of(work, struct rcl_lessee,
						 resuming);
	unsigned int noio = memalloc_noio_save();

	lessee->ops->resume(lessee);
	memalloc_noio_restore(noio);
	rcl_lessee_return(lessee);
}

static void rcl_lessee_work(struct work_struct *work)
{
	struct rcl_lessee *lessee = container_of(work, struct rcl_lessee,
						 work);
	const struct rcl_lessee_ops *ops = lessee->ops;
	unsigned int noio = memalloc_noio_save();

	/* An errand may have been replaced, and queued again, before this. */
	switch (xchg(&lessee->errand, RCL_ERRAND_NONE)) {
	case RCL_ERRAND_NONE:
		break;
	case RCL_ERRAND_GONE:
		/* Its lease has ended, and so has all that it asked for. */
		if (cancel_work_sync(&lessee->resuming))
			rcl_lessee_return(lessee);
		ops->gone(lessee);
		break;
	case RCL_ERRAND_REGISTER:
		lessee->failed = ops->register_again(lessee);
		/* Pairs with rcl_resume_is_ready(). */
		smp_store_release(&lessee->ready, true);
		lessee->up->kick(lessee->up);
		break;
	}
	memalloc_noio_restore(noio);
	rcl_lessee_return(lessee);
}

/**
 * rcl_lessee_init - initialize a lessee that leases nothing yet
 * @lessee: zeroed; has one reference
 * @ops: constant
 */
void rcl_lessee_init(struct rcl_lessee *lessee,
		     const struct rcl_lessee_ops *ops)
{
	kref_init(&lessee->ref);
	lessee->ops = ops;
	INIT_LIST_HEAD(&lessee->node);
	INIT_WORK(&lessee->work, rcl_lessee_work);
	INIT_WORK(&lessee->resuming, rcl_lessee_resume);
}

/* Undone by rcl_lessee_return(). */
static void rcl_lessee_set_out(struct rcl_lessee *lessee,
			       struct rcl_errands *errands)
{
	kref_get(&lessee->ref);
	rcl_errands_add(errands);
	lessee->errands = errands;
}

/**
 * rcl_lessee_run - send a lessee on an errand
 * @lessee: any
 * @errand: replaces one that has not begun
 * @errands: of the epoch
 *
 * Context: the link's work item; does not wait for the errand.
 */
void rcl_lessee_run(struct rcl_lessee *lessee, enum rcl_errand errand,
		    struct rcl_errands *errands)
{
	rcl_lessee_set_out(lessee, errands);
	WRITE_ONCE(lessee->errand, errand);
	/* Never the last references: the queued errand has its own. */
	if (!rcl_queue_work(RCL_QUEUE_ERRANDS, &lessee->work))
		rcl_lessee_return(lessee);
}

/**
 * rcl_lessee_run_resume - have a lessee post again what was in flight
 * @lessee: has rejoined; once per epoch; all memory is registered
 * @errands: of the epoch
 *
 * This runs apart from its other errands, because it may wait for the peer.
 *
 * Context: the link's work item; does not wait for the errand.
 */
void rcl_lessee_run_resume(struct rcl_lessee *lessee,
			   struct rcl_errands *errands)
{
	rcl_lessee_set_out(lessee, errands);
	if (!rcl_queue_work(RCL_QUEUE_RESUMES, &lessee->resuming))
		rcl_lessee_return(lessee);
}

/**
 * rcl_lessee_leave - let go of a lessee of which the QP has nothing left
 * @lessee: detached or suspended; the lease's reference is dropped
 * @errands: of the epoch
 *
 * Context: the link's work item.
 */
void rcl_lessee_leave(struct rcl_lessee *lessee, struct rcl_errands *errands)
{
	rcl_lessee_run(lessee, RCL_ERRAND_GONE, errands);
	rcl_lessee_put(lessee);
}

/**
 * rcl_errands_init - start with no errands
 * @errands: filled in
 */
void rcl_errands_init(struct rcl_errands *errands)
{
	refcount_set(&errands->n, 1);
	init_completion(&errands->none);
}

/**
 * rcl_errands_wait - wait for the end of all errands
 * @errands: nobody is sent on another one
 *
 * Context: may sleep.
 */
void rcl_errands_wait(struct rcl_errands *errands)
{
	rcl_errands_drop(errands);
	wait_for_completion(&errands->none);
}

static void rcl_call_leave(struct rcl_lessee *lessee)
{
	atomic_dec(&lessee->calls);
	rcl_lessee_put(lessee);
}

/**
 * rcl_call_new - allocate a call
 * @kind: what is asked
 * @lessee: who asks; the call holds a reference; NULL for RCL_CALL_GROUP
 * @gfp: how to allocate
 *
 * Return: the call with one reference, or NULL.
 */
struct rcl_call *rcl_call_new(enum rcl_call_kind kind,
			      struct rcl_lessee *lessee, gfp_t gfp)
{
	struct rcl_call *call;

	call = kzalloc(sizeof(*call), gfp);
	if (!call)
		return NULL;
	refcount_set(&call->ref, 1);
	init_completion(&call->done);
	call->kind = kind;
	if (lessee) {
		kref_get(&lessee->ref);
		atomic_inc(&lessee->calls);
	}
	call->lessee = lessee;
	return call;
}

/**
 * rcl_call_put - drop a reference; the last one wipes a key
 * @call: may be freed
 *
 * Context: may sleep.
 */
void rcl_call_put(struct rcl_call *call)
{
	if (!refcount_dec_and_test(&call->ref))
		return;
	if (call->lessee)
		rcl_call_leave(call->lessee);
	kfree_sensitive(call);
}

/**
 * rcl_call_cancel - end the wait for a call
 * @call: the pool keeps its reference, for the answer
 * @why: negative errno for the waiter
 *
 * Context: may sleep.
 */
void rcl_call_cancel(struct rcl_call *call, int why)
{
	struct rcl_lessee *lessee = call->lessee;

	call->ret = why;
	call->lessee = NULL;
	/* First: whoever waits for the end of a lease is last to let go. */
	if (lessee)
		rcl_call_leave(lessee);
	complete(&call->done);
}

/**
 * rcl_call_finish - say how a call ended, and drop the pool's reference
 * @call: no longer in any list; may have been canceled before
 * @ret: 0, or a negative errno
 *
 * Context: may sleep.
 */
void rcl_call_finish(struct rcl_call *call, int ret)
{
	if (call->lessee || call->kind == RCL_CALL_GROUP)
		rcl_call_cancel(call, ret);
	rcl_call_put(call);
}
