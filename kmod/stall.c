// SPDX-License-Identifier: GPL-2.0
/*
 * The QP of a channel that can go on in another epoch fails: it gets no answer,
 * or the device does not send. To find out whether that is the path or only
 * this QP, the peer is asked over the control QP. If that fails, too, the epoch
 * ends, and the channel goes on in the next one. But if the peer answers, the
 * link lives, maybe for long: it is to be rotated, which gives the channel
 * another QP. A channel ends if nobody does that in time, and at once if its
 * other end has failed on its own.
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

#define RCL_STALL_MS	10000	/* for an exchange and a retry or two */

/**
 * rcl_stall_heard - the peer has sent HEARS
 * @ep: of a link that is up
 * @lease: that it names
 * @msg: HEARS, hostile
 *
 * A lease that is not open has ended here, and the peer will soon hear it.
 *
 * Return: the status of HEARD: if the lessee cannot go on in another epoch, why
 * not: by the policy, or because it has failed.
 */
u8 rcl_stall_heard(struct rcl_epoch *ep, struct rcl_lease *lease,
		   const struct rcl_msg *msg)
{
	if (lease->state != RCL_LEASE_OPEN ||
	    lease->lessee->ops->heard(lease->lessee, !msg->deaf))
		return RCL_MSG_OK;
	return rcl_policy_resumes(&ep->policy) ? RCL_MSG_FAILED :
						 RCL_MSG_REFUSED;
}

/**
 * rcl_stall_ask - ask the peer whether it is there
 * @ep: of a link that is up
 * @lease: open
 *
 * HEARS, because its answer says whether the peer's lessee can go on. It is
 * asked once.
 *
 * Return: 0, or what rcl_lease_send() says.
 */
int rcl_stall_ask(struct rcl_epoch *ep, struct rcl_lease *lease)
{
	struct rcl_msg msg = {
		.type = RCL_MSG_HEARS,
		.deaf = !lease->lessee->told,
	};
	int ret = 0;

	if (READ_ONCE(lease->lessee->stalled) && !lease->probed) {
		ret = rcl_lease_send(ep, lease, &msg);
		lease->probed = !ret;
	}
	return ret;
}

/**
 * rcl_stall_answered - the peer has answered HEARS
 * @ep: of a link that is up
 * @lease: open; see rcl_stall_ask()
 * @msg: HEARD, hostile
 *
 * If its lessee cannot go on, another epoch does not help.
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
 * rcl_stall_look - end the leases that got no other QP in time
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
 * rcl_stall_due - by when must a lease get another QP?
 * @ep: of a link that is up
 *
 * Return: in jiffies, 0 when none has to.
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
