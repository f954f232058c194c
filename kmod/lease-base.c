// SPDX-License-Identifier: GPL-2.0
/* The steps that make up the life of a lease; run in the link's work item. */
#include "lease-base.h"

#include "due.h"
#include "epoch.h"
#include "lessee.h"
#include "msg.h"
#include "upcall.h"

/**
 * rcl_lease_send - ask the peer about a lease
 * @ep: of a link that is up
 * @lease: any; @lease->cookie is set to that of the question
 * @msg: the question, complete except for what names the lease
 *
 * Return: as rcl_ctrl_ask().
 */
int rcl_lease_send(struct rcl_epoch *ep, struct rcl_lease *lease,
		   struct rcl_msg *msg)
{
	msg->index = rcl_pool_index(&ep->pool, lease);
	return rcl_ctrl_ask(&ep->ctrl, msg, &lease->cookie);
}

static void rcl_lease_grant(const struct rcl_lease *lease,
			    struct rcl_epoch *ep, struct rcl_grant *grant)
{
	*grant = (struct rcl_grant){
		.qp = lease->qp,
		.pd = ep->pd,
		.reg = &ep->reg,
		.access = ep->access,
		.atomics = ep->local.atomics && ep->remote.atomics,
		.masked_atomics = ep->local.masked_atomics &&
				  ep->remote.masked_atomics,
		.max_sge = rcl_epoch_pool_size(ep).sge,
		.resumes = rcl_policy_resumes(&ep->policy),
	};
}

/**
 * rcl_lease_set_open - let its lessee post, unless the link is about to move
 * @lease: leased at both ends
 * @ep: of the lease
 *
 * Context: may sleep.
 */
void rcl_lease_set_open(struct rcl_lease *lease, struct rcl_epoch *ep)
{
	lease->state = RCL_LEASE_OPEN;
	if (ep->pool.still && lease->lessee)
		lease->lessee->ops->keep_still(lease->lessee, true);
}

/**
 * rcl_lease_begin - give a lease a new lessee
 * @lease: without one
 * @ep: of the lease
 * @lessee: its reference is taken over
 *
 * Return: 0 with the lease open, or what @lessee->ops->attach returns.
 */
int rcl_lease_begin(struct rcl_lease *lease, struct rcl_epoch *ep,
		    struct rcl_lessee *lessee)
{
	struct rcl_grant grant;
	int ret;

	rcl_lease_grant(lease, ep, &grant);
	rcl_lease_put_in(lease, lessee);
	ret = lessee->ops->attach(lessee, &grant);
	if (ret)
		rcl_lessee_put(rcl_lease_take_out(lease));
	else
		rcl_lease_set_open(lease, ep);
	return ret;
}

/**
 * rcl_lease_rejoin - take on a lessee of the last epoch
 * @lease: without one
 * @ep: of the lease
 * @lessee: suspended; its reference is taken over on success
 *
 * Return: 0 with the lease resuming, or what @lessee->ops->rejoin returns.
 */
int rcl_lease_rejoin(struct rcl_lease *lease, struct rcl_epoch *ep,
		     struct rcl_lessee *lessee)
{
	struct rcl_grant grant;
	int ret;

	rcl_lease_grant(lease, ep, &grant);
	ret = lessee->ops->rejoin(lessee, &grant);
	if (ret)
		return ret;
	lessee->up = ep->user.up;
	lessee->hears = false;
	lessee->told = false;
	lessee->ready = false;
	lessee->stalled = false;
	rcl_lease_put_in(lease, lessee);
	lease->state = RCL_LEASE_RESUMING;
	rcl_lessee_run(lessee, RCL_ERRAND_REGISTER, &ep->pool.errands);
	return 0;
}

/**
 * rcl_lease_let_go - end the lessee of a QP that was not used
 * @ep: of the lease
 * @lease: any; its state stays as it is
 * @why: errno for the lessee
 */
void rcl_lease_let_go(struct rcl_epoch *ep, struct rcl_lease *lease, int why)
{
	struct rcl_lessee *lessee = rcl_lease_take_out(lease);

	if (!lessee)
		return;
	lessee->ops->detach(lessee, why);
	rcl_lessee_leave(lessee, &ep->pool.errands);
}

/**
 * rcl_lease_expect - expect the peer to say more without being asked
 * @ep: of a link that is up
 * @lease: in ANSWERED, or in RESUMING
 */
void rcl_lease_expect(const struct rcl_epoch *ep, struct rcl_lease *lease)
{
	lease->owes = rcl_due_in(rcl_heartbeat_limit(ep));
}

/**
 * rcl_lease_owes - does the peer have to say something, and by when?
 * @ep: of a link that is up
 *
 * Return: the time in jiffies, 0 if it does not.
 */
u64 rcl_lease_owes(const struct rcl_epoch *ep)
{
	const struct rcl_lease *lease;
	u64 due = 0;

	rcl_pool_for_each(lease, &ep->pool)
		if (lease->state == RCL_LEASE_ANSWERED ||
		    lease->state == RCL_LEASE_RESUMING)
			due = rcl_due_first(due, lease->owes);
	return due;
}

/**
 * rcl_lease_cancel - end all waits of a lessee for answers of the peer
 * @pool: of the lease
 * @lessee: whose lease ends, or has ended
 * @why: errno for the waiter
 *
 * The waiter may be an errand, which whoever ends the lease waits for in turn.
 *
 * Context: may sleep.
 */
void rcl_lease_cancel(struct rcl_pool *pool, const struct rcl_lessee *lessee,
		      int why)
{
	struct rcl_call *call;

	list_for_each_entry(call, &pool->asked, node)
		if (call->lessee == lessee)
			rcl_call_cancel(call, why);
}

/**
 * rcl_lease_end - end a lease at this end
 * @ep: of the lease
 * @lease: leased
 * @why: errno for the lessee
 *
 * Afterwards the lease has another QP, in INIT, or its QP has failed.
 *
 * Context: may sleep, for a drain.
 */
void rcl_lease_end(struct rcl_epoch *ep, struct rcl_lease *lease, int why)
{
	struct rcl_lessee *lessee = lease->lessee;

	if (lessee) {
		lessee->ops->detach(lessee, why);
		rcl_lease_cancel(&ep->pool, lessee, why);
	}
	/*
	 * The end of the epoch waits for this QP, too: for all at once, not one
	 * by one. The peer no longer reaches anything through it.
	 */
	if (ep->pool.stuck) {
		rcl_qp_end(lease->qp);
		lease->state = RCL_LEASE_DEAD;
		return;
	}
	if (!rcl_qp_stop(lease->qp, rcl_qp_drain_end(false))) {
		/* The QP may access memory, or complete, until destroyed. */
		lease->state = RCL_LEASE_DEAD;
		ep->pool.stuck = true;
		rcl_qp_fail(lease->qp, RCLINK_DOWN_REASON_QP_FATAL, 0, 0);
		return;
	}
	lease->state = RCL_LEASE_STOPPED;
	if (lessee)
		lessee->ops->stopped(lessee);
	lease->failed = rcl_epoch_renew(ep, lease->qp->index);
	lessee = rcl_lease_take_out(lease);
	if (lessee)
		rcl_lessee_leave(lessee, &ep->pool.errands);
}

/**
 * rcl_lease_die - give a QP number up for the rest of the epoch
 * @ep: of the lease
 * @lease: whose QP failed at one end
 *
 * If it was the last one, the epoch ends: the next one helps those who wait for
 * a QP.
 */
void rcl_lease_die(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	const struct rcl_lease *other;

	lease->state = RCL_LEASE_DEAD;
	rcl_pool_for_each(other, &ep->pool)
		if (other->state != RCL_LEASE_DEAD)
			return;
	rcl_qp_fail(lease->qp, RCLINK_DOWN_REASON_LOCAL_ERROR, 0, 0);
}

/**
 * rcl_lease_comes_back - will this number soon be free, or dead?
 * @lease: any
 *
 * Its last lessee has left it at this end, and RECYCLE is or was on its way.
 *
 * Return: true if so, whatever lessees do.
 */
bool rcl_lease_comes_back(const struct rcl_lease *lease)
{
	return lease->state == RCL_LEASE_STOPPED ||
	       lease->state == RCL_LEASE_RECYCLING ||
	       lease->state == RCL_LEASE_READY ||
	       lease->state == RCL_LEASE_ANSWERED;
}

/**
 * rcl_lease_keep_still - stop lessees posting sends, or let them post again
 * @ep: of a link that is up; lessees that come later are included
 * @still: which of the two; while true, this end opens nothing
 *
 * Context: may sleep.
 */
void rcl_lease_keep_still(struct rcl_epoch *ep, bool still)
{
	struct rcl_lease *lease;

	ep->pool.still = still;
	rcl_pool_for_each(lease, &ep->pool)
		if (lease->state == RCL_LEASE_OPEN && lease->lessee)
			lease->lessee->ops->keep_still(lease->lessee, still);
	/* Something may wait to be opened. */
	if (!still)
		ep->user.up->kick(ep->user.up);
}

/**
 * rcl_lease_all_decided - has the peer answered every request to open?
 * @ep: after rcl_lease_keep_still()
 *
 * Otherwise a lease that the peer has already agreed to would end in the next
 * epoch, when this end opens another one there.
 *
 * Return: true if so.
 */
bool rcl_lease_all_decided(const struct rcl_epoch *ep)
{
	const struct rcl_lease *lease;

	rcl_pool_for_each(lease, &ep->pool)
		if (lease->state == RCL_LEASE_OPENING)
			return false;
	return true;
}

/**
 * rcl_lease_is_still - has all that lessees posted completed?
 * @ep: after rcl_lease_keep_still()
 *
 * Context: may sleep; to be called repeatedly until it returns true.
 * Return: true if so.
 */
bool rcl_lease_is_still(struct rcl_epoch *ep)
{
	struct rcl_lease *lease;
	bool still = true;

	rcl_pool_for_each(lease, &ep->pool)
		if (lease->state == RCL_LEASE_OPEN && lease->lessee &&
		    !lease->lessee->ops->is_still(lease->lessee))
			still = false;
	return still;
}
