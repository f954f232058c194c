// SPDX-License-Identifier: GPL-2.0
/*
 * How an RC QP answers a message (IBA 9.7). A message that a wire would lose,
 * that is not for this QP or is out of sequence is not answered, and the sender
 * times out. All of this runs under sim_wire, in the sender's work item.
 */
#include <linux/mm.h>

#include "compat.h"
#include "sim.h"

void sim_qp_event(struct sim_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ib.device,
		.element.qp = &qp->ib,
		.event = type,
	};
	unsigned long flags;

	local_irq_save(flags);
	if (qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
	local_irq_restore(flags);
}

/* Move the QP to ERR; its own work item flushes it. */
void sim_qp_fail(struct sim_qp *qp)
{
	unsigned long flags;
	int ms;

	lockdep_assert_held(&sim_wire);
	qp->waits = sim_fault_hit(&to_sim(qp->ib.device)->faults,
				  SIM_F_SLOW_FLUSH, &ms);
	if (qp->waits)
		qp->not_before = jiffies + msecs_to_jiffies(ms);
	spin_lock_irqsave(&qp->lock, flags);
	qp->state = IB_QPS_ERR;
	spin_unlock_irqrestore(&qp->lock, flags);
	mod_delayed_work(sim_wq, &qp->work, 0);
	if (qp->srq)
		sim_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

bool sim_recv_take(struct sim_qp *qp, struct sim_rwqe *wqe)
{
	return qp->srq ? sim_srq_take(qp->srq, wqe) : sim_rq_take(&qp->rq, wqe);
}

void sim_recv_done(struct sim_qp *qp, const struct sim_rwqe *wqe,
		   struct ib_wc *wc, bool solicited)
{
	wc->wr_id = wqe->wr_id;
	wc->qp = &qp->ib;
	sim_cq_push(qp->ib.recv_cq, wc, solicited);
}

static enum sim_answer sim_nak(struct sim_msg *msg, enum ib_wc_status status)
{
	msg->reply.status = status;
	return SIM_NAK;
}

/* The sender broke a rule: this end fails, too. */
static enum sim_answer sim_refuse(struct sim_qp *qp, struct sim_msg *msg,
				  enum ib_wc_status status)
{
	sim_qp_fail(qp);
	sim_qp_event(qp, status == IB_WC_REM_ACCESS_ERR ?
			 IB_EVENT_QP_ACCESS_ERR : IB_EVENT_QP_REQ_ERR);
	return sim_nak(msg, status);
}

/* A packet does not say from which QP it is, only from which port. */
static bool sim_is_from_peer(const struct sim_qp *qp, const struct sim_msg *msg)
{
	if (msg->av->grh != qp->av.grh)
		return false;
	if (msg->roce)
		return !memcmp(&msg->av->sgid, &qp->av.dgid,
			       sizeof(qp->av.dgid));
	return msg->slid == qp->av.dlid;
}

/* Copy data from the sender to the pieces at @sge, or back. */
static void sim_move(struct sim_qp *qp, const struct sim_msg *msg,
		     const struct ib_sge *sge, bool to_sender)
{
	struct sim_span here = { .dev = to_sim(qp->ib.device), .sge = sge };
	struct sim_span there = msg->data;

	if (to_sender)
		sim_copy(&there, &here, msg->len, msg->corrupt);
	else
		sim_copy(&here, &there, msg->len, msg->corrupt);
}

static void sim_recv_wc(const struct sim_qp *qp, const struct sim_msg *msg,
			struct ib_wc *wc)
{
	const struct ib_send_wr *wr = &msg->wqe->wr;

	wc->opcode = IB_WC_RECV;
	wc->byte_len = msg->total;
	wc->src_qp = msg->src_qpn;
	wc->slid = msg->slid;
	wc->sl = msg->av->sl;
	wc->pkey_index = qp->attr.pkey_index;
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wc->opcode = IB_WC_RECV_RDMA_WITH_IMM;
		fallthrough;
	case IB_WR_SEND_WITH_IMM:
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = wr->ex.imm_data;
		break;
	case IB_WR_SEND_WITH_INV:
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = wr->ex.invalidate_rkey;
		break;
	default:
		break;
	}
}

/* The receive failed, and with it this QP. */
static enum sim_answer sim_recv_failed(struct sim_qp *qp, struct sim_msg *msg,
				       const struct sim_rwqe *wqe,
				       enum ib_wc_status here,
				       enum ib_wc_status there)
{
	struct ib_wc wc = { .status = here };

	sim_recv_done(qp, wqe, &wc, false);
	sim_qp_fail(qp);
	return sim_nak(msg, there);
}

static u64 sim_rwqe_len(const struct sim_rwqe *wqe)
{
	u64 len = 0;
	int i;

	for (i = 0; i < wqe->num_sge; i++)
		len += wqe->sge[i].length;
	return len;
}

/* A message that takes a receive; if @write, its data are not put there. */
static enum sim_answer sim_recv_send(struct sim_qp *qp, struct sim_msg *msg,
				     bool write)
{
	const struct ib_send_wr *wr = &msg->wqe->wr;
	struct ib_wc wc = { .status = IB_WC_SUCCESS };
	struct sim_dev *dev = to_sim(qp->ib.device);
	struct sim_rwqe wqe;
	int status;

	if (!sim_recv_take(qp, &wqe)) {
		msg->reply.rnr_timer = qp->attr.min_rnr_timer;
		return SIM_RNR_NAK;
	}
	if (sim_fault_hit(&dev->faults, SIM_F_RECV, &status))
		return sim_recv_failed(qp, msg, &wqe, status, IB_WC_REM_OP_ERR);
	if (!write && sim_rwqe_len(&wqe) < msg->len)
		return sim_recv_failed(qp, msg, &wqe, IB_WC_LOC_LEN_ERR,
				       IB_WC_REM_INV_REQ_ERR);
	if (!write && !sim_span_check(qp, wqe.sge, wqe.num_sge,
				      IB_ACCESS_LOCAL_WRITE))
		return sim_recv_failed(qp, msg, &wqe, IB_WC_LOC_PROT_ERR,
				       IB_WC_REM_OP_ERR);
	if (!write)
		sim_move(qp, msg, wqe.sge, false);
	if (wr->opcode == IB_WR_SEND_WITH_INV &&
	    !sim_mr_invalidate(qp, wr->ex.invalidate_rkey))
		return sim_recv_failed(qp, msg, &wqe, IB_WC_MW_BIND_ERR,
				       IB_WC_REM_ACCESS_ERR);
	sim_recv_wc(qp, msg, &wc);
	sim_recv_done(qp, &wqe, &wc, wr->send_flags & IB_SEND_SOLICITED);
	return SIM_ACK;
}

/* A part of a message, which takes one receive when all parts are there. */
static enum sim_answer sim_recv_part(struct sim_qp *qp, struct sim_msg *msg)
{
	struct sim_span from = msg->data, to = {};
	struct ib_sge sge = { .length = msg->len };
	enum sim_answer answer;

	if (!msg->at) {
		kvfree(qp->parts);
		qp->nparts = 0;
		qp->parts = kvmalloc(msg->total, GFP_KERNEL);
	}
	if (!qp->parts || msg->at != qp->nparts)
		return SIM_SILENCE;
	sge.addr = (uintptr_t)qp->parts + msg->at;
	to.sge = &sge;
	sim_copy(&to, &from, msg->len, msg->corrupt);
	msg->corrupt = false;
	if (msg->at + msg->len < msg->total) {
		qp->nparts += msg->len;
		return SIM_ACK;
	}
	sge.addr = (uintptr_t)qp->parts;
	sge.length = msg->total;
	msg->data = (struct sim_span) { .sge = &sge };
	msg->len = msg->total;
	answer = sim_recv_send(qp, msg, false);
	if (answer != SIM_RNR_NAK) {
		kvfree(qp->parts);
		qp->parts = NULL;
	}
	return answer;
}

/* The rkey of an access to no bytes is not checked (IBA 9.7.4.1.5). */
static enum sim_answer sim_recv_rdma(struct sim_qp *qp, struct sim_msg *msg,
				     int access)
{
	struct ib_sge sge = {
		.addr = msg->wqe->rdma.remote_addr + msg->at,
		.length = msg->len,
		.lkey = msg->wqe->rdma.rkey,
	};
	bool imm = msg->wqe->wr.opcode == IB_WR_RDMA_WRITE_WITH_IMM &&
		   msg->at + msg->len == msg->total;

	if (!(qp->attr.qp_access_flags & access))
		return sim_refuse(qp, msg, IB_WC_REM_INV_REQ_ERR);
	if (msg->len && !sim_mr_allows(qp, &sge, access))
		return sim_refuse(qp, msg, IB_WC_REM_ACCESS_ERR);
	/* Without a receive the last part is not written, though it could. */
	if (imm && !sim_rq_count(qp->srq ? &qp->srq->rq : &qp->rq)) {
		msg->reply.rnr_timer = qp->attr.min_rnr_timer;
		return SIM_RNR_NAK;
	}
	sim_move(qp, msg, &sge, access == IB_ACCESS_REMOTE_READ);
	if (imm)
		return sim_recv_send(qp, msg, true);
	return SIM_ACK;
}

/* A bit of the mask ends a field: nothing is carried out of it. */
static u64 sim_masked_add(u64 a, u64 b, u64 mask)
{
	u64 sum = 0, carry = 0;
	int i;

	for (i = 0; i < 64; i++) {
		u64 bit = (a >> i & 1) + (b >> i & 1) + carry;

		sum |= (bit & 1) << i;
		carry = mask >> i & 1 ? 0 : bit >> 1;
	}
	return sum;
}

static u64 sim_atomic(const struct ib_atomic_wr *wr, u64 was)
{
	switch (wr->wr.opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return was == wr->compare_add ? wr->swap : was;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return was + wr->compare_add;
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
		if ((was ^ wr->compare_add) & wr->compare_add_mask)
			return was;
		return (was & ~wr->swap_mask) | (wr->swap & wr->swap_mask);
	default:
		return sim_masked_add(was, wr->compare_add,
				      wr->compare_add_mask);
	}
}

static void sim_atomic_result(struct sim_qp *qp, const struct sim_msg *msg)
{
	struct sim_span to = msg->data;

	sim_span_write(&to, &qp->atomic.was, sizeof(qp->atomic.was));
}

/* The answering device must support these atomics, too. */
static bool sim_has_atomic(const struct sim_qp *qp, enum ib_wr_opcode opcode)
{
	u32 atomics = to_sim(qp->ib.device)->limits.atomics;

	switch (opcode) {
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return atomics > 1;
	default:
		return atomics;
	}
}

static enum sim_answer sim_recv_atomic(struct sim_qp *qp, struct sim_msg *msg)
{
	const struct ib_atomic_wr *wr = &msg->wqe->atomic;
	struct ib_sge sge = {
		.addr = wr->remote_addr,
		.length = sizeof(u64),
		.lkey = wr->rkey,
	};
	u64 *word;

	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_ATOMIC) ||
	    !sim_has_atomic(qp, wr->wr.opcode) || sge.addr % sizeof(u64))
		return sim_refuse(qp, msg, IB_WC_REM_INV_REQ_ERR);
	if (!sim_mr_allows(qp, &sge, IB_ACCESS_REMOTE_ATOMIC))
		return sim_refuse(qp, msg, IB_WC_REM_ACCESS_ERR);
	word = sim_mr_word(qp, &sge);
	qp->atomic.was = *word;
	qp->atomic.psn = msg->psn;
	qp->atomic.valid = true;
	*word = sim_atomic(wr, *word);
	sim_atomic_result(qp, msg);
	return SIM_ACK;
}

static enum sim_answer sim_recv_new(struct sim_qp *qp, struct sim_msg *msg)
{
	switch (msg->wqe->wr.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		return msg->len < msg->total ? sim_recv_part(qp, msg) :
					       sim_recv_send(qp, msg, false);
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return sim_recv_rdma(qp, msg, IB_ACCESS_REMOTE_WRITE);
	case IB_WR_RDMA_READ:
		if (!qp->attr.max_dest_rd_atomic)
			return sim_refuse(qp, msg, IB_WC_REM_INV_REQ_ERR);
		return sim_recv_rdma(qp, msg, IB_ACCESS_REMOTE_READ);
	default:
		if (!qp->attr.max_dest_rd_atomic)
			return sim_refuse(qp, msg, IB_WC_REM_INV_REQ_ERR);
		return sim_recv_atomic(qp, msg);
	}
}

/*
 * A message comes again, because its answer was lost: a READ is done again, an
 * atomic has its first result, and all else is acknowledged, but not done,
 * again (IBA 9.7.5.1.2).
 */
static enum sim_answer sim_recv_again(struct sim_qp *qp, struct sim_msg *msg)
{
	switch (msg->wqe->wr.opcode) {
	case IB_WR_RDMA_READ:
		msg->reply.psn = msg->psn + msg->npsn - 1;
		return sim_recv_rdma(qp, msg, IB_ACCESS_REMOTE_READ);
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		if (!qp->atomic.valid || qp->atomic.psn != msg->psn)
			return SIM_SILENCE;
		sim_atomic_result(qp, msg);
		msg->reply.psn = msg->psn;
		return SIM_ACK;
	default:
		msg->reply.psn = qp->rq_psn - 1;
		return SIM_ACK;
	}
}

/* The answer to a message that has arrived at a port. */
enum sim_answer sim_rc_receive(struct sim_qp *qp, struct sim_msg *msg)
{
	enum sim_answer answer;
	u32 ahead = (msg->psn - qp->rq_psn) & SIM_24BIT_MAX;

	if (qp->ib.qp_type != IB_QPT_RC || qp->state < IB_QPS_RTR ||
	    qp->state == IB_QPS_ERR || !sim_is_from_peer(qp, msg) ||
	    !sim_pkey_match(qp, msg->pkey))
		return SIM_SILENCE;
	if (ahead >= BIT(23))
		return sim_recv_again(qp, msg);
	/* A NAK would have a PSN that the sender does not wait for. */
	if (ahead)
		return SIM_SILENCE;
	answer = sim_recv_new(qp, msg);
	if (answer == SIM_ACK) {
		msg->reply.psn = msg->psn + msg->npsn - 1;
		qp->rq_psn = (qp->rq_psn + msg->npsn) & SIM_24BIT_MAX;
	}
	return answer;
}
