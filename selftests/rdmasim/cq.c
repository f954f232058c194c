// SPDX-License-Identifier: GPL-2.0
#include <linux/bottom_half.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "compat.h"
#include "sim.h"

int sim_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		  struct sim_cq_udata *udata)
{
	struct sim_dev *dev = to_sim(ib->device);
	struct sim_cq *cq = to_sim_cq(ib);
	int ret = sim_fault_verb(&dev->faults, SIM_F_CREATE_CQ);

	if (ret)
		return ret;
	if (!attr->cqe || attr->cqe > dev->limits.cqes)
		return -EINVAL;
	spin_lock_init(&cq->lock);
	cq->size = attr->cqe;
	cq->mask = roundup_pow_of_two(cq->size) - 1;
	cq->wc = kvcalloc(cq->mask + 1, sizeof(*cq->wc), GFP_KERNEL);
	if (!cq->wc)
		return -ENOMEM;
	ib->cqe = attr->cqe;
	return 0;
}

int sim_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	kvfree(to_sim_cq(ib)->wc);
	return 0;
}

int sim_poll_cq(struct ib_cq *ib, int n, struct ib_wc *wc)
{
	struct sim_cq *cq = to_sim_cq(ib);
	unsigned long flags;
	int i, ret;

	ret = sim_fault_verb(&to_sim(ib->device)->faults, SIM_F_POLL_CQ);
	if (ret)
		return ret;
	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < n && cq->head != cq->tail; i++)
		wc[i] = cq->wc[cq->tail++ & cq->mask];
	cq->hidden &= cq->head != cq->tail;
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

int sim_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	struct sim_cq *cq = to_sim_cq(ib);
	unsigned long irq;
	int ret;

	ret = sim_fault_verb(&to_sim(ib->device)->faults, SIM_F_REQ_NOTIFY_CQ);
	if (ret)
		return ret;
	spin_lock_irqsave(&cq->lock, irq);
	ret = flags & IB_CQ_REPORT_MISSED_EVENTS && cq->head != cq->tail &&
	      !cq->hidden;
	/*
	 * A request for less does not replace an earlier one for more. Like
	 * bnxt_re, arm nothing where the caller is told to look again.
	 */
	if (!ret && cq->armed != IB_CQ_NEXT_COMP)
		cq->armed = flags & IB_CQ_SOLICITED_MASK;
	spin_unlock_irqrestore(&cq->lock, irq);
	return ret;
}

/* What is pushed next wakes nobody, and arming the CQ does not tell of it. */
void sim_cq_hide(struct ib_cq *ib)
{
	struct sim_cq *cq = to_sim_cq(ib);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = 0;
	cq->hidden = true;
	spin_unlock_irqrestore(&cq->lock, flags);
}

void sim_cq_event(struct ib_cq *ib, enum ib_event_type type)
{
	struct ib_event event = {
		.device = ib->device,
		.element.cq = ib,
		.event = type,
	};
	unsigned long flags;

	local_irq_save(flags);
	if (ib->event_handler)
		ib->event_handler(&event, ib->cq_context);
	local_irq_restore(flags);
}

/* As from an interrupt; softirqs that it raises run at local_bh_enable(). */
static void sim_cq_tell(struct ib_cq *ib)
{
	unsigned long flags;

	local_bh_disable();
	local_irq_save(flags);
	if (ib->comp_handler)
		ib->comp_handler(ib, ib->cq_context);
	local_irq_restore(flags);
	local_bh_enable();
}

static bool sim_cq_wakes(struct sim_cq *cq, const struct ib_wc *wc,
			 bool solicited)
{
	bool wakes = cq->armed == IB_CQ_NEXT_COMP ||
		     (cq->armed == IB_CQ_SOLICITED &&
		      (solicited || wc->status));

	if (wakes)
		cq->armed = 0;
	return wakes;
}

/* Called under sim_wire, so that a QP that is gone completes nothing. */
void sim_cq_push(struct ib_cq *ib, const struct ib_wc *wc, bool solicited)
{
	struct sim_cq *cq = to_sim_cq(ib);
	bool wakes = false, overrun = false;
	unsigned long flags;

	lockdep_assert_held(&sim_wire);
	spin_lock_irqsave(&cq->lock, flags);
	if (cq->head - cq->tail == cq->size) {
		overrun = !cq->overrun;
		cq->overrun = true;
	} else {
		cq->wc[cq->head++ & cq->mask] = *wc;
		wakes = sim_cq_wakes(cq, wc, solicited);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	if (overrun)
		sim_cq_event(ib, IB_EVENT_CQ_ERR);
	if (wakes)
		sim_cq_tell(ib);
}

/* A QP that is reset or destroyed leaves no completion behind. */
void sim_cq_clean(struct ib_cq *ib, const struct ib_qp *qp)
{
	struct sim_cq *cq = to_sim_cq(ib);
	unsigned long flags;
	u32 from, to;

	spin_lock_irqsave(&cq->lock, flags);
	to = cq->tail;
	for (from = cq->tail; from != cq->head; from++)
		if (cq->wc[from & cq->mask].qp != qp)
			cq->wc[to++ & cq->mask] = cq->wc[from & cq->mask];
	cq->head = to;
	spin_unlock_irqrestore(&cq->lock, flags);
}
