// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of work requests. A ring holds as many requests as were asked for, in
 * an array whose size is a power of two, so that indexes can run freely.
 */
#include <linux/log2.h>
#include <linux/slab.h>

#include "compat.h"
#include "sim.h"

/* Freed with kvfree(rq->wqe). */
int sim_rq_init(struct sim_rq *rq, u32 n, u32 sges)
{
	spin_lock_init(&rq->lock);
	if (!n)
		return 0;
	rq->size = n;
	rq->mask = roundup_pow_of_two(n) - 1;
	rq->max_sge = sges;
	rq->wqe = kvcalloc(rq->mask + 1, sizeof(*rq->wqe), GFP_KERNEL);
	return rq->wqe ? 0 : -ENOMEM;
}

int sim_rq_post(struct sim_rq *rq, const struct ib_recv_wr *wr)
{
	struct sim_rwqe *wqe;
	unsigned long flags;
	int ret = -ENOMEM;

	if (wr->num_sge < 0 || wr->num_sge > rq->max_sge)
		return -EINVAL;
	/* irdma takes the first piece, even if there is none. */
	if (!wr->num_sge && wr->sg_list)
		return -EINVAL;
	spin_lock_irqsave(&rq->lock, flags);
	if (rq->head - rq->tail < rq->size) {
		wqe = &rq->wqe[rq->head++ & rq->mask];
		wqe->wr_id = wr->wr_id;
		wqe->num_sge = wr->num_sge;
		memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(*wqe->sge));
		ret = 0;
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return ret;
}

bool sim_rq_take(struct sim_rq *rq, struct sim_rwqe *wqe)
{
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&rq->lock, flags);
	found = rq->head != rq->tail;
	if (found)
		*wqe = rq->wqe[rq->tail++ & rq->mask];
	spin_unlock_irqrestore(&rq->lock, flags);
	return found;
}

u32 sim_rq_count(struct sim_rq *rq)
{
	unsigned long flags;
	u32 n;

	spin_lock_irqsave(&rq->lock, flags);
	n = rq->head - rq->tail;
	spin_unlock_irqrestore(&rq->lock, flags);
	return n;
}

void sim_rq_clear(struct sim_rq *rq)
{
	spin_lock_irq(&rq->lock);
	rq->tail = rq->head;
	spin_unlock_irq(&rq->lock);
}

/* Does the operation bring data to the end that posts it? */
bool sim_brings_data(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return true;
	default:
		return false;
	}
}

static bool sim_wr_ok(struct sim_qp *qp, const struct ib_send_wr *wr)
{
	u32 atomics = to_sim(qp->ib.device)->limits.atomics;

	if (wr->num_sge < 0 || wr->num_sge > qp->max_sge ||
	    wr->send_flags & IB_SEND_INLINE)
		return false;
	/* irdma takes the first piece of a WRITE or READ, as of a receive. */
	if (!wr->num_sge && wr->sg_list && wr->sg_list->length)
		return false;
	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return true;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
	case IB_WR_REG_MR:
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		return qp->ib.qp_type == IB_QPT_RC;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return qp->ib.qp_type == IB_QPT_RC && atomics;
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return qp->ib.qp_type == IB_QPT_RC && atomics > 1;
	default:
		return false;
	}
}

static void sim_swqe_copy(struct sim_swqe *wqe, const struct ib_send_wr *wr,
			  enum ib_qp_type type)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		if (type == IB_QPT_RC)
			break;
		wqe->ud = *ud_wr(wr);
		/* The address handle may be gone when this is sent. */
		wqe->av = container_of(ud_wr(wr)->ah, struct sim_ah, ib)->av;
		return;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		wqe->rdma = *rdma_wr(wr);
		return;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		wqe->atomic = *atomic_wr(wr);
		return;
	case IB_WR_REG_MR:
		wqe->reg = *reg_wr(wr);
		return;
	default:
		break;
	}
	wqe->wr = *wr;
}

static void sim_swqe_fill(struct sim_swqe *wqe, const struct ib_send_wr *wr,
			  enum ib_qp_type type)
{
	sim_swqe_copy(wqe, wr, type);
	memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(*wqe->sge));
	wqe->tried = false;
	wqe->at = 0;
}

int sim_sq_post(struct sim_qp *qp, const struct ib_send_wr *wr)
{
	unsigned long flags;
	int ret = 0;

	if (!sim_wr_ok(qp, wr))
		return -EINVAL;
	spin_lock_irqsave(&qp->lock, flags);
	if (qp->state < IB_QPS_RTS)
		ret = -EINVAL;
	else if (qp->head - qp->tail == qp->size)
		ret = -ENOMEM;
	else
		sim_swqe_fill(&qp->wqe[qp->head++ & qp->mask], wr,
			      qp->ib.qp_type);
	spin_unlock_irqrestore(&qp->lock, flags);
	return ret;
}

/* The oldest request not yet carried out; it stays until sim_sq_done(). */
struct sim_swqe *sim_sq_first(struct sim_qp *qp)
{
	struct sim_swqe *wqe = NULL;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	if (qp->head != qp->tail + qp->late)
		wqe = &qp->wqe[(qp->tail + qp->late) & qp->mask];
	spin_unlock_irqrestore(&qp->lock, flags);
	return wqe;
}

void sim_sq_done(struct sim_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	qp->tail++;
	spin_unlock_irqrestore(&qp->lock, flags);
}

void sim_sq_clear(struct sim_qp *qp)
{
	spin_lock_irq(&qp->lock);
	qp->tail = qp->head;
	spin_unlock_irq(&qp->lock);
}
