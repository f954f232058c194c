// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "compat.h"
#include "sim.h"

int sim_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		   struct ib_udata *udata)
{
	struct sim_dev *dev = to_sim(ib->device);
	struct sim_srq *srq = to_sim_srq(ib);
	int ret = sim_fault_verb(&dev->faults, SIM_F_CREATE_SRQ);

	if (ret)
		return ret;
	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > dev->limits.cqes ||
	    init->attr.max_sge > dev->limits.sges)
		return -EINVAL;
	srq->limit = init->attr.srq_limit;
	return sim_rq_init(&srq->rq, init->attr.max_wr, init->attr.max_sge);
}

int sim_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		   enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct sim_srq *srq = to_sim_srq(ib);
	int ret;

	ret = sim_fault_verb(&to_sim(ib->device)->faults, SIM_F_MODIFY_SRQ);
	if (ret)
		return ret;
	if (mask & IB_SRQ_MAX_WR)
		return -EOPNOTSUPP;
	if (attr->srq_limit > srq->rq.size)
		return -EINVAL;
	mutex_lock(&sim_wire);
	srq->limit = attr->srq_limit;
	mutex_unlock(&sim_wire);
	return 0;
}

int sim_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	struct sim_srq *srq = to_sim_srq(ib);

	mutex_lock(&sim_wire);
	attr->max_wr = srq->rq.size;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	mutex_unlock(&sim_wire);
	return 0;
}

int sim_destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	kvfree(to_sim_srq(ib)->rq.wqe);
	return 0;
}

int sim_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	struct sim_dev *dev = to_sim(ib->device);
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = sim_fault_verb(&dev->faults, SIM_F_POST_SRQ_RECV);
		if (!ret)
			ret = sim_rq_post(&to_sim_srq(ib)->rq, wr);
		if (ret)
			break;
	}
	*bad = wr;
	return ret;
}

void sim_srq_event(struct sim_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ib.device,
		.element.srq = &srq->ib,
		.event = type,
	};
	unsigned long flags;

	local_irq_save(flags);
	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
	local_irq_restore(flags);
}

/* The limit is disarmed when its event is raised (IBA 10.2.9.4). */
bool sim_srq_take(struct sim_srq *srq, struct sim_rwqe *wqe)
{
	bool found = sim_rq_take(&srq->rq, wqe);

	lockdep_assert_held(&sim_wire);
	if (srq->limit && sim_rq_count(&srq->rq) < srq->limit) {
		srq->limit = 0;
		sim_srq_event(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	}
	return found;
}
