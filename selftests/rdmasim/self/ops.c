// SPDX-License-Identifier: GPL-2.0
/* Operations that bring data back */
#include "self.h"

#define LEN	(3 * SELF_MTU - 5)	/* three packets */
#define WAS	0x1122334455667788ULL

static int read(struct rig *rig, struct ib_mr *mr)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	struct ib_rdma_wr wr = {
		.wr.opcode = IB_WR_RDMA_READ,
		.remote_addr = mr->iova + 8,
		.rkey = mr->rkey,
	};
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	struct ib_wc wc;

	memset(b->mem, 0x3c, PAGE_SIZE);
	MUST(!end_post(a, &wr.wr, 16, LEN));
	MUST(!end_next(a, &wc) && !wc.status);
	MUST(wc.opcode == IB_WC_RDMA_READ && wc.byte_len == LEN);
	MUST(!memcmp(a->mem + 16, b->mem, LEN));
	MUST(!a->mem[15] && !a->mem[16 + LEN]);
	/* Each packet of the answer takes a PSN. */
	MUST(!ib_query_qp(a->qp, &attr, IB_QP_SQ_PSN, &init));
	MUST(attr.sq_psn == ((SELF_PSN + 3) & 0xffffff));
	MUST(end_is_idle(b));
	wr.remote_addr = mr->iova + PAGE_SIZE - LEN + 1;
	MUST(!end_post(a, &wr.wr, 16, LEN));
	MUST(!end_next(a, &wc) && wc.status == IB_WC_REM_ACCESS_ERR);
	return 0;
}

/* One atomic: the old value comes back, and @becomes is the new one. */
static int atomic(struct rig *rig, struct ib_mr *mr, struct ib_atomic_wr *wr,
		  u64 becomes)
{
	struct end *a = &rig->end[0], *b = &rig->end[1];
	u64 *word = (u64 *)(b->mem + 8), *back = (u64 *)a->mem;
	u64 before = *word;
	struct ib_wc wc;

	*back = 0;
	wr->remote_addr = mr->iova + 8;
	wr->rkey = mr->rkey;
	MUST(!end_post(a, &wr->wr, 0, sizeof(*back)));
	MUST(!end_next(a, &wc) && !wc.status);
	MUST(*back == before && *word == becomes);
	return 0;
}

static int atomics(struct rig *rig, struct ib_mr *mr)
{
	struct ib_atomic_wr fadd = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
		.compare_add = 5,
	};
	struct ib_atomic_wr cas = {
		.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP,
		.compare_add = WAS,
		.swap = 7,
	};

	*(u64 *)(rig->end[1].mem + 8) = WAS;
	MUST(!atomic(rig, mr, &fadd, WAS + 5));
	MUST(!atomic(rig, mr, &cas, WAS + 5));
	cas.compare_add = WAS + 5;
	MUST(!atomic(rig, mr, &cas, 7));
	return 0;
}

static int masked(struct rig *rig, struct ib_mr *mr)
{
	struct ib_atomic_wr fadd = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.compare_add = 0xff01,
		/* Sums of 8 bits each, none of which carries into the next. */
		.compare_add_mask = 0x8080808080808080ULL,
	};
	struct ib_atomic_wr cas = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		.compare_add = 0x88,
		.compare_add_mask = 0xff,
		.swap = 0xffffffffffffffffULL,
		.swap_mask = 0xf0f0,
	};

	*(u64 *)(rig->end[1].mem + 8) = WAS;
	MUST(!atomic(rig, mr, &fadd, 0x1122334455667689ULL));
	MUST(!atomic(rig, mr, &cas, 0x1122334455667689ULL));
	cas.compare_add = 0x89;
	MUST(!atomic(rig, mr, &cas, 0x112233445566f6f9ULL));
	return 0;
}

static int with_key(struct rig *rig, int access,
		    int (*test)(struct rig *rig, struct ib_mr *mr))
{
	struct end *b = &rig->end[1];
	struct ib_mr *mr;
	int ret;

	MUST(!rig_connect(rig, b->qp->qp_num, 1));
	mr = end_register(b, IB_ACCESS_LOCAL_WRITE | access);
	MUST(mr);
	ret = test(rig, mr);
	ib_dereg_mr(mr);
	return ret;
}

int self_read(struct rig *rig)
{
	return with_key(rig, IB_ACCESS_REMOTE_READ, read);
}

int self_atomics(struct rig *rig)
{
	return with_key(rig, IB_ACCESS_REMOTE_ATOMIC, atomics);
}

int self_masked(struct rig *rig)
{
	return with_key(rig, IB_ACCESS_REMOTE_ATOMIC, masked);
}
