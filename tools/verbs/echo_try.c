// SPDX-License-Identifier: GPL-2.0
/*
 * The end that connects. It begins when the other end has posted a receive,
 * which it does once all that it shows is there. An operation is done when it
 * has completed and, if it is of a kind that is answered, was answered; then
 * what it changed is read back, or the memory it invalidated must be gone.
 */
#include "echo.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "echo_op.h"
#include "epoch.h"
#include "fail.h"
#include "lease.h"

#define IMM	0x72636c65
#define NONE	0xff	/* a byte that never occurs */

enum { RECV, ACT, LOOK };	/* work requests */

struct attempt {
	struct rcv_epoch *ep;
	struct rcv_lease *lease;	/* NULL before it is granted */
	const struct rcv_echo_op *op;
	uint32_t size;
	uint8_t *out, *in;
	struct ibv_mr *mr;		/* of both */
	struct rcv_shown shown;
	bool begun, acted, answered;
	rcv_echo_done *done;		/* NULL: nobody wants to know */
	void *ctx;
	bool ok;
};

/* Frees a: nothing may touch it after this. */
static void finish(struct attempt *a, const char *err)
{
	a->ok = !err;
	rcv_lease_close(a->ep, a->lease, err ? err : "");
}

static uint64_t word(bool sent)
{
	uint64_t value;

	rcv_echo_fill((uint8_t *)&value, sizeof(value), sent);
	return value;
}

static void aim(const struct attempt *a, struct ibv_send_wr *wr)
{
	bool cas = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;

	if (wr->opcode == IBV_WR_SEND_WITH_INV) {
		wr->invalidate_rkey = a->shown.rkey;
	} else if (cas || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = a->shown.addr;
		wr->wr.atomic.rkey = a->shown.rkey;
		wr->wr.atomic.compare_add = cas ? word(false) :
						  word(true) - word(false);
		wr->wr.atomic.swap = word(true);
	} else {
		wr->imm_data = htobe32(IMM);
		wr->wr.rdma.remote_addr = a->shown.addr;
		wr->wr.rdma.rkey = a->shown.rkey;
	}
}

static bool gets(uint32_t opcode)
{
	return opcode == IBV_WR_RDMA_READ ||
	       opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static int post(struct attempt *a, uint8_t what, uint32_t opcode)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(gets(opcode) ? a->in : a->out),
		.length = a->size,
		.lkey = a->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};

	aim(a, &wr);
	memset(a->in, NONE, RCV_ECHO_SIZE);
	return rcv_lease_send(a->ep, a->lease, what, &wr);
}

static void act(struct attempt *a)
{
	if (post(a, ACT, a->op->opcode))
		finish(a, "the device refused the work request");
}

static void go_on(struct attempt *a)
{
	if (!a->acted || a->answered != a->op->answered)
		return;
	if (a->op->rights & RCV_RIGHT_INVALIDATE)
		rcv_lease_import(a->lease, rcv_echo_memory(a->op));
	else if (!a->op->changes)
		finish(a, NULL);
	else if (post(a, LOOK, IBV_WR_RDMA_READ))
		finish(a, "the device refused to read it back");
}

static const char *wrong_answer(const struct attempt *a,
				const struct rcv_wc *wc)
{
	bool imm = a->op->opcode == IBV_WR_SEND_WITH_IMM ||
		   a->op->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	if (!a->begun || !a->op->answered || a->answered)
		return "a message came that answers nothing";
	if (wc->opcode != IBV_WC_RECV || wc->len != a->size)
		return "the answer has another size";
	if (!(wc->flags & IBV_WC_WITH_IMM) != !imm ||
	    (imm && be32toh(wc->imm) != IMM))
		return "the answer has another immediate";
	/* Written data is elsewhere. */
	if (!a->op->changes && !rcv_echo_is(a->in, a->size, true))
		return "the answer came damaged; report it";
	return NULL;
}

static void take_answer(struct attempt *a, const struct rcv_wc *wc)
{
	const char *why = wrong_answer(a, wc);

	if (why) {
		finish(a, why);
		return;
	}
	a->answered = true;
	go_on(a);
}

static void on_attached(void *ctx, struct rcv_lease *lease)
{
	struct attempt *a = ctx;
	const struct ibv_sge sge = {
		.addr = (uintptr_t)a->in,
		.length = RCV_ECHO_SIZE,
		.lkey = a->mr->lkey,
	};

	a->lease = lease;
	if (rcv_lease_recv(a->ep, lease, RECV, &sge))
		finish(a, "the device refused a receive");
}

static void on_heard(void *ctx)
{
	struct attempt *a = ctx;

	if (a->begun)
		return;
	a->begun = true;
	if (a->op->rights)
		rcv_lease_import(a->lease, rcv_echo_memory(a->op));
	else
		act(a);
}

static void on_imported(void *ctx, const struct rcv_shown *shown)
{
	struct attempt *a = ctx;
	char err[RCL_ERR_LEN];

	if (a->acted) {
		finish(a, shown ? "the memory that was ended is still there" :
				  NULL);
	} else if (rcv_echo_check(a->op, a->size, shown,
				  a->ep->local.atomics, err)) {
		finish(a, err);
	} else {
		a->shown = *shown;
		act(a);
	}
}

static void on_completed(void *ctx, const struct rcv_wc *wc)
{
	struct attempt *a = ctx;
	uint8_t what = rcv_lease_what(wc);

	if (wc->status != IBV_WC_SUCCESS) {
		finish(a, ibv_wc_status_str(wc->status));
	} else if (what == RECV) {
		take_answer(a, wc);
	} else if (what == LOOK) {
		finish(a, rcv_echo_is(a->in, a->size, true) ? NULL :
			  "the peer has other data than was meant; report it");
	} else if (gets(a->op->opcode) && !rcv_echo_is(a->in, a->size, false)) {
		finish(a, "what came is not what was there; report it");
	} else {
		a->acted = true;
		go_on(a);
	}
}

static void on_ended(void *ctx, const char *why)
{
	struct attempt *a = ctx;

	if (a->mr)
		ibv_dereg_mr(a->mr);
	if (a->done)
		a->done(a->ctx, a->ok ? NULL : why);
	free(a->out);
	free(a);
}

static const struct rcv_lease_ops ops = {
	.attached = on_attached,
	.heard = on_heard,
	.completed = on_completed,
	.imported = on_imported,
	.ended = on_ended,
};

static int get_memory(struct attempt *a)
{
	if (posix_memalign((void **)&a->out, RCV_ECHO_SIZE,
			   2 * RCV_ECHO_SIZE)) {
		a->out = NULL;
		return -ENOMEM;
	}
	a->in = a->out + RCV_ECHO_SIZE;
	rcv_echo_fill(a->out, RCV_ECHO_SIZE, true);
	a->mr = ibv_reg_mr(a->ep->pd, a->out, 2 * RCV_ECHO_SIZE,
			   IBV_ACCESS_LOCAL_WRITE);
	return a->mr ? 0 : -ENOMEM;
}

int rcv_echo_try(struct rcv_epoch *ep, const struct rcv_echo_op *op,
		 uint32_t size, rcv_echo_done *done, void *ctx)
{
	struct attempt *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->ep = ep;
	a->op = op;
	a->size = size;
	if (get_memory(a)) {
		on_ended(a, "");
		return -ENOMEM;
	}
	a->done = done;
	a->ctx = ctx;
	rcv_lease_open(ep, RCV_ECHO_SERVICE, &ops, a);
	rcv_epoch_kick(ep);
	return 0;
}
