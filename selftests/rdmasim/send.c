// SPDX-License-Identifier: GPL-2.0
/*
 * How a QP sends: its work item takes one work request after the other, and
 * is done with it before it takes the next one. A message without an answer is
 * sent again after the local ACK timeout, one whose receiver is not ready after
 * the receiver's RNR timer. An answer from another kernel comes asynchronously.
 */
#include <linux/jiffies.h>

#include "compat.h"
#include "sim.h"

#define SIM_BATCH	64		/* messages, before others get a turn */
#define SIM_FOREVER	7		/* this rnr_retry has no limit */
#define SIM_VENDOR	0x51		/* vendor_err is this plus the status */

/* Results of a try at a work request, in addition to enum ib_wc_status. */
#define SIM_WAITS	-1
#define SIM_MORE	-2
#define SIM_LATE	-3

/* IBA 11.4.2.1 has a requester's byte count for READs and atomics only. */
static u32 sim_send_len(const struct sim_swqe *wqe)
{
	u32 len = 0;
	int i;

	for (i = 0; i < wqe->wr.num_sge; i++)
		len += wqe->sge[i].length;
	return len;
}

static bool sim_is_signaled(const struct sim_qp *qp,
			    const struct sim_swqe *wqe)
{
	return qp->sig_all || wqe->wr.send_flags & IB_SEND_SIGNALED;
}

static void sim_send_done(struct sim_qp *qp, struct sim_swqe *wqe,
			  enum ib_wc_status status)
{
	static const enum ib_wc_opcode opcodes[] = {
		[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
		[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
		[IB_WR_SEND] = IB_WC_SEND,
		[IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
		[IB_WR_RDMA_READ] = IB_WC_RDMA_READ,
		[IB_WR_ATOMIC_CMP_AND_SWP] = IB_WC_COMP_SWAP,
		[IB_WR_ATOMIC_FETCH_AND_ADD] = IB_WC_FETCH_ADD,
		[IB_WR_SEND_WITH_INV] = IB_WC_SEND,
		[IB_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
		[IB_WR_MASKED_ATOMIC_CMP_AND_SWP] = IB_WC_MASKED_COMP_SWAP,
		[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD] = IB_WC_MASKED_FETCH_ADD,
		[IB_WR_REG_MR] = IB_WC_REG_MR,
	};
	struct ib_wc wc = {
		.wr_id = wqe->wr.wr_id,
		.status = status,
		.opcode = opcodes[wqe->wr.opcode],
		.byte_len = sim_send_len(wqe),
		.qp = &qp->ib,
	};

	if (status && status != IB_WC_WR_FLUSH_ERR)
		wc.vendor_err = SIM_VENDOR + status;
	if (status || sim_is_signaled(qp, wqe))
		sim_cq_push(qp->ib.send_cq, &wc, false);
	sim_sq_done(qp);
}

static void sim_flush(struct sim_qp *qp)
{
	struct ib_wc wc = { .status = IB_WC_WR_FLUSH_ERR };
	bool quiet = sim_fault_hit(&to_sim(qp->ib.device)->faults,
				   SIM_F_QUIET_FLUSH, NULL);
	struct sim_rwqe rwqe;
	struct sim_swqe *wqe;

	if (quiet) {
		sim_cq_hide(qp->ib.send_cq);
		sim_cq_hide(qp->ib.recv_cq);
	}
	qp->late = 0;
	while ((wqe = sim_sq_first(qp)))
		sim_send_done(qp, wqe, IB_WC_WR_FLUSH_ERR);
	/* An SRQ's receives stay, for its other QPs. */
	while (!qp->srq && sim_rq_take(&qp->rq, &rwqe))
		sim_recv_done(qp, &rwqe, &wc, false);
	if (quiet)
		sim_qp_event(qp, IB_EVENT_QP_FATAL);
}

/*
 * An answer to a message also answers those before it (IBA 9.7.5.1.2). If no
 * answer came, the oldest unanswered message has failed. Returns the one that
 * has this status.
 */
static struct sim_swqe *sim_catch_up(struct sim_qp *qp, int status)
{
	u32 n = qp->late;

	for (qp->late = 0; n && status != IB_WC_RETRY_EXC_ERR; n--)
		sim_send_done(qp, sim_sq_first(qp), IB_WC_SUCCESS);
	return sim_sq_first(qp);
}

static int sim_wait(struct sim_qp *qp, unsigned long delay)
{
	qp->not_before = jiffies + delay;
	qp->waits = true;
	return SIM_WAITS;
}

/* 4.096 us times 2 to the power of the timeout; 0: for ever (IBA 11.2.4.2) */
static unsigned long sim_ack_timeout(const struct sim_qp *qp)
{
	if (!qp->attr.timeout)
		return MAX_JIFFY_OFFSET;
	return nsecs_to_jiffies(4096ULL << qp->attr.timeout) + 1;
}

static int sim_unanswered(struct sim_qp *qp)
{
	if (!qp->retries)
		return IB_WC_RETRY_EXC_ERR;
	qp->retries--;
	return sim_wait(qp, sim_ack_timeout(qp));
}

/* In units of 10 us (IBA 9.7.5.2.8) */
static unsigned long sim_rnr_units(u8 timer)
{
	if (timer < 2)
		return timer ? 1 : 65536;
	return timer % 2 ? 3UL << (timer - 3) / 2 : 1UL << timer / 2;
}

static int sim_not_ready(struct sim_qp *qp, const struct sim_msg *msg)
{
	if (!qp->rnr_retries)
		return IB_WC_RNR_RETRY_EXC_ERR;
	if (qp->attr.rnr_retry != SIM_FOREVER)
		qp->rnr_retries--;
	return sim_wait(qp, usecs_to_jiffies(10 *
			sim_rnr_units(msg->reply.rnr_timer)) + 1);
}

/* Of any message, or of data that nobody seals */
static bool sim_is_damaged(struct sim_dev *dev, const struct sim_msg *msg)
{
	enum ib_wr_opcode opcode = msg->wqe->wr.opcode;
	bool rdma = opcode == IB_WR_RDMA_WRITE || opcode == IB_WR_RDMA_READ;

	return sim_fault_hit(&dev->faults, SIM_F_CORRUPT, NULL) ||
	       (rdma && sim_fault_hit(&dev->faults, SIM_F_CORRUPT_RDMA, NULL));
}

/* Deliver a message through the fabric; returns the answer that comes back. */
static enum sim_answer sim_transmit(struct sim_qp *qp, struct sim_msg *msg)
{
	struct sim_dev *from = to_sim(qp->ib.device), *to;
	bool twice = sim_fault_hit(&from->faults, SIM_F_DUPLICATE, NULL);
	enum sim_answer answer;
	struct sim_qp *peer;

	if (sim_fault_hit(&from->faults, SIM_F_DROP, NULL))
		return SIM_SILENCE;
	/* Lost, but acknowledged, as by an attacker who knows the PSN. */
	if (sim_fault_hit(&from->faults, SIM_F_SWALLOW, NULL)) {
		msg->reply.psn = msg->psn + msg->npsn - 1;
		return SIM_ACK;
	}
	to = sim_fabric_find(&from->port, msg->av);
	peer = to ? xa_load(&to->qps, qp->attr.dest_qp_num) : NULL;
	if (!peer)
		return SIM_SILENCE;
	msg->corrupt = sim_is_damaged(from, msg);
	answer = sim_rc_receive(peer, msg);
	if (twice && answer == SIM_ACK)
		answer = sim_rc_receive(peer, msg);
	/* The way back may fail when the way there does not. */
	if (sim_fabric_find(&to->port, &peer->av) != from ||
	    sim_fault_hit(&from->faults, SIM_F_LOSE_ACK, NULL))
		return SIM_SILENCE;
	return answer;
}

/*
 * Send to another kernel. Either sim_send_answered() gets the answer later, or
 * the ACK timeout expires.
 */
static int sim_send_out(struct sim_qp *qp, struct sim_msg *msg)
{
	struct sim_dev *dev = to_sim(qp->ib.device);
	u32 mtu = ib_mtu_enum_to_int(qp->attr.path_mtu);
	bool twice = sim_fault_hit(&dev->faults, SIM_F_DUPLICATE, NULL);

	if (qp->out && !qp->retries)
		return IB_WC_RETRY_EXC_ERR;
	if (qp->out)
		qp->retries--;
	qp->out = msg->npsn;
	qp->got = 0;
	if (!sim_fault_hit(&dev->faults, SIM_F_DROP, NULL)) {
		msg->corrupt = sim_is_damaged(dev, msg);
		sim_wire_request(dev, msg, mtu);
		if (twice)
			sim_wire_request(dev, msg, mtu);
	}
	return sim_wait(qp, sim_ack_timeout(qp));
}

/*
 * Does this message go to another kernel? If so, it is cut to as much as the
 * other end can take at once.
 */
static bool sim_goes_out(struct sim_qp *qp, struct sim_msg *msg)
{
	struct sim_dev *dev = to_sim(qp->ib.device);
	u64 most = SIM_WINDOW * ib_mtu_enum_to_int(qp->attr.path_mtu);

	if (!dev->wire || dev->port.state != IB_PORT_ACTIVE ||
	    sim_fabric_find(&dev->port, msg->av))
		return false;
	msg->len = min(msg->len, most);
	return true;
}

/* The part of the message that was sent has been carried out. */
static int sim_acked(struct sim_qp *qp, const struct sim_msg *msg)
{
	qp->sq_psn = (qp->sq_psn + msg->npsn) & SIM_24BIT_MAX;
	if (msg->at + msg->len < msg->total)
		return SIM_MORE;
	return sim_fault_hit(&to_sim(qp->ib.device)->faults, SIM_F_LATE_ACK,
			     NULL) ? SIM_LATE : IB_WC_SUCCESS;
}

static int sim_rc_send(struct sim_qp *qp, struct sim_msg *msg)
{
	u32 mtu = ib_mtu_enum_to_int(qp->attr.path_mtu);
	bool out = sim_goes_out(qp, msg);

	msg->npsn = max_t(u32, 1, DIV_ROUND_UP(msg->len, mtu));
	if (!qp->reply.answer && out)
		return sim_send_out(qp, msg);
	if (qp->reply.answer) {
		msg->reply = qp->reply;
		qp->reply.answer = SIM_SILENCE;
		qp->retries = qp->attr.retry_cnt;
	} else {
		msg->reply.answer = sim_transmit(qp, msg);
	}
	switch (msg->reply.answer) {
	case SIM_ACK:
		/* An ACK of another message says nothing about this one. */
		if ((msg->reply.psn ^ (msg->psn + msg->npsn - 1)) &
		    SIM_24BIT_MAX)
			return sim_unanswered(qp);
		return sim_acked(qp, msg);
	case SIM_NAK:
		return msg->reply.status;
	case SIM_RNR_NAK:
		return sim_not_ready(qp, msg);
	default:
		return sim_unanswered(qp);
	}
}

static int sim_message(struct sim_qp *qp, struct sim_swqe *wqe)
{
	bool brings = sim_brings_data(wqe->wr.opcode);
	const struct sim_port *port = &to_sim(qp->ib.device)->port;
	struct sim_msg msg = {
		.wqe = wqe,
		.av = sim_is_datagram(qp) ? &wqe->av : &qp->av,
		.data = { .dev = to_sim(qp->ib.device), .sge = wqe->sge },
		.from = qp,
		.src_qpn = qp->ib.qp_num,
		.prefix = port->prefix,
		.slid = port->lid,
		.pkey = sim_qp_pkey(qp),
		.roce = port->roce,
		.psn = qp->sq_psn,
		.at = wqe->at,
	};
	int i, ret;

	for (i = 0; i < wqe->wr.num_sge; i++)
		msg.len += wqe->sge[i].length;
	if (msg.len > SIM_MAX_MSG ||
	    (brings && wqe->wr.opcode != IB_WR_RDMA_READ &&
	     (msg.len != sizeof(u64) || wqe->wr.num_sge != 1)))
		return IB_WC_LOC_LEN_ERR;
	if (brings && !qp->attr.max_rd_atomic)
		return IB_WC_LOC_QP_OP_ERR;
	if (!sim_span_check(qp, wqe->sge, wqe->wr.num_sge,
			    brings ? IB_ACCESS_LOCAL_WRITE : 0))
		return IB_WC_LOC_PROT_ERR;
	msg.total = msg.len;
	if (sim_is_datagram(qp))
		return sim_ud_send(qp, &msg);
	msg.len -= msg.at;
	sim_span_skip(&msg.data, msg.at);
	ret = sim_rc_send(qp, &msg);
	if (ret == SIM_MORE) {
		wqe->at += msg.len;
		qp->retries = qp->attr.retry_cnt;
	}
	return ret;
}

/* Faults are applied once per work request, however often it is sent. */
static int sim_first_try(struct sim_qp *qp, struct sim_swqe *wqe)
{
	struct sim_faults *faults = &to_sim(qp->ib.device)->faults;
	int value;

	wqe->tried = true;
	qp->out = 0;
	qp->reply.answer = SIM_SILENCE;
	qp->retries = qp->attr.retry_cnt;
	qp->rnr_retries = qp->attr.rnr_retry;
	if (sim_fault_hit(faults, SIM_F_SEND, &value))
		return value;
	if (sim_fault_hit(faults, SIM_F_DELAY, &value))
		return sim_wait(qp, msecs_to_jiffies(value));
	return IB_WC_SUCCESS;
}

static int sim_try(struct sim_qp *qp, struct sim_swqe *wqe)
{
	int ret = wqe->tried ? 0 : sim_first_try(qp, wqe);

	if (ret)
		return ret;
	switch (wqe->wr.opcode) {
	case IB_WR_REG_MR:
		return sim_mr_register(qp, &wqe->reg) ? IB_WC_SUCCESS :
							IB_WC_MW_BIND_ERR;
	case IB_WR_LOCAL_INV:
		return sim_mr_invalidate(qp, wqe->wr.ex.invalidate_rkey) ?
			IB_WC_SUCCESS : IB_WC_MW_BIND_ERR;
	default:
		return sim_message(qp, wqe);
	}
}

/* Some devices know of unsignaled sends only what a later one tells. */
static bool sim_is_forgotten(const struct sim_qp *qp,
			     const struct sim_swqe *wqe)
{
	return !sim_is_signaled(qp, wqe) &&
	       sim_fault_hit(&to_sim(qp->ib.device)->faults, SIM_F_FORGET,
			     NULL);
}

/* Returns whether there may be more to do now. */
static bool sim_step(struct sim_qp *qp)
{
	struct sim_swqe *wqe;
	int status;

	if (qp->waits && time_before(jiffies, qp->not_before))
		return false;
	qp->waits = false;
	if (qp->state == IB_QPS_ERR) {
		sim_flush(qp);
		return false;
	}
	wqe = sim_sq_first(qp);
	if (!wqe || qp->state != IB_QPS_RTS)
		return false;
	status = sim_try(qp, wqe);
	if (!status && sim_is_forgotten(qp, wqe))
		status = SIM_LATE;
	if (status == SIM_LATE)
		qp->late++;
	if (status < 0)
		return status != SIM_WAITS;
	wqe = sim_catch_up(qp, status);
	/* Some devices report the fatal event before the completion. */
	if (status && sim_fault_hit(&to_sim(qp->ib.device)->faults,
				    SIM_F_FATAL, NULL))
		sim_qp_event(qp, IB_EVENT_QP_FATAL);
	sim_send_done(qp, wqe, status);
	sim_sa_reply(qp);
	if (status)
		sim_qp_fail(qp);
	return true;
}

void sim_send_work(struct work_struct *work)
{
	struct sim_qp *qp = container_of(to_delayed_work(work), struct sim_qp,
					 work);
	unsigned long delay = 0;
	bool again = true;
	int i;

	mutex_lock(&sim_wire);
	for (i = 0; again && i < SIM_BATCH; i++)
		again = sim_step(qp);
	if (qp->waits && (qp->state == IB_QPS_RTS ||
			  qp->state == IB_QPS_ERR)) {
		again = true;
		if (time_before(jiffies, qp->not_before))
			delay = qp->not_before - jiffies;
	}
	/* A move to ERR also holds sim_wire, and then shortens this delay. */
	if (again)
		queue_delayed_work(sim_wq, &qp->work, delay);
	mutex_unlock(&sim_wire);
}

/* Store what a READ or an atomic brings, if that is next in order and fits. */
static bool sim_send_brought(struct sim_qp *qp, const struct sim_swqe *wqe,
			     const struct sim_msg *msg)
{
	struct sim_span to = { .dev = to_sim(qp->ib.device), .sge = wqe->sge };
	u64 at = wqe->at + msg->at, room = 0;
	struct sim_span from = msg->data;
	int i;

	for (i = 0; i < wqe->wr.num_sge; i++)
		room += wqe->sge[i].length;
	if (msg->at != qp->got || at + msg->len > room ||
	    !sim_span_check(qp, wqe->sge, wqe->wr.num_sge,
			    IB_ACCESS_LOCAL_WRITE))
		return false;
	sim_span_skip(&to, at);
	sim_copy(&to, &from, msg->len, false);
	qp->got += msg->len;
	return true;
}

/* An answer from the wire, or a part of one; @last: the last part. */
void sim_send_answered(struct sim_qp *qp, const struct sim_msg *msg, bool last)
{
	struct sim_swqe *wqe = sim_sq_first(qp);
	u32 ahead = (msg->reply.psn - qp->sq_psn) & SIM_24BIT_MAX;

	if (qp->ib.qp_type != IB_QPT_RC || qp->state != IB_QPS_RTS ||
	    !qp->out || !wqe || ahead >= qp->out ||
	    msg->slid != qp->av.dlid || msg->av->grh != qp->av.grh ||
	    !sim_pkey_match(qp, msg->pkey))
		return;
	if (msg->reply.answer == SIM_ACK &&
	    (ahead != qp->out - 1 || (sim_brings_data(wqe->wr.opcode) &&
				      !sim_send_brought(qp, wqe, msg))))
		return;
	if (!last || sim_fault_hit(&to_sim(qp->ib.device)->faults,
				   SIM_F_LOSE_ACK, NULL))
		return;
	qp->reply = msg->reply;
	qp->out = 0;
	qp->waits = false;
	/* Now, so that nothing the peer sends later overtakes the answer. */
	sim_step(qp);
	mod_delayed_work(sim_wq, &qp->work, 0);
}
