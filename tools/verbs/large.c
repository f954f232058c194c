// SPDX-License-Identifier: GPL-2.0
#include "large.h"

#include "epoch.h"
#include "process.h"

static void put_off(struct rcv_epoch *ep, uint64_t now)
{
	ep->large.due = now + ep->policy.v[RCL_P_HEARTBEAT];
}

/* Writes the first bytes of this end's buffer, at the address the peer has. */
int rcv_large_post(struct rcv_epoch *ep)
{
	uint32_t mtu = rcv_epoch_mtu(ep), room = ep->remote.length;
	const struct rcv_remote_op op = {
		.op = RCLINK_PING_OP_WRITE,
		.wr_id = rcv_wr_id(RCV_WR_LARGE, 0),
		.addr = ep->local.addr,
		.lkey = ep->mr->lkey,
		.len = mtu < room ? mtu : room,
	};

	ep->large.posted = true;
	put_off(ep, rcl_now() / NS_PER_MS);
	return rcv_remote_post(&ep->qp[0], &ep->remote, &op);
}

/* Not while anything else uses the peer's buffer. */
int rcv_large_again(struct rcv_epoch *ep, uint64_t now)
{
	if (now < ep->large.due)
		return 0;
	if (!ep->large.posted && !ep->pinger.ping && !ep->busy)
		return rcv_large_post(ep);
	put_off(ep, now);
	return 0;
}

bool rcv_large_is_lost(struct rcv_epoch *ep, const struct rcv_wc *wc)
{
	ep->large.posted = false;
	if (wc->status == IBV_WC_SUCCESS)
		ep->large.through = true;
	return wc->status == IBV_WC_RETRY_EXC_ERR && !ep->large.through;
}
