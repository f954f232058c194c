// SPDX-License-Identifier: GPL-2.0
/*
 * Hellos are small. If a switch takes only smaller packets than the ports at
 * both ends announce, hellos come through, and the first large packet would end
 * the link. So an end that has received the peer's hello, which says that the
 * peer's link buffer is registered, writes as much there as one packet holds,
 * and then answers the hello on the same QP. RC keeps the order: an end that
 * has the answer has got the peer's probe before, and an end whose own probe
 * was acknowledged knows about the other direction.
 *
 * A switch may be reconfigured or replaced while the link is up. So each end
 * sends such a packet, or two, in each interval of the heartbeat. If one is
 * lost, what follows on the same QP is not accepted, either, and so the
 * heartbeat notices; the next exchange shows what the cause was.
 *
 * Apart from that, only pings of this end use the peer's buffer: none is under
 * way when a probe is sent, or can be at first. The data are the first bytes of
 * this end's buffer: zeros, or what the peer wrote there.
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
 * @ep: active, and the peer's hello came in but is not answered yet; or up
 *
 * Context: the link's work item.
 * Return: 0, or what ib_post_send() returns.
 */
int rcl_probe_post(struct rcl_epoch *ep)
{
	/* Neither a page nor this end's link buffer is smaller than that. */
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
 * rcl_probe_again - send another probe if it is due now or soon
 * @ep: of a link that is up
 *
 * Context: the link's work item.
 * Return: 0, or what ib_post_send() returns.
 */
int rcl_probe_again(struct rcl_epoch *ep)
{
	bool may = !ep->probe.posted && !ep->pinger.ping;
	u64 due = ep->probe.due;

	/* Awake for something else: do not wake up again just for this. */
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
 * rcl_probe_is_lost - is the probe all that does not come through?
 * @ep: of a link that did not come up in time
 *
 * A device that retries for ever reports nothing.
 *
 * Context: the link's work item.
 * Return: true if the peer's device acknowledged the hello, but not the probe.
 */
bool rcl_probe_is_lost(const struct rcl_epoch *ep)
{
	return ep->probe.posted && !ep->probe.through && ep->ctrl.retired;
}
