// SPDX-License-Identifier: GPL-2.0
/*
 * Hellos are small. Where a switch takes smaller packets than the ports at both
 * ends say, hellos come through, and the first large packet would be the end of
 * the link. So an end that has heard the peer's hello, which says that its link
 * buffer is registered, writes as much there as one packet holds, and answers
 * the hello behind that on the same QP. RC keeps the order: who has the answer
 * has got the probe before, and who has the probe acknowledged knows of the
 * other direction.
 *
 * A switch may be told otherwise while the link is up, or another one may take
 * its place. So there is such a packet, or two, in each interval of the
 * heartbeat, from either end. Where it is lost, what follows on the same QP is
 * not taken, either, and so the heartbeat notices; the next exchange tells what
 * it was.
 *
 * Only pings of this end use the peer's buffer: none is under way then, or can
 * be at first. What is written are the first bytes of the own buffer, zeros or
 * what the peer wrote there.
 */
#include "probe.h"

#include <linux/minmax.h>
#include <linux/scatterlist.h>

#include "due.h"
#include "epoch.h"

/* The hello was posted before, so it has been acknowledged. */
static void rcl_probe_completed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_probe *probe =
		container_of(wc->wr_cqe, struct rcl_probe, cqe);

	probe->posted = false;
	if (wc->status == IB_WC_SUCCESS)
		probe->through = true;
	else if (wc->status == IB_WC_RETRY_EXC_ERR && !probe->through)
		rcl_qp_fail(cq->cq_context, RCLINK_DOWN_REASON_MTU, 0,
			    wc->vendor_err);
	else
		rcl_qp_wc_failed(cq, wc);
}

static void rcl_probe_wait(struct rcl_epoch *ep)
{
	ep->probe.due = rcl_due_in(ep->policy.v[RCL_P_HEARTBEAT]);
}

/**
 * rcl_probe_post - send the probe
 * @ep: active; the peer's hello came in, and is not answered yet; or up
 *
 * Context: the link's work item.
 * Return: 0, or what ib_post_send() says.
 */
int rcl_probe_post(struct rcl_epoch *ep)
{
	/* Neither a page nor a link buffer of this end is smaller. */
	struct ib_sge sge = {
		.addr = sg_dma_address(ep->buffer.sg),
		.length = min(rcl_epoch_mtu(ep), ep->remote.length),
		.lkey = ep->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr.wr_cqe = &ep->probe.cqe,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = ep->remote.addr,
		.rkey = ep->remote.rkey,
	};

	ep->probe.cqe.done = rcl_probe_completed;
	ep->probe.posted = true;
	rcl_probe_wait(ep);
	return rcl_qp_post_send(&ep->qp[0], &wr.wr);
}

/**
 * rcl_probe_again - send one more, if it is time, or will be soon
 * @ep: of a link that is up
 *
 * Context: the link's work item.
 * Return: 0, or what ib_post_send() says.
 */
int rcl_probe_again(struct rcl_epoch *ep)
{
	bool may = !ep->probe.posted && !ep->pinger.ping;
	u64 due = ep->probe.due;

	/* Who is awake for something else is not to be woken for that. */
	if (may)
		due -= msecs_to_jiffies(ep->policy.v[RCL_P_HEARTBEAT]) / 2;
	if (rcl_due_lies_ahead(due))
		return 0;
	if (may)
		return rcl_probe_post(ep);
	rcl_probe_wait(ep);
	return 0;
}

/**
 * rcl_probe_pass - the peer has shown that it got the probe
 * @ep: whose probe was posted; its acknowledgment may have been lost
 *
 * Context: the link's work item.
 */
void rcl_probe_pass(struct rcl_epoch *ep)
{
	ep->probe.through = true;
}

/**
 * rcl_probe_is_lost - is it only the probe that does not come through?
 * @ep: of a link that is not up in time
 *
 * A device that sends again for ever says nothing.
 *
 * Context: the link's work item.
 * Return: true if the peer's device has acknowledged the hello, but not that.
 */
bool rcl_probe_is_lost(const struct rcl_epoch *ep)
{
	return ep->probe.posted && !ep->probe.through && ep->ctrl.retired;
}
