// SPDX-License-Identifier: GPL-2.0
#include "self.h"

#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/delay.h>

#define LEN	(3 * SELF_MTU - 5)	/* three packets */
#define HALF	(PAGE_SIZE / 2)

static int connected(struct rig *rig)
{
	return rig_connect(rig, rig->end[1].qp->qp_num, 1);
}

int self_psn(struct rig *rig)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	struct ib_wc wc;

	MUST(!connected(rig));
	memset(a->mem, 0x5a, LEN);
	MUST(!end_recv(b, 8, LEN));
	MUST(!end_send(a, 0, LEN));
	MUST(!end_next(a, &wc) && !wc.status && wc.opcode == IB_WC_SEND);
	MUST(!end_next(b, &wc) && !wc.status && wc.opcode == IB_WC_RECV);
	MUST(wc.byte_len == LEN && wc.wr_id == 8 && wc.qp == b->qp);
	MUST(!memcmp(a->mem, b->mem + 8, LEN));
	MUST(!ib_query_qp(a->qp, &attr, IB_QP_SQ_PSN, &init));
	MUST(attr.sq_psn == ((SELF_PSN + 3) & 0xffffff));
	MUST(!ib_query_qp(b->qp, &attr, IB_QP_RQ_PSN, &init));
	MUST(attr.rq_psn == ((SELF_PSN + 3) & 0xffffff));
	return 0;
}

int self_qpn(struct rig *rig)
{
	struct end *a = &rig->end[0];
	ktime_t begin = ktime_get();
	struct ib_wc wc;

	MUST(!rig_connect(rig, rig->end[1].qp->qp_num ^ 0x800000, 2));
	MUST(!end_send(a, 0, LEN) && !end_send(a, 0, LEN));
	MUST(!end_next(a, &wc) && wc.status == IB_WC_RETRY_EXC_ERR);
	/* Three tries of 16.8 ms; the last one is not waited for. */
	MUST(ktime_ms_delta(ktime_get(), begin) >= 32);
	MUST(!end_next(a, &wc) && wc.status == IB_WC_WR_FLUSH_ERR);
	MUST(end_state(a) == IB_QPS_ERR);
	MUST(!end_recv(a, 0, LEN));
	MUST(!end_next(a, &wc) && wc.status == IB_WC_WR_FLUSH_ERR);
	return 0;
}

int self_rnr(struct rig *rig)
{
	struct end *a = &rig->end[0];
	struct ib_wc wc;

	MUST(!connected(rig));
	MUST(!end_send(a, 0, LEN));
	MUST(!end_next(a, &wc) && wc.status == IB_WC_RNR_RETRY_EXC_ERR);
	MUST(end_state(&rig->end[1]) == IB_QPS_RTS);
	return 0;
}

int self_late(struct rig *rig)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_wc wc;

	/* Retry for ever. */
	MUST(!rig_connect(rig, b->qp->qp_num, 7));
	MUST(!end_send(a, 0, LEN));
	msleep(30);
	MUST(end_is_idle(a));
	MUST(!end_recv(b, 0, LEN));
	MUST(!end_next(a, &wc) && !wc.status);
	MUST(!end_next(b, &wc) && !wc.status && wc.byte_len == LEN);
	return 0;
}

int self_short(struct rig *rig)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_wc wc;

	MUST(!connected(rig));
	MUST(!end_recv(b, 0, LEN - 1) && !end_recv(b, 0, LEN));
	MUST(!end_send(a, 0, LEN));
	MUST(!end_next(a, &wc) && wc.status == IB_WC_REM_INV_REQ_ERR);
	MUST(!end_next(b, &wc) && wc.status == IB_WC_LOC_LEN_ERR);
	MUST(!end_next(b, &wc) && wc.status == IB_WC_WR_FLUSH_ERR);
	MUST(end_state(b) == IB_QPS_ERR);
	return 0;
}

/* Register the second half of the second end's page, use and invalidate it. */
static int keys(struct rig *rig, struct ib_mr *mr)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_rdma_wr write = { .wr.opcode = IB_WR_RDMA_WRITE };
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV };
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	struct scatterlist sg;
	struct ib_wc wc;

	sg_init_one(&sg, b->mem + HALF, HALF);
	sg_dma_address(&sg) = b->dma + HALF;
	sg_dma_len(&sg) = HALF;
	MUST(ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE) == 1);
	ib_update_fast_reg_key(mr, 0x77);
	reg.key = mr->rkey;
	MUST(!ib_post_send(b->qp, &reg.wr, NULL));
	MUST(!end_next(b, &wc) && !wc.status && wc.opcode == IB_WC_REG_MR);

	memset(a->mem, 0xa5, 16);
	write.remote_addr = mr->iova + HALF - 16;
	write.rkey = mr->rkey;
	MUST(!end_post(a, &write.wr, 0, 16));
	MUST(!end_next(a, &wc) && !wc.status);
	MUST(!memcmp(a->mem, b->mem + PAGE_SIZE - 16, 16));

	inv.ex.invalidate_rkey = mr->rkey;
	MUST(!ib_post_send(b->qp, &inv, NULL));
	MUST(!end_next(b, &wc) && !wc.status && wc.opcode == IB_WC_LOCAL_INV);
	MUST(!end_post(a, &write.wr, 0, 16));
	MUST(!end_next(a, &wc) && wc.status == IB_WC_REM_ACCESS_ERR);
	MUST(atomic_read(&b->events[IB_EVENT_QP_ACCESS_ERR]) == 1);
	MUST(end_state(b) == IB_QPS_ERR);
	return 0;
}

int self_keys(struct rig *rig)
{
	struct ib_mr *mr;
	int ret;

	MUST(!connected(rig));
	mr = ib_alloc_mr(rig->end[1].pd, IB_MR_TYPE_MEM_REG, 1);
	MUST(!IS_ERR(mr));
	ret = keys(rig, mr);
	ib_dereg_mr(mr);
	return ret;
}

/* With virtual DMA addresses the device believes any, so do not test it. */
int self_no_ram(struct rig *rig)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	const u64 nowhere = BIT_ULL(46);
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct scatterlist sg;
	struct ib_wc wc;
	struct ib_mr *mr;
	int ret;

	MUST(!connected(rig));
	if (ib_uses_virt_dma(a->ib))
		return 0;
	MUST(virt_to_phys(a->mem) == a->dma);
	mr = ib_alloc_mr(b->pd, IB_MR_TYPE_MEM_REG, 1);
	MUST(!IS_ERR(mr));
	sg_init_one(&sg, b->mem, PAGE_SIZE);
	sg_dma_address(&sg) = nowhere;
	sg_dma_len(&sg) = PAGE_SIZE;
	ret = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	ib_dereg_mr(mr);
	MUST(ret == -EINVAL);
	MUST(!end_recv(b, 0, LEN));
	MUST(!end_post_at(a, &wr, nowhere, LEN));
	MUST(!end_next(a, &wc) && wc.status == IB_WC_LOC_PROT_ERR);
	MUST(end_is_idle(b));
	return 0;
}

int self_solicited(struct rig *rig)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SOLICITED,
	};
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_wc wc;

	MUST(!connected(rig));
	MUST(!end_recv(b, 0, LEN) && !end_recv(b, 0, LEN));
	MUST(!ib_req_notify_cq(b->cq, IB_CQ_SOLICITED));
	MUST(!end_send(a, 0, LEN));
	MUST(!end_next(a, &wc) && !wc.status);
	MUST(!atomic_read(&b->wakes));
	MUST(ib_req_notify_cq(b->cq, IB_CQ_SOLICITED |
			      IB_CQ_REPORT_MISSED_EVENTS) == 1);
	MUST(!end_post(a, &wr, 0, LEN));
	MUST(!end_next(a, &wc) && !wc.status);
	MUST(atomic_read(&b->wakes) == 1);
	return 0;
}

int self_srq(struct rig *rig)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_srq_attr limit = { .srq_limit = 2 };
	struct ib_qp_attr err = { .qp_state = IB_QPS_ERR };
	struct ib_wc wc;

	MUST(!connected(rig));
	MUST(!end_recv(b, 0, LEN) && !end_recv(b, 0, LEN));
	MUST(!ib_modify_srq(b->srq, &limit, IB_SRQ_LIMIT));
	MUST(!end_send(a, 0, LEN) && !end_next(a, &wc) && !wc.status);
	MUST(atomic_read(&b->events[IB_EVENT_SRQ_LIMIT_REACHED]) == 1);
	MUST(!end_send(a, 0, LEN) && !end_next(a, &wc) && !wc.status);
	/* The limit was armed for one event only. */
	MUST(atomic_read(&b->events[IB_EVENT_SRQ_LIMIT_REACHED]) == 1);
	MUST(!end_next(b, &wc) && !wc.status && wc.qp == b->qp);
	MUST(!end_next(b, &wc) && !wc.status);
	MUST(!end_recv(b, 0, LEN));
	MUST(!ib_modify_qp(b->qp, &err, IB_QP_STATE));
	MUST(atomic_read(&b->events[IB_EVENT_QP_LAST_WQE_REACHED]) == 1);
	/* The receive stays in the SRQ for other QPs. */
	MUST(end_is_idle(b));
	return 0;
}
