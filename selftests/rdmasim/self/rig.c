// SPDX-License-Identifier: GPL-2.0
#include "self.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#define RIG_WAIT	(10 * HZ)

static void rig_event(struct ib_event *event, void *context)
{
	struct end *end = context;

	atomic_inc(&end->events[event->event]);
}

static void rig_wake(struct ib_cq *cq, void *context)
{
	struct end *end = context;

	atomic_inc(&end->wakes);
}

static int rig_create_srq(struct end *end)
{
	struct ib_srq_init_attr init = {
		.event_handler = rig_event,
		.srq_context = end,
		.attr.max_wr = SELF_WRS,
		.attr.max_sge = 1,
	};

	end->srq = ib_create_srq(end->pd, &init);
	return PTR_ERR_OR_ZERO(end->srq);
}

static int rig_create_qp(struct end *end, enum ib_qp_type type)
{
	struct ib_qp_init_attr init = {
		.event_handler = rig_event,
		.qp_context = end,
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.srq = end->srq,
		.qp_type = type,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.cap = {
			.max_send_wr = SELF_WRS,
			.max_recv_wr = SELF_WRS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	end->qp = ib_create_qp(end->pd, &init);
	return PTR_ERR_OR_ZERO(end->qp);
}

int end_open(struct end *end, const char *device, enum ib_qp_type type,
	     bool srq)
{
	struct ib_cq_init_attr cq = { .cqe = 4 * SELF_WRS };
	int ret = -ENOMEM;

	end->ib = ib_device_get_by_name(device, RDMA_DRIVER_UNKNOWN);
	if (!end->ib)
		return -ENODEV;
	end->mem = kzalloc(PAGE_SIZE, GFP_KERNEL);
	if (!end->mem)
		goto err_put;
	end->dma = ib_dma_map_single(end->ib, end->mem, PAGE_SIZE,
				     DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(end->ib, end->dma))
		goto err_free;
	end->pd = ib_alloc_pd(end->ib, 0);
	ret = PTR_ERR_OR_ZERO(end->pd);
	if (ret)
		goto err_unmap;
	end->cq = ib_create_cq(end->ib, rig_wake, NULL, end, &cq);
	ret = PTR_ERR_OR_ZERO(end->cq);
	if (ret)
		goto err_dealloc;
	ret = srq ? rig_create_srq(end) : 0;
	if (ret)
		goto err_destroy_cq;
	ret = rig_create_qp(end, type);
	if (!ret)
		return 0;
	if (end->srq)
		ib_destroy_srq(end->srq);
err_destroy_cq:
	ib_destroy_cq(end->cq);
err_dealloc:
	ib_dealloc_pd(end->pd);
err_unmap:
	ib_dma_unmap_single(end->ib, end->dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
err_free:
	kfree(end->mem);
err_put:
	ib_device_put(end->ib);
	return ret;
}

void end_close(struct end *end)
{
	ib_destroy_qp(end->qp);
	if (end->srq)
		ib_destroy_srq(end->srq);
	ib_destroy_cq(end->cq);
	ib_dealloc_pd(end->pd);
	ib_dma_unmap_single(end->ib, end->dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	kfree(end->mem);
	ib_device_put(end->ib);
}

int end_to_init(struct end *end)
{
	bool ud = end->qp->qp_type == IB_QPT_UD;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = SELF_PORT,
		.pkey_index = end->pkey_index,
		.qkey = SELF_QKEY,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE |
				   IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_ATOMIC,
	};

	return ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			    IB_QP_PORT | (ud ? IB_QP_QKEY :
					       IB_QP_ACCESS_FLAGS));
}

/* The LID of the end's port, or 0 */
static u16 end_lid(const struct end *end)
{
	struct ib_port_attr attr;

	return ib_query_port(end->ib, SELF_PORT, &attr) ? 0 : attr.lid;
}

int end_to_rtr(struct end *end, struct end *peer, u32 qpn, u32 psn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = ib_mtu_int_to_enum(SELF_MTU),
		.dest_qp_num = qpn,
		.rq_psn = psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 14,	/* 1.28 ms */
	};

	if (end->qp->qp_type == IB_QPT_UD)
		return ib_modify_qp(end->qp, &attr, IB_QP_STATE);
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_port_num(&attr.ah_attr, SELF_PORT);
	rdma_ah_set_dlid(&attr.ah_attr, end->dlid ? : end_lid(peer));
	return ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_AV |
			    IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			    IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
}

int end_to_rts(struct end *end, u8 retry)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = 12,		/* 16.8 ms */
		.retry_cnt = retry,
		.rnr_retry = retry,
		.sq_psn = SELF_PSN,
		.max_rd_atomic = 1,
	};

	if (end->qp->qp_type == IB_QPT_UD)
		return ib_modify_qp(end->qp, &attr, IB_QP_STATE |
				    IB_QP_SQ_PSN);
	return ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
			    IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			    IB_QP_MAX_QP_RD_ATOMIC);
}

static struct ib_sge end_sge(struct end *end, u64 addr, u32 len)
{
	return (struct ib_sge){
		.addr = addr,
		.length = len,
		.lkey = end->pd->local_dma_lkey,
	};
}

int end_recv(struct end *end, u32 at, u32 len)
{
	struct ib_sge sge = end_sge(end, end->dma + at, len);
	struct ib_recv_wr wr = {
		.wr_id = at,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return end->srq ? ib_post_srq_recv(end->srq, &wr, NULL) :
			  ib_post_recv(end->qp, &wr, NULL);
}

int end_post_at(struct end *end, struct ib_send_wr *wr, u64 addr, u32 len)
{
	struct ib_sge sge = end_sge(end, addr, len);

	wr->sg_list = &sge;
	wr->num_sge = 1;
	return ib_post_send(end->qp, wr, NULL);
}

int end_post(struct end *end, struct ib_send_wr *wr, u32 at, u32 len)
{
	return end_post_at(end, wr, end->dma + at, len);
}

int end_send(struct end *end, u32 at, u32 len)
{
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };

	return end_post(end, &wr, at, len);
}

/* The next completion, or -ETIMEDOUT. */
int end_next(struct end *end, struct ib_wc *wc)
{
	unsigned long until = jiffies + RIG_WAIT;
	int n;

	do {
		n = ib_poll_cq(end->cq, 1, wc);
		if (n)
			return n < 0 ? n : 0;
		usleep_range(100, 500);
	} while (time_before(jiffies, until));
	return -ETIMEDOUT;
}

/* Is there no completion? What was sent has arrived by now, or never will. */
bool end_is_idle(struct end *end)
{
	struct ib_wc wc;

	return ib_poll_cq(end->cq, 1, &wc) == 0;
}

enum ib_qp_state end_state(struct end *end)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (ib_query_qp(end->qp, &attr, IB_QP_STATE, &init))
		return IB_QPS_RESET;
	return attr.qp_state;
}

/* Bring both ends to RTS; the first takes @qpn for the QPN of the second. */
int rig_connect(struct rig *rig, u32 qpn, u8 retry)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];

	MUST(!end_to_init(a) && !end_to_init(b));
	MUST(!end_to_rtr(a, b, qpn, SELF_PSN));
	MUST(!end_to_rtr(b, a, a->qp->qp_num, SELF_PSN));
	MUST(!end_to_rts(a, retry) && !end_to_rts(b, retry));
	return 0;
}

/* Register the end's whole page for the peer; NULL if that fails. */
struct ib_mr *end_register(struct end *end, int access)
{
	struct ib_reg_wr reg = { .wr.opcode = IB_WR_REG_MR, .access = access };
	struct scatterlist sg;
	struct ib_wc wc;

	reg.mr = ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(reg.mr))
		return NULL;
	sg_init_one(&sg, end->mem, PAGE_SIZE);
	sg_dma_address(&sg) = end->dma;
	sg_dma_len(&sg) = PAGE_SIZE;
	if (ib_map_mr_sg(reg.mr, &sg, 1, NULL, PAGE_SIZE) == 1) {
		reg.key = reg.mr->rkey;
		if (!ib_post_send(end->qp, &reg.wr, NULL) &&
		    !end_next(end, &wc) && !wc.status)
			return reg.mr;
	}
	ib_dereg_mr(reg.mr);
	return NULL;
}
