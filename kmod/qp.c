// SPDX-License-Identifier: GPL-2.0
#include "qp.h"

#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/random.h>

#include "compat.h"
#include "policy.h"
#include "upcall.h"

#define RCL_WC_BATCH	8	/* completions taken from the CQ at once */
#define RCL_DRAIN_MS	5000	/* wait for flushes */
#define RCL_DRAIN_STUCK_MS 1000	/* the same, after one in vain */

/* bnxt_re reports these events for exceeded retries, too. */
static bool rcl_qp_tells_access(const struct rcl_qp *qp)
{
	return qp->qp->device->ops.driver_id != RDMA_DRIVER_BNXT_RE;
}

/* If a pooled QP, or that for registrations, fails, its user deals with it. */
static bool rcl_qp_is_apart(const struct rcl_qp *qp)
{
	return qp->index;
}

/**
 * rcl_qp_fail - tell that the epoch of a QP is to end
 * @qp: created
 * @reason: enum rclink_down_reason
 * @wc_status: enum ib_wc_status
 * @vendor_err: of the device
 *
 * Context: any.
 */
void rcl_qp_fail(struct rcl_qp *qp, u32 reason, u32 wc_status, u32 vendor_err)
{
	qp->up->fail(qp->up, reason, wc_status, vendor_err, qp->index);
}

static void rcl_qp_event(struct ib_event *event, void *context)
{
	struct rcl_qp *qp = context;
	u32 reason;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
		reason = RCLINK_DOWN_REASON_QP_FATAL;
		break;
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		reason = rcl_qp_tells_access(qp) ?
				 RCLINK_DOWN_REASON_ACCESS :
				 RCLINK_DOWN_REASON_QP_FATAL;
		break;
	default:
		return;
	}
	if (!rcl_qp_is_apart(qp)) {
		rcl_qp_fail(qp, reason, 0, event->event);
		return;
	}
	qp->up->fault(qp->up, reason, 0, event->event, qp->index);
	/* bnxt_re flushes it without an event of its CQ. */
	qp->event(qp);
}

static void rcl_qp_completion(struct ib_cq *cq, void *context)
{
	struct rcl_qp *qp = context;

	qp->event(qp);
}

static void rcl_qp_cq_event(struct ib_event *event, void *context)
{
	rcl_qp_fail(context, RCLINK_DOWN_REASON_QP_FATAL, 0, event->event);
}

static int rcl_qp_create_cq(struct rcl_qp *qp, struct ib_device *ib, u32 cqe)
{
	u32 n = min_t(u32, ib->num_comp_vectors, num_online_cpus());
	struct ib_cq_init_attr attr = {
		.cqe = cqe,
		.comp_vector = n > 1 ? qp->vector % n : 0,
	};

	qp->cq = ib_create_cq(ib, rcl_qp_completion, rcl_qp_cq_event, qp,
			      &attr);
	return PTR_ERR_OR_ZERO(qp->cq);
}

static int rcl_qp_create_qp(struct rcl_qp *qp, struct ib_pd *pd,
			    const struct rcl_qp_size *size)
{
	struct ib_qp_init_attr init = {
		.event_handler = rcl_qp_event,
		.qp_context = qp,
		.send_cq = qp->cq,
		.recv_cq = qp->cq,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = size->send_wr + 1,
			.max_recv_wr = size->recv_wr + 1,
			.max_send_sge = size->sge,
			.max_recv_sge = size->sge,
			.max_inline_data = qp->max_inline,
		},
	};
	struct ib_qp *new;

	new = ib_create_qp(pd, &init);
	if (IS_ERR(new))
		return PTR_ERR(new);
	qp->qp = new;
	qp->max_inline = min(qp->max_inline, init.cap.max_inline_data);
	qp->psn = get_random_u32() & RCL_24BIT_MAX;
	return 0;
}

/**
 * rcl_qp_create - allocate a QP and its CQ, and draw its PSN
 * @qp: filled in
 * @pd: of the link
 * @size: what can be outstanding
 * @event: see struct rcl_qp
 * @up: told of fatal events
 *
 * Both queues and the CQ have additional room for the drain: a CQ that is too
 * small stops reporting flushes, and the drain would wait for ever.
 *
 * Context: may sleep.
 * Return: 0, or the errno of the verbs call.
 */
int rcl_qp_create(struct rcl_qp *qp, struct ib_pd *pd,
		  const struct rcl_qp_size *size,
		  void (*event)(struct rcl_qp *qp), struct rcl_upcall *up)
{
	int ret;

	qp->up = up;
	qp->event = event;
	ret = rcl_qp_create_cq(qp, pd->device,
			       size->send_wr + size->recv_wr + 2);
	if (ret)
		return ret;
	ret = rcl_qp_create_qp(qp, pd, size);
	if (ret)
		ib_destroy_cq(qp->cq);
	return ret;
}

/**
 * rcl_qp_to_init - RESET to INIT; receives may be posted afterwards
 * @qp: in RESET
 * @wiring: port, partition key and rights
 *
 * Context: may sleep.
 * Return: 0, or what ib_modify_qp() returns.
 */
int rcl_qp_to_init(struct rcl_qp *qp, const struct rcl_qp_wiring *wiring)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = wiring->policy->v[RCL_P_PKEY_INDEX],
		.port_num = wiring->port,
		.qp_access_flags = wiring->access,
	};
	int ret;

	ret = ib_modify_qp(qp->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (!ret)
		qp->state = RCL_QP_LIVE;
	return ret;
}

/*
 * After a failed transition no state can be relied on: rxe, out of memory in
 * INIT to RTR, flushes no receives any more, and a drain would wait for ever.
 * RESET is allowed from any state, and owes no completions (IBA 10.3.1.2).
 */
static int rcl_qp_give_up(struct rcl_qp *qp, int ret)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };

	if (ret && !ib_modify_qp(qp->qp, &attr, IB_QP_STATE))
		qp->state = RCL_QP_IDLE;
	return ret;
}

/**
 * rcl_qp_to_rtr - INIT to RTR: the peer may send from now on
 * @qp: in INIT
 * @wiring: path, MTU, depths
 * @remote: the peer's QPN and first PSN
 *
 * Context: may sleep.
 * Return: 0, or what ib_modify_qp() returns.
 */
int rcl_qp_to_rtr(struct rcl_qp *qp, const struct rcl_qp_wiring *wiring,
		  const struct rcl_qp_id *remote)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.ah_attr = *wiring->ah,
		.path_mtu = ib_mtu_int_to_enum(wiring->mtu),
		.dest_qp_num = remote->qpn,
		.rq_psn = remote->psn,
		.max_dest_rd_atomic = wiring->answer,
		.min_rnr_timer = wiring->policy->v[RCL_P_MIN_RNR_TIMER],
	};
	int ret;

	ret = ib_modify_qp(qp->qp, &attr, IB_QP_STATE | IB_QP_AV |
			   IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	return rcl_qp_give_up(qp, ret);
}

/*
 * If a device never gives up, something else must notice. The heartbeat proves
 * the control QP; but any other QP has a flow, and so maybe a path, of its own,
 * which may be cut alone.
 */
static u8 rcl_qp_retry(const struct rcl_qp *qp,
		       const struct rcl_qp_wiring *wiring)
{
	u32 retry = wiring->policy->v[RCL_P_RETRY];

	return rcl_qp_is_apart(qp) ?
		       min_t(u32, retry, RCL_RETRY_FOR_EVER - 1) : retry;
}

/**
 * rcl_qp_to_rts - RTR to RTS: this end may send from now on
 * @qp: in RTR
 * @wiring: timers, retries and depth
 *
 * Context: may sleep.
 * Return: 0, or what ib_modify_qp() returns.
 */
int rcl_qp_to_rts(struct rcl_qp *qp, const struct rcl_qp_wiring *wiring)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = wiring->policy->v[RCL_P_TIMEOUT],
		.retry_cnt = rcl_qp_retry(qp, wiring),
		.rnr_retry = wiring->policy->v[RCL_P_RNR_RETRY],
		.sq_psn = qp->psn,
		.max_rd_atomic = wiring->initiate,
	};
	int ret;

	ret = ib_modify_qp(qp->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
			   IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			   IB_QP_MAX_QP_RD_ATOMIC);
	return rcl_qp_give_up(qp, ret);
}

/**
 * rcl_qp_post_send - post one work request
 * @qp: in RTS
 * @wr: not chained to another one
 *
 * Context: process or softirq context.
 * Return: 0, or what ib_post_send() returns.
 */
int rcl_qp_post_send(struct rcl_qp *qp, const struct ib_send_wr *wr)
{
	int ret;

	/*
	 * Leaving the section lets a software device that works in a tasklet
	 * send at once instead of waiting for ksoftirqd.
	 */
	local_bh_disable();
	ret = ib_post_send(qp->qp, wr, NULL);
	local_bh_enable();
	return ret;
}

/*
 * Whoever waits for a completion would wait for ever. The CQ is the same in all
 * leases, so only another epoch helps, as after a CQ event. If the QP is being
 * stopped, whoever stops it sees what became of it.
 */
static void rcl_qp_cq_failed(struct rcl_qp *qp)
{
	if (qp->mute || qp->state != RCL_QP_LIVE)
		return;
	qp->mute = true;
	rcl_qp_fail(qp, RCLINK_DOWN_REASON_QP_FATAL, 0, IB_EVENT_CQ_ERR);
}

/**
 * rcl_qp_poll - handle completions
 * @qp: not polled by anybody else now
 * @budget: handle at most this many
 *
 * A CQ that cannot be polled ends the epoch.
 *
 * Context: that of the completion handlers.
 * Return: how many were handled.
 */
int rcl_qp_poll(struct rcl_qp *qp, int budget)
{
	/* Zeroing what is written anyway would be a good part of the cost. */
	struct ib_wc wc[RCL_WC_BATCH] __uninitialized;
	int done = 0;
	int want, n, i;

	do {
		want = min(budget - done, RCL_WC_BATCH);
		/*
		 * A driver may leave this one unset, and anybody may see it. A
		 * constant number needs no loop.
		 */
		for (i = 0; i < RCL_WC_BATCH; i++)
			wc[i].vendor_err = 0;
		n = ib_poll_cq(qp->cq, want, wc);
		for (i = 0; i < n; i++)
			wc[i].wr_cqe->done(qp->cq, &wc[i]);
		done += max(n, 0);
		/* Fewer than asked for: these were all. */
	} while (n == want && done < budget);
	if (unlikely(n < 0))
		rcl_qp_cq_failed(qp);
	return done;
}

/**
 * rcl_qp_arm - ask for an event at the next completion
 * @qp: polled empty, by the caller alone
 *
 * A CQ that cannot be armed ends the epoch.
 *
 * Context: any.
 * Return: true if something may have come in before: then poll again.
 */
bool rcl_qp_arm(struct rcl_qp *qp)
{
	int ret;

	ret = ib_req_notify_cq(qp->cq, IB_CQ_NEXT_COMP |
			       IB_CQ_REPORT_MISSED_EVENTS);
	if (unlikely(ret < 0))
		rcl_qp_cq_failed(qp);
	return ret > 0;
}

static void rcl_qp_waited(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rcl_qp_wait *wait =
		container_of(wc->wr_cqe, struct rcl_qp_wait, cqe);

	wait->done = true;
	wait->status = wc->status;
}

static bool rcl_qp_wait(struct rcl_qp *qp, const struct rcl_qp_wait *wait,
			unsigned long end)
{
	while (!wait->done) {
		/* Before the poll: preemption must not look like a timeout. */
		bool late = time_after(jiffies, end);

		if (rcl_qp_poll(qp, RCL_WC_BATCH))
			continue;
		if (late)
			return false;
		usleep_range(20, 100);
	}
	return true;
}

/**
 * rcl_qp_drain_end - until when to wait for flushes
 * @stuck: the device has kept somebody waiting for them in vain
 *
 * Flushes are local, so a live device reports them soon.
 *
 * Return: in jiffies.
 */
unsigned long rcl_qp_drain_end(bool stuck)
{
	return jiffies + msecs_to_jiffies(stuck ? RCL_DRAIN_STUCK_MS :
						  RCL_DRAIN_MS);
}

static int rcl_qp_to_err(struct rcl_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	return ib_modify_qp(qp->qp, &attr, IB_QP_STATE);
}

static int rcl_qp_post_marks(struct rcl_qp *qp)
{
	struct ib_recv_wr recv_wr = { .wr_cqe = &qp->last_recv.cqe };
	struct ib_rdma_wr send_wr = {
		.wr.wr_cqe = &qp->last.cqe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};

	qp->last = (struct rcl_qp_wait){ .cqe.done = rcl_qp_waited };
	qp->last_recv = qp->last;
	return ib_post_recv(qp->qp, &recv_wr, NULL) ? :
	       rcl_qp_post_send(qp, &send_wr.wr);
}

/**
 * rcl_qp_end - let everything that was posted be flushed
 * @qp: not posted to or polled by anybody any more; in ERR afterwards
 *
 * To be followed by rcl_qp_stop(); several ended QPs flush in parallel.
 *
 * Context: may sleep.
 */
void rcl_qp_end(struct rcl_qp *qp)
{
	/* There is no way from RESET to ERR. */
	if (qp->state != RCL_QP_LIVE)
		return;
	qp->state = RCL_QP_UNMARKED;
	if (!rcl_qp_to_err(qp) && !rcl_qp_post_marks(qp))
		qp->state = RCL_QP_ENDING;
}

/**
 * rcl_qp_stop - move to ERR and handle every completion that is still to come
 * @qp: not posted to or polled by anybody any more
 * @end: of the wait, in jiffies
 *
 * Context: may sleep.
 * Return: true when everything has completed; otherwise only rcl_qp_destroy()
 * may follow.
 */
bool rcl_qp_stop(struct rcl_qp *qp, unsigned long end)
{
	rcl_qp_end(qp);
	if (qp->state == RCL_QP_UNMARKED) {
		/* Completions that have come in count all the same. */
		while (rcl_qp_poll(qp, RCL_WC_BATCH))
			;
		qp->state = RCL_QP_STUCK;
	} else if (qp->state == RCL_QP_ENDING) {
		qp->state = rcl_qp_wait(qp, &qp->last, end) &&
			    rcl_qp_wait(qp, &qp->last_recv, end) ?
				    RCL_QP_DRAINED : RCL_QP_STUCK;
	}
	return qp->state != RCL_QP_STUCK;
}

static int rcl_qp_destroy_qp(struct rcl_qp *qp, struct ib_qp *old)
{
	int ret = ib_destroy_qp(old);

	if (!ret)
		return 0;
	old->event_handler = NULL;
	qp->lost = true;
	return ret;
}

/**
 * rcl_qp_renew - replace the verbs object by another one, with another PSN
 * @qp: stopped
 * @size: as in rcl_qp_create()
 *
 * RESET would be cheaper, but rxe's (6.1 and 6.12) does not forget that the
 * answer to a READ came in part, and fails the first answer of the next life.
 * With another QPN, packets of the old life do not find the new QP, either.
 *
 * Context: may sleep.
 * Return: 0 and in RESET; what ib_create_qp() returns: then it is still the old
 * one, in ERR; or what ib_destroy_qp() does: then only rcl_qp_destroy() may
 * follow, because the CQ may hold more completions of the old one.
 */
int rcl_qp_renew(struct rcl_qp *qp, const struct rcl_qp_size *size)
{
	struct ib_qp *old = qp->qp;
	int ret;

	ret = rcl_qp_create_qp(qp, old->pd, size);
	return ret ? ret : rcl_qp_destroy_qp(qp, old);
}

/**
 * rcl_qp_destroy - the mirror of rcl_qp_create()
 * @qp: stopped, or for registrations; must stay, with its PD, if its @lost is
 *	set afterwards
 *
 * Context: may sleep.
 */
void rcl_qp_destroy(struct rcl_qp *qp)
{
	rcl_qp_destroy_qp(qp, qp->qp);
	if (!qp->lost) {
		ib_destroy_cq(qp->cq);
		return;
	}
	qp->cq->event_handler = NULL;
	qp->event = rcl_qp_ignore;
}

/**
 * rcl_qp_wc_failed - tell the owner that a work request failed
 * @cq: of a struct rcl_qp
 * @wc: not successful, so only status and vendor_err are valid (IBA 11.4.2.1)
 *
 * Context: any.
 */
void rcl_qp_wc_failed(struct ib_cq *cq, const struct ib_wc *wc)
{
	rcl_qp_fail(cq->cq_context, RCLINK_DOWN_REASON_COMPLETION, wc->status,
		    wc->vendor_err);
}

/**
 * rcl_qp_fault - tell the link that a work request of a lessee failed
 * @qp: leased; the epoch goes on
 * @status: of the first failure, not of a flush
 * @vendor_err: of the device
 *
 * Context: any.
 */
void rcl_qp_fault(struct rcl_qp *qp, enum ib_wc_status status, u32 vendor_err)
{
	qp->up->fault(qp->up, RCLINK_DOWN_REASON_COMPLETION, status, vendor_err,
		      qp->index);
}

/**
 * rcl_qp_wc_fault - tell the link that a work request of or for a lessee failed
 * @cq: of a struct rcl_qp
 * @wc: not successful; flushes are ignored, they only follow from a failure
 *
 * Context: any.
 */
void rcl_qp_wc_fault(struct ib_cq *cq, const struct ib_wc *wc)
{
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		rcl_qp_fault(cq->cq_context, wc->status, wc->vendor_err);
}

/**
 * rcl_qp_wc_written - has the peer written elsewhere what a receive tells of?
 * @cq: of a struct rcl_qp
 * @wc: of a receive that has immediate data
 *
 * hns says RECV of such a WRITE, and something else of a SEND with immediate
 * data, by its source (wc_recv_op_map, 6.12).
 *
 * Context: any.
 * Return: true if the data is not in the receive's memory.
 */
bool rcl_qp_wc_written(const struct ib_cq *cq, const struct ib_wc *wc)
{
	return wc->opcode == IB_WC_RECV_RDMA_WITH_IMM ||
	       (wc->opcode == IB_WC_RECV &&
		cq->device->ops.driver_id == RDMA_DRIVER_HNS);
}

/**
 * rcl_qp_post_recv - post one receive
 * @qp: in INIT or later
 * @cqe: of its completion
 * @addr: DMA address under the PD's local_dma_lkey
 * @len: bytes
 *
 * Context: any.
 * Return: 0, or what ib_post_recv() returns.
 */
int rcl_qp_post_recv(struct rcl_qp *qp, struct ib_cqe *cqe, u64 addr, u32 len)
{
	struct ib_sge sge = {
		.addr = addr,
		.length = len,
		.lkey = qp->qp->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(qp->qp, &wr, NULL);
}

/* A failure ends the epoch on the control QP alone. */
static void rcl_qp_registered(struct ib_cq *cq, struct ib_wc *wc)
{
	rcl_qp_waited(cq, wc);
	if (!wc->status)
		return;
	if (rcl_qp_is_apart(cq->cq_context))
		rcl_qp_wc_fault(cq, wc);
	else
		rcl_qp_wc_failed(cq, wc);
}

/**
 * rcl_qp_register - post REG_MR and wait until it has completed
 * @qp: in RTS with nothing in flight: if rxe (6.1 and 6.12) resends what was
 *	posted before, it then repeats the registration, too, which fails
 * @mr: mapped
 * @access: rights, IB_ACCESS_*
 *
 * Polls the QP. REG_MR is local, so a live device completes it soon.
 *
 * Context: may sleep.
 * Return: 0; -EIO: then @qp->up was told; what ib_post_send() returns; or
 * -ETIMEDOUT: then only rcl_qp_stop() and rcl_qp_destroy() may follow.
 */
int rcl_qp_register(struct rcl_qp *qp, struct ib_mr *mr, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.wr.wr_cqe = &qp->reg.cqe,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	int ret;

	qp->reg.cqe.done = rcl_qp_registered;
	qp->reg.done = false;
	ret = rcl_qp_post_send(qp, &wr.wr);
	if (ret)
		return ret;
	if (!rcl_qp_wait(qp, &qp->reg, rcl_qp_drain_end(false)))
		return -ETIMEDOUT;
	return qp->reg.status ? -EIO : 0;
}
