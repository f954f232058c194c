// SPDX-License-Identifier: GPL-2.0
#include "window.h"

#include <errno.h>
#include <string.h>

#include "cq.h"
#include "fail.h"
#include "hca.h"
#include "process.h"
#include "rc.h"

#define PAGE		4096
#define WINDOW_AT	1024	/* in the page */
#define WINDOW_LEN	512
#define LIMIT_NS	5000000000ULL
#define MARK		0x5a

#define READ_WRITE	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

enum { OWNER, USER, STRANGER, PEER, NUM_QPS };

/* OWNER binds, its peer USER accesses; STRANGER and PEER are another pair. */
struct trial {
	struct rcv_hca *hca;
	char *err;
	struct ibv_pd *pd;
	struct rcv_cq cq;
	struct ibv_mr *shown, *own;	/* behind the window; the user's own */
	struct ibv_mw *mw;
	uint32_t rkey;
	struct rcv_qp qp[NUM_QPS];
};

static uint8_t shown[PAGE] __attribute__((aligned(PAGE)));
static uint8_t own[PAGE] __attribute__((aligned(PAGE)));

static int failed(struct trial *t, const char *what)
{
	return rcl_fail(t->err, -errno, "cannot %s: %s", what,
			strerror(errno));
}

static int wire(struct trial *t, int from, int to)
{
	struct rcv_wiring w = {
		.port = t->hca->port,
		.access = READ_WRITE,
		.mtu = t->hca->port_attr.active_mtu,
		.ah.port_num = t->hca->port,
		.ah.dlid = t->hca->port_attr.lid,
		.ah.is_global = 1,
		.ah.grh.sgid_index = rcv_hca_gid(t->hca)->index,
		.ah.grh.hop_limit = 64,
		.answer = 1, .initiate = 1, .min_rnr_timer = 12,
		.timeout = 14, .retry = 6, .rnr_retry = 6,
	};
	int ret;

	memcpy(w.ah.grh.dgid.raw, rcv_hca_gid(t->hca)->value,
	       RCLINK_GID_LEN);
	ret = rcv_qp_to_init(&t->qp[from], &w, t->err);
	if (!ret)
		ret = rcv_qp_to_rtr(&t->qp[from], &w, t->qp[to].qp->qp_num,
				    t->qp[to].psn, t->err);
	return ret ? ret : rcv_qp_to_rts(&t->qp[from], &w, t->err);
}

static int create_qps(struct trial *t)
{
	const struct rcv_qp_size size = { .sends = 4, .recvs = 1, .sges = 1 };
	int i, ret = 0;

	for (i = 0; i < NUM_QPS && !ret; i++)
		ret = rcv_qp_create(&t->qp[i], t->pd, t->cq.cq, &size, t->err);
	for (i = 0; i < NUM_QPS && !ret; i++)
		ret = wire(t, i, i ^ 1);
	return ret;
}

static int create(struct trial *t)
{
	int ret;

	t->pd = ibv_alloc_pd(t->hca->ctx);
	if (!t->pd)
		return failed(t, "allocate a protection domain");
	t->shown = ibv_reg_mr(t->pd, shown, PAGE, IBV_ACCESS_LOCAL_WRITE |
			      IBV_ACCESS_MW_BIND);
	t->own = ibv_reg_mr(t->pd, own, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!t->shown || !t->own)
		return rcl_fail(t->err, -errno,
				"cannot register memory: %s; see `ulimit -l`",
				strerror(errno));
	t->mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_2);
	if (!t->mw)
		return failed(t, "allocate a window");
	t->rkey = ibv_inc_rkey(t->mw->rkey);
	ret = rcv_cq_create(&t->cq, t->hca->ctx, 32, 0, t->err);
	return ret ? ret : create_qps(t);
}

/* A bound window goes before its QP and its memory. */
static void destroy(struct trial *t)
{
	int i;

	if (t->mw)
		ibv_dealloc_mw(t->mw);
	for (i = 0; i < NUM_QPS; i++)
		rcv_qp_destroy(&t->qp[i]);
	rcv_cq_destroy(&t->cq);
	if (t->own)
		ibv_dereg_mr(t->own);
	if (t->shown)
		ibv_dereg_mr(t->shown);
	if (t->pd)
		ibv_dealloc_pd(t->pd);
}

/* The status of a work request; negative if it never completed. */
static int status_of(struct trial *t, int qp, struct ibv_send_wr *wr)
{
	uint64_t limit = rcl_now() + LIMIT_NS;
	struct rcv_wc wc;
	int ret;

	wr->send_flags = IBV_SEND_SIGNALED;
	ret = rcv_qp_send(&t->qp[qp], wr);
	if (ret)
		return rcl_fail(t->err, ret, "cannot post: %s",
				strerror(-ret));
	while (rcl_now() < limit) {
		ret = rcv_cq_poll(&t->cq, &wc, 1);
		if (ret < 0)
			return rcl_fail(t->err, ret, "cannot poll");
		if (ret)
			return wc.status;
	}
	return rcl_fail(t->err, -ETIMEDOUT,
			"a work request did not complete in time");
}

static int bind(struct trial *t, unsigned int access)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = t->mw,
			.rkey = t->rkey,
			.bind_info = {
				.mr = t->shown,
				.addr = (uintptr_t)shown + WINDOW_AT,
				.length = WINDOW_LEN,
				.mw_access_flags = access,
			},
		},
	};

	return status_of(t, OWNER, &wr);
}

static int use(struct trial *t, int qp, enum ibv_wr_opcode opcode,
	       uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)own,
		.length = len,
		.lkey = t->own->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = {
			.remote_addr = (uintptr_t)shown + WINDOW_AT,
			.rkey = t->rkey,
		},
	};

	memset(shown, 0, sizeof(shown));
	memset(own, MARK, sizeof(own));
	return status_of(t, qp, &wr);
}

static int invalidate(struct trial *t)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.invalidate_rkey = t->rkey,
	};

	return status_of(t, OWNER, &wr);
}

/* If window is set, its bytes have the mark; no other bytes do. */
static bool written(bool window)
{
	int i;

	for (i = 0; i < PAGE; i++) {
		bool in = i >= WINDOW_AT && i < WINDOW_AT + WINDOW_LEN;

		if (shown[i] != (in && window ? MARK : 0))
			return false;
	}
	return true;
}

static const struct {
	const char *what;
	unsigned int access;
	int qp;
	enum ibv_wr_opcode opcode;
	uint32_t len;
	bool gone;	/* invalidated before use */
	bool works;
} cases[] = {
	{ "a WRITE goes through the window", READ_WRITE, USER,
		IBV_WR_RDMA_WRITE, WINDOW_LEN, false, true },
	{ "a READ goes through the window", READ_WRITE, USER,
		IBV_WR_RDMA_READ, WINDOW_LEN, false, true },
	{ "a WRITE of one byte more is refused", READ_WRITE, USER,
		IBV_WR_RDMA_WRITE, WINDOW_LEN + 1, false, false },
	{ "a WRITE is refused by a window to read", IBV_ACCESS_REMOTE_READ,
		USER, IBV_WR_RDMA_WRITE, WINDOW_LEN, false, false },
	{ "another QP's peer is refused", READ_WRITE, PEER,
		IBV_WR_RDMA_WRITE, WINDOW_LEN, false, false },
	{ "a WRITE is refused once the window is invalid", READ_WRITE, USER,
		IBV_WR_RDMA_WRITE, WINDOW_LEN, true, false },
};

static int not_done(struct trial *t, const char *what, int status)
{
	if (status < 0)
		return status;
	return rcl_fail(t->err, -EIO, "cannot %s: %s", what,
			ibv_wc_status_str(status));
}

/* Returns whether the promise was kept, or a negative errno. */
static int try_one(struct trial *t, unsigned int i)
{
	bool write = cases[i].opcode == IBV_WR_RDMA_WRITE;
	int ret;

	ret = bind(t, cases[i].access);
	if (ret)
		return not_done(t, "bind a window", ret);
	if (cases[i].gone)
		ret = invalidate(t);
	if (ret)
		return not_done(t, "invalidate it", ret);
	ret = use(t, cases[i].qp, cases[i].opcode, cases[i].len);
	if (ret < 0)
		return ret;
	if (!cases[i].works)
		return ret == IBV_WC_REM_ACCESS_ERR && written(false);
	if (write)
		return ret == IBV_WC_SUCCESS && written(true);
	return ret == IBV_WC_SUCCESS && !own[0] && !own[WINDOW_LEN - 1] &&
	       own[WINDOW_LEN] == MARK;
}

/* A refusal leaves QPs in error, so each case has its own. */
int rcv_window_try(struct rcv_hca *hca,
		   void (*told)(void *ctx, const char *what, bool kept),
		   void *ctx, char *err)
{
	unsigned int i;
	int ret = 0;

	if (!rcv_hca_has_windows(hca))
		return rcl_fail(err, -EOPNOTSUPP,
				"%s has no memory windows of type 2; `rclink dev --verbs` shows which device has",
				ibv_get_device_name(hca->ctx->device));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]) && ret >= 0; i++) {
		struct trial t = { .hca = hca, .err = err };

		ret = create(&t);
		if (!ret)
			ret = try_one(&t, i);
		if (ret >= 0)
			told(ctx, cases[i].what, ret);
		destroy(&t);
	}
	return ret < 0 ? ret : 0;
}
