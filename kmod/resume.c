// SPDX-License-Identifier: GPL-2.0
/*
 * When an epoch fails, the lessees of its QPs are suspended, if the operator
 * said "recover resume". In the next epoch each gets the QP of that number.
 * Once all channels of an end have registered their memory again, it sends a
 * RESUME for each: with the number of the channel, drawn when it was opened,
 * and how many messages it has got. The other end agrees if it has that
 * channel, too. A channel goes on at an end that has asked and was asked: by
 * then the peer's memory can be imported, and both know what has arrived.
 *
 * If one end refuses, the channel ends at both, and its QP, which nobody has
 * used, is free. So it is if the peer asks to open another channel there: it
 * would not if it still had one. A channel that is closed here before this is
 * settled ends once it is, or like any other lease if the peer already goes on.
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
 * rcl_resume_later - have a lease go on in the next epoch
 * @lessee: suspended
 * @index: of its QP in the pool
 * @suspended: the link's list; it gets a reference
 */
void rcl_resume_later(struct rcl_lessee *lessee, u32 index,
		      struct list_head *suspended)
{
	kref_get(&lessee->ref);
	lessee->index = index;
	list_add_tail(&lessee->node, suspended);
}

/**
 * rcl_resume_lose - end a suspended lease
 * @lessee: after rcl_resume_later()
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
 * rcl_resume_lose_all - end all suspended leases
 * @suspended: the link's list
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
 * rcl_resume_lose_broken - end at once the leases that cannot go on
 * @suspended: the link's list; all have left their epoch
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

/* For the link's record: a lease ends because this end lacks something. */
static void rcl_resume_note(struct rcl_epoch *ep,
			    const struct rcl_lessee *lessee)
{
	struct rcl_upcall *up = ep->user.up;

	/* The QPs of the pool come after that of the control channel. */
	up->fault(up, RCLINK_DOWN_REASON_LOCAL_ERROR, 0, 0, 1 + lessee->index);
}

/**
 * rcl_resume_begin - let the leases go on, if the peer agrees
 * @ep: of a link that has just come up
 * @suspended: the link's list; empty afterwards
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

/* The peer may import memory of any channel of this end. */
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
			/* Not its fault: the epoch ends, the lease goes on. */
			ready = false;
		} else if (lease->lessee->failed) {
			rcl_resume_note(ep, lease->lessee);
			rcl_resume_close(ep, lease, -ECONNRESET);
		}
	}
	return ready;
}

/**
 * rcl_resume_ask - ask the peer to go on, once that is possible
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
 * What is not registered belongs to a channel that is to go on at both ends,
 * and the peer asks for that once all is. Else it answers that it has none.
 *
 * Return: true if so, or if the peer exports only new memory.
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

/* Both ends agree. */
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
 * @lease: that it asks about, in any state
 * @msg: RESUME, hostile
 * @answer: its status is set
 *
 * Return: 0 or -EPROTO.
 */
int rcl_resume_question(struct rcl_epoch *ep, struct rcl_lease *lease,
			const struct rcl_msg *msg, struct rcl_msg *answer)
{
	struct rcl_lessee *lessee = lease->lessee;

	/* Busy: it did go on here, and has ended since. */
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
 * rcl_resume_answer - the peer says whether a lease goes on
 * @ep: of a link that is up
 * @lease: that was asked about
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
		/* Busy: the peer will send RECYCLE. */
		if (msg->status == RCL_MSG_BUSY)
			rcl_lease_expect(ep, lease);
		else
			lease->state = RCL_LEASE_FREE;
		return 0;
	}
	lease->peer_agreed = true;
	/* If closed here, it ends there now, whether the peer asks or not. */
	if (lease->we_agreed || !lease->lessee)
		rcl_resume_go_on(ep, lease);
	return 0;
}

/**
 * rcl_resume_close - end a lease that was to go on
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
	/* Else the answer will tell what the peer has. */
	if (!lease->we_asked)
		lease->state = RCL_LEASE_FREE;
}
