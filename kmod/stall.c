// SPDX-License-Identifier: GPL-2.0
/*
 * The QP of a channel that can go on in another epoch fails: it gets no answer,
 * or the device does not send. Whether that is the path or only this QP, the
 * peer is asked, over the control QP. Where that fails, too, the epoch ends,
 * and the channel goes on in the next one. But where the peer answers, the link
 * lives, and may do so for long: it is to be rotated, which gives the channel
 * another QP. A channel for which nobody does that in time ends; so does one
 * whose other end has failed on its own, at once.
 *
 * All of this runs in the link's work item.
 */
#include "stall.h"

#include <linux/errno.h>

#include "due.h"
#include "epoch.h"
#include "lease-base.h"
#include "lessee.h"
#include "msg.h"

#define RCL_STALL_MS	10000	/* for an exchange, and a try or two */

/**
 * rcl_stall_heard - the peer has sent HEARS
 * @ep: of a link that is up
 * @lease: that it names
 *
 * One that is not open has ended here, and the peer is about to hear it.
 *
 * Return: the status of HEARD: why the lessee cannot go on in another epoch, if
 * it cannot, by the policy, or because it has failed.
 */
u8 rcl_stall_heard(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	if (lease->state != RCL_LEASE_OPEN ||
	    lease->lessee->ops->heard(lease->lessee))
		return RCL_MSG_OK;
	return rcl_policy_resumes(&ep->policy) ? RCL_MSG_FAILED :
						 RCL_MSG_REFUSED;
}

/**
 * rcl_stall_ask - ask the peer whether it is there
 * @ep: of a link that is up
 * @lease: open
 *
 * Any question will do. It is asked once.
 *
 * Return: 0, or what rcl_lease_send() says.
 */
int rcl_stall_ask(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_msg msg = { .type = RCL_MSG_HEARS };
	int ret = 0;

	if (READ_ONCE(lease->lessee->stalled) && !lease->probed) {
		ret = rcl_lease_send(ep, lease, &msg);
		lease->probed = !ret;
	}
	return ret;
}

/**
 * rcl_stall_answered - the peer is there
 * @ep: of a link that is up
 * @lease: open; see rcl_stall_ask()
 * @msg: HEARD, hostile
 *
 * Where its lessee cannot go on, no other epoch helps.
 *
 * Context: may sleep, for a drain.
 */
void rcl_stall_answered(struct rcl_epoch *ep, struct rcl_lease *lease,
			const struct rcl_msg *msg)
{
	if (msg->status) {
		rcl_lease_end(ep, lease, -ECONNRESET);
		return;
	}
	if (!lease->until)
		lease->until = rcl_due_in(RCL_STALL_MS);
}

static bool rcl_stall_waits(const struct rcl_lease *lease)
{
	return lease->state == RCL_LEASE_OPEN && lease->until;
}

/**
 * rcl_stall_look - end those for which nothing came in time
 * @ep: of a link that is up
 *
 * Context: may sleep, for a drain.
 */
void rcl_stall_look(struct rcl_epoch *ep)
{
	struct rcl_lease *lease;

	rcl_pool_for_each(lease, &ep->pool)
		if (rcl_stall_waits(lease) && !rcl_due_lies_ahead(lease->until))
			rcl_lease_end(ep, lease, -ECONNRESET);
}

/**
 * rcl_stall_due - has a lease another QP to get, and by when?
 * @ep: of a link that is up
 *
 * Return: in jiffies, 0 when none has.
 */
u64 rcl_stall_due(const struct rcl_epoch *ep)
{
	const struct rcl_lease *lease;
	u64 due = 0;

	rcl_pool_for_each(lease, &ep->pool)
		if (rcl_stall_waits(lease))
			due = rcl_due_first(due, lease->until);
	return due;
}
