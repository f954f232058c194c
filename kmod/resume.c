// SPDX-License-Identifier: GPL-2.0
/*
 * When an epoch fails, who leases a QP is suspended, if the operator said
 * "recover resume". In the next epoch it has the QP of the same number. Each
 * end asks RESUME for each of its channels, when all of them have registered
 * their memory again: with the number of the channel, drawn when it was opened,
 * and how many messages it has got. The other one agrees if it has that
 * channel, too. It goes on at an end that has asked and was asked: then the
 * peer's memory can be imported, and both know what has arrived.
 *
 * Where one end refuses, the channel ends at both, and the QP, which nobody has
 * used, is free. So it is when the peer asks to open another channel there: it
 * would not if it had one. A channel that is closed here before that is clear
 * is ended when it is, or as any other lease where the peer goes on already.
 *
 * All of this runs in the link's work item.
 */
#include "resume.h"

#include "epoch.h"
#include "lease-base.h"
#include "lessee.h"
#include "msg.h"
#include "reg.h"
#include "upcall.h"

/**
 * rcl_resume_later - a lease is to go on in the next epoch
 * @lessee: suspended
 * @index: of its QP in the pool
 * @suspended: of the link; takes a reference
 */
void rcl_resume_later(struct rcl_lessee *lessee, u32 index,
		      struct list_head *suspended)
{
	kref_get(&lessee->ref);
	lessee->index = index;
	list_add_tail(&lessee->node, suspended);
}

/**
 * rcl_resume_lose - a suspended lease does not go on
 * @lessee: of rcl_resume_later()
 * @why: errno for it
 *
 * Context: may sleep.
 */
void rcl_resume_lose(struct rcl_lessee *lessee, int why)
{
	list_del_init(&lessee->node);
	lessee->ops->lost(lessee, why);
	rcl_lessee_put(lessee);
}

/**
 * rcl_resume_lose_all - no suspended lease goes on
 * @suspended: of the link
 * @why: errno for them
 *
 * Context: may sleep.
 * Return: false when there was none.
 */
bool rcl_resume_lose_all(struct list_head *suspended, int why)
{
	bool some = !list_empty(suspended);
	struct rcl_lessee *lessee, *next;

	list_for_each_entry_safe(lessee, next, suspended, node)
		rcl_resume_lose(lessee, why);
	return some;
}

/**
 * rcl_resume_lose_broken - those that cannot go on end at once
 * @suspended: of the link; all have left their epoch
 * @why: errno for those that end
 *
 * Context: may sleep.
 */
void rcl_resume_lose_broken(struct list_head *suspended, int why)
{
	struct rcl_lessee *lessee, *next;

	list_for_each_entry_safe(lessee, next, suspended, node)
		if (!lessee->ops->can_rejoin(lessee))
			rcl_resume_lose(lessee, why);
}

/* For the link's record: a lease ends for want of something at this end. */
static void rcl_resume_note(struct rcl_epoch *ep,
			    const struct rcl_lessee *lessee)
{
	struct rcl_upcall *up = ep->user.up;

	/* The QPs of the pool are behind that of the control channel. */
	up->fault(up, RCLINK_DOWN_REASON_LOCAL_ERROR, 0, 0, 1 + lessee->index);
}

/**
 * rcl_resume_begin - the leases go on, if the peer agrees
 * @ep: of a link that has just come up
 * @suspended: of the link; empty afterwards
 *
 * Context: may sleep.
 */
void rcl_resume_begin(struct rcl_epoch *ep, struct list_head *suspended)
{
	struct rcl_lessee *lessee, *next;

	list_for_each_entry_safe(lessee, next, suspended, node) {
		u32 i = lessee->index;

		if (i < ep->pool.n &&
		    !rcl_lease_rejoin(&ep->pool.lease[i], ep, lessee)) {
			list_del_init(&lessee->node);
			continue;
		}
		rcl_resume_note(ep, lessee);
		rcl_resume_lose(lessee, -ECONNRESET);
	}
}

/* What the peer imports may be of any channel of this end. */
static bool rcl_resume_is_ready(struct rcl_epoch *ep)
{
	struct rcl_lease *lease;
	bool ready = true;

	rcl_pool_for_each(lease, &ep->pool) {
		if (lease->state != RCL_LEASE_RESUMING || !lease->lessee)
			continue;
		/* Pairs with rcl_lessee_work(). */
		if (!smp_load_acquire(&lease->lessee->ready)) {
			ready = false;
		} else if (lease->lessee->failed &&
			   rcl_reg_has_ended(&ep->reg)) {
			/* Not its own failure: the epoch ends, it goes on. */
			ready = false;
		} else if (lease->lessee->failed) {
			rcl_resume_note(ep, lease->lessee);
			rcl_resume_close(ep, lease, -ECONNRESET);
		}
	}
	return ready;
}

/**
 * rcl_resume_ask - ask the peer to go on, when that is possible
 * @ep: of a link that is up
 *
 * Return: 0, -EAGAIN when nothing can be asked now, or what rcl_ctrl_send()
 * says.
 */
int rcl_resume_ask(struct rcl_epoch *ep)
{
	struct rcl_pool *pool = &ep->pool;
	struct rcl_lease *lease;
	int ret = 0;

	if (!rcl_resume_is_ready(ep))
		return 0;
	rcl_pool_for_each(lease, pool) {
		struct rcl_msg msg = { .type = RCL_MSG_RESUME };

		if (ret)
			break;
		if (lease->state != RCL_LEASE_RESUMING || lease->we_asked ||
		    !lease->lessee)
			continue;
		msg.id = lease->lessee->id;
		msg.got = lease->lessee->got;
		ret = rcl_lease_send(ep, lease, &msg);
		lease->we_asked = !ret;
	}
	return ret;
}

/**
 * rcl_resume_may_import - has the peer registered what it exports?
 * @ep: of a link that is up
 *
 * What is not is of a channel that is to go on, at both ends, and the peer asks
 * that when all is. Else it answers that it has none.
 *
 * Return: true if so, or if the peer exports nothing but what is new.
 */
bool rcl_resume_may_import(const struct rcl_epoch *ep)
{
	const struct rcl_lease *lease;

	rcl_pool_for_each(lease, &ep->pool)
		if (lease->state == RCL_LEASE_RESUMING && lease->lessee &&
		    !lease->we_agreed)
			return false;
	return true;
}

/* Both agree. */
static void rcl_resume_go_on(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_lessee *lessee = lease->lessee;

	rcl_lease_set_open(lease, ep);
	if (lessee)
		rcl_lessee_run_resume(lessee, &ep->pool.errands);
	else
		rcl_lease_end(ep, lease, -ESHUTDOWN);
}

/**
 * rcl_resume_question - the peer asks to go on
 * @ep: of a link that is up
 * @lease: that it asks of, in any state
 * @msg: RESUME, hostile
 * @answer: its status is set
 *
 * Return: 0 or -EPROTO.
 */
int rcl_resume_question(struct rcl_epoch *ep, struct rcl_lease *lease,
			const struct rcl_msg *msg, struct rcl_msg *answer)
{
	struct rcl_lessee *lessee = lease->lessee;

	/* Busy: it had gone on here. */
	answer->status = rcl_lease_comes_back(lease) ? RCL_MSG_BUSY :
						       RCL_MSG_REFUSED;
	if (lease->state != RCL_LEASE_RESUMING)
		return 0;
	if (lease->we_agreed || lease->we_refused)
		return -EPROTO;
	if (!lessee || lessee->id != msg->id) {
		lease->we_refused = true;
		rcl_lease_let_go(ep, lease, -ECONNRESET);
		if (!lease->we_asked || lease->peer_agreed)
			lease->state = RCL_LEASE_FREE;
		return 0;
	}
	answer->status = RCL_MSG_OK;
	lessee->had = msg->got;
	lease->we_agreed = true;
	if (lease->peer_agreed)
		rcl_resume_go_on(ep, lease);
	return 0;
}

/**
 * rcl_resume_answer - the peer says whether it goes on
 * @ep: of a link that is up
 * @lease: that was asked of
 * @msg: RESUMED with the cookie of the question, hostile
 *
 * Return: 0 or -EPROTO.
 */
int rcl_resume_answer(struct rcl_epoch *ep, struct rcl_lease *lease,
		      const struct rcl_msg *msg)
{
	if (lease->state != RCL_LEASE_RESUMING || !lease->we_asked ||
	    lease->peer_agreed)
		return -EPROTO;
	if (msg->status != RCL_MSG_OK || lease->we_refused) {
		rcl_lease_let_go(ep, lease, -ECONNRESET);
		/* Busy: RECYCLE comes. */
		if (msg->status == RCL_MSG_BUSY)
			rcl_lease_expect(ep, lease);
		else
			lease->state = RCL_LEASE_FREE;
		return 0;
	}
	lease->peer_agreed = true;
	/* One that was closed here ends there now, whether it asks or not. */
	if (lease->we_agreed || !lease->lessee)
		rcl_resume_go_on(ep, lease);
	return 0;
}

/**
 * rcl_resume_close - a lease ends that was to go on
 * @ep: of a link that is up
 * @lease: in RESUMING
 * @why: errno for its lessee
 *
 * Context: may sleep, for a drain.
 */
void rcl_resume_close(struct rcl_epoch *ep, struct rcl_lease *lease, int why)
{
	if (lease->peer_agreed || (lease->we_agreed && !lease->we_asked)) {
		/* The peer goes on, or is about to. */
		rcl_lease_end(ep, lease, why);
		return;
	}
	rcl_lease_let_go(ep, lease, why);
	/* Else the answer tells what the peer has. */
	if (!lease->we_asked)
		lease->state = RCL_LEASE_FREE;
}
