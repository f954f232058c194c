// SPDX-License-Identifier: GPL-2.0
#include <linux/log2.h>
#include <linux/slab.h>

#include "compat.h"
#include "sim.h"

static int sim_qp_check(struct sim_dev *dev, struct ib_qp_init_attr *attr)
{
	const struct sim_limits *limits = &dev->limits;

	if (attr->qp_type != IB_QPT_RC && attr->qp_type != IB_QPT_UD &&
	    (attr->qp_type != IB_QPT_GSI || !limits->sa))
		return -EOPNOTSUPP;
	if (attr->create_flags)
		return -EOPNOTSUPP;
	if (!attr->cap.max_send_wr || attr->cap.max_send_wr > limits->cqes ||
	    (!attr->srq && attr->cap.max_recv_wr > limits->cqes) ||
	    attr->cap.max_send_sge > limits->sges ||
	    (!attr->srq && attr->cap.max_recv_sge > limits->sges))
		return -EINVAL;
	return 0;
}

static int sim_qp_alloc(struct sim_qp *qp, struct ib_qp_init_attr *attr)
{
	int ret;

	spin_lock_init(&qp->lock);
	INIT_DELAYED_WORK(&qp->work, sim_send_work);
	/* Inline data is not supported. */
	attr->cap.max_inline_data = 0;
	qp->cap = attr->cap;
	qp->max_sge = attr->cap.max_send_sge;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->srq = attr->srq ? to_sim_srq(attr->srq) : NULL;
	qp->state = IB_QPS_RESET;
	qp->size = attr->cap.max_send_wr;
	qp->mask = roundup_pow_of_two(qp->size) - 1;
	qp->wqe = kvcalloc(qp->mask + 1, sizeof(*qp->wqe), GFP_KERNEL);
	if (!qp->wqe)
		return -ENOMEM;
	ret = sim_rq_init(&qp->rq, attr->srq ? 0 : attr->cap.max_recv_wr,
			  attr->cap.max_recv_sge);
	if (ret)
		kvfree(qp->wqe);
	return ret;
}

static void sim_qp_free(struct sim_qp *qp)
{
	kvfree(qp->rq.wqe);
	kvfree(qp->wqe);
}

static int sim_qp_number(struct sim_dev *dev, struct sim_qp *qp,
			 enum ib_qp_type type)
{
	lockdep_assert_held(&sim_wire);
	if (type != IB_QPT_GSI)
		return xa_alloc_cyclic(&dev->qps, &qp->ib.qp_num, qp,
				       XA_LIMIT(16, SIM_24BIT_MAX),
				       &dev->next_qpn, GFP_KERNEL);
	qp->ib.qp_num = SIM_QP1;
	return xa_insert(&dev->qps, SIM_QP1, qp, GFP_KERNEL);
}

int sim_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata)
{
	struct sim_dev *dev = to_sim(ib->device);
	struct sim_qp *qp = to_sim_qp(ib);
	int ret = sim_fault_verb(&dev->faults, SIM_F_CREATE_QP);

	sim_fault_wait(&dev->faults, SIM_F_SLOW_QP);
	if (!ret)
		ret = sim_qp_check(dev, attr);
	if (!ret)
		ret = sim_qp_alloc(qp, attr);
	if (ret)
		return ret;
	mutex_lock(&sim_wire);
	ret = dev->nqps < dev->limits.qps ? 0 : -ENOMEM;
	if (!ret)
		ret = sim_qp_number(dev, qp, attr->qp_type);
	if (ret >= 0)
		dev->nqps++;
	mutex_unlock(&sim_wire);
	if (ret < 0)
		sim_qp_free(qp);
	return min(ret, 0);
}

static void sim_qp_set_state(struct sim_qp *qp, enum ib_qp_state state)
{
	lockdep_assert_held(&sim_wire);
	spin_lock_irq(&qp->lock);
	qp->state = state;
	spin_unlock_irq(&qp->lock);
}

static void sim_qp_forget(struct sim_qp *qp)
{
	if (qp->rq.size)
		sim_rq_clear(&qp->rq);
	sim_sq_clear(qp);
	sim_cq_clean(qp->ib.send_cq, &qp->ib);
	sim_cq_clean(qp->ib.recv_cq, &qp->ib);
	memset(&qp->attr, 0, sizeof(qp->attr));
	memset(&qp->av, 0, sizeof(qp->av));
	kvfree(qp->parts);
	qp->parts = NULL;
	qp->atomic.valid = false;
	qp->waits = false;
	qp->late = 0;
	qp->out = false;
	qp->reply.answer = SIM_SILENCE;
}

static int sim_qp_check_attr(struct sim_qp *qp, const struct ib_qp_attr *attr,
			     int mask)
{
	const struct sim_dev *dev = to_sim(qp->ib.device);

	if (mask & ~IB_QP_ATTR_STANDARD_BITS || mask & IB_QP_ALT_PATH)
		return -EOPNOTSUPP;
	if ((mask & IB_QP_PORT && attr->port_num != dev->limits.port) ||
	    (mask & IB_QP_PKEY_INDEX &&
	     attr->pkey_index >= (dev->port.roce ? 1 : SIM_PKEYS)) ||
	    (mask & IB_QP_PATH_MTU && (attr->path_mtu < IB_MTU_256 ||
	     ib_mtu_enum_to_int(attr->path_mtu) > dev->limits.mtu)) ||
	    (mask & IB_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31) ||
	    (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7))
		return -EINVAL;
	return 0;
}

static void sim_qp_take(struct sim_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		qp->attr.pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		qp->attr.port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		qp->attr.qkey = attr->qkey;
	if (mask & IB_QP_PATH_MTU)
		qp->attr.path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		qp->attr.timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		qp->attr.retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		qp->attr.rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		qp->attr.max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->attr.max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		qp->attr.min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_DEST_QPN)
		qp->attr.dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		qp->rq_psn = attr->rq_psn & SIM_24BIT_MAX;
	if (mask & IB_QP_SQ_PSN)
		qp->sq_psn = attr->sq_psn & SIM_24BIT_MAX;
	if (!(mask & IB_QP_AV))
		return;
	sim_av_fill(&qp->av, &attr->ah_attr);
	qp->attr.ah_attr = attr->ah_attr;
	/* The reference belongs to the RDMA core, which puts it. */
	qp->attr.ah_attr.grh.sgid_attr = NULL;
}

static int sim_qp_modify(struct sim_qp *qp, const struct ib_qp_attr *attr,
			 int mask)
{
	enum ib_qp_state cur = qp->state, next = cur;
	int ret = sim_qp_check_attr(qp, attr, mask);

	if (ret)
		return ret;
	if (mask & IB_QP_STATE)
		next = attr->qp_state;
	if ((mask & IB_QP_CUR_STATE && attr->cur_qp_state != cur) ||
	    !ib_modify_qp_is_ok(cur, next, qp->ib.qp_type, mask))
		return -EINVAL;
	if (next == IB_QPS_RESET) {
		/* The pending work is obsolete. */
		cancel_delayed_work(&qp->work);
		sim_qp_set_state(qp, next);
		sim_qp_forget(qp);
		return 0;
	}
	sim_qp_take(qp, attr, mask);
	if (next == IB_QPS_ERR && cur != IB_QPS_ERR)
		sim_qp_fail(qp);
	else
		sim_qp_set_state(qp, next);
	return 0;
}

int sim_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct sim_faults *faults = &to_sim(ib->device)->faults;
	int ret;

	sim_fault_wait(faults, SIM_F_SLOW_QP);
	ret = sim_fault_verb(faults, SIM_F_MODIFY_QP);
	if (ret)
		return ret;
	mutex_lock(&sim_wire);
	ret = sim_qp_modify(to_sim_qp(ib), attr, mask);
	mutex_unlock(&sim_wire);
	return ret;
}

int sim_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct sim_qp *qp = to_sim_qp(ib);
	int ret;

	ret = sim_fault_verb(&to_sim(ib->device)->faults, SIM_F_QUERY_QP);
	if (ret)
		return ret;
	mutex_lock(&sim_wire);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->sq_psn = qp->sq_psn;
	attr->rq_psn = qp->rq_psn;
	attr->cap = qp->cap;
	mutex_unlock(&sim_wire);
	init->cap = qp->cap;
	init->qp_type = ib->qp_type;
	init->send_cq = ib->send_cq;
	init->recv_cq = ib->recv_cq;
	init->srq = ib->srq;
	init->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	return 0;
}

int sim_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct sim_dev *dev = to_sim(ib->device);
	struct sim_qp *qp = to_sim_qp(ib);
	int ret;

	sim_fault_wait(&dev->faults, SIM_F_SLOW_QP);
	ret = qp->stuck ? 0 : sim_fault_verb(&dev->faults, SIM_F_DESTROY_QP);
	if (ret) {
		qp->stuck = true;
		return ret;
	}
	/* No message finds the QP any more, and no event is raised for it. */
	mutex_lock(&sim_wire);
	xa_erase(&dev->qps, ib->qp_num);
	dev->nqps--;
	sim_qp_set_state(qp, IB_QPS_RESET);
	sim_qp_forget(qp);
	mutex_unlock(&sim_wire);
	cancel_delayed_work_sync(&qp->work);
	sim_qp_free(qp);
	return 0;
}

/* QPs that could not be destroyed end with the device. */
void sim_qp_end_stuck(struct sim_dev *dev)
{
	struct sim_qp *qp;
	unsigned long key;

	xa_for_each(&dev->qps, key, qp) {
		struct ib_pd *pd = qp->ib.pd;
		struct ib_cq *cq = qp->ib.send_cq;

		if (!qp->stuck)
			continue;
		ib_destroy_qp(&qp->ib);
		if (!atomic_read(&cq->usecnt))
			ib_destroy_cq(cq);
		if (!atomic_read(&pd->usecnt))
			ib_dealloc_pd(pd);
	}
}

int sim_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad)
{
	struct sim_dev *dev = to_sim(ib->device);
	struct sim_qp *qp = to_sim_qp(ib);
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = sim_fault_verb(&dev->faults, SIM_F_POST_SEND);
		if (!ret)
			ret = sim_sq_post(qp, wr);
		/* Like bnxt_re, if it has no memory left for an event. */
		if (!ret)
			sim_fault_hit(&dev->faults, SIM_F_SEND_TAKEN, &ret);
		if (ret)
			break;
	}
	*bad = wr;
	/* Even if a request was refused: those before it were taken. */
	queue_delayed_work(sim_wq, &qp->work, 0);
	return ret;
}

int sim_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad)
{
	struct sim_dev *dev = to_sim(ib->device);
	struct sim_qp *qp = to_sim_qp(ib);
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = sim_fault_verb(&dev->faults, SIM_F_POST_RECV);
		if (!ret && (qp->srq || READ_ONCE(qp->state) == IB_QPS_RESET))
			ret = -EINVAL;
		if (!ret)
			ret = sim_rq_post(&qp->rq, wr);
		if (!ret)
			sim_fault_hit(&dev->faults, SIM_F_RECV_TAKEN, &ret);
		if (ret)
			break;
	}
	*bad = wr;
	/* In ERR the receive is to be flushed. */
	queue_delayed_work(sim_wq, &qp->work, 0);
	return ret;
}
