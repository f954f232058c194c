// SPDX-License-Identifier: GPL-2.0
/*
 * The end that accepts. What it shows is there before it posts its first
 * receive, so a peer that waits for that finds it. What a SEND may invalidate
 * is a window, because no registration of a process may be invalidated.
 */
#include "echo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "echo_op.h"
#include "epoch.h"
#include "lease.h"
#include "objects.h"

enum { RECV, SEND, BIND };	/* work requests */

#define BUFFERS	2		/* one receives while the other is sent */

struct echo {
	struct rcv_epoch *ep;
	struct rcv_lease *lease;
	uint8_t *mem;		/* what is shown, then the buffers */
	struct ibv_mr *shown_mr, *mr;
	struct rcv_shown all, once;
	uint32_t receives;	/* the buffer that is posted */
};

/* Frees e: nothing may touch it after this. */
static void finish(struct echo *e, const char *why)
{
	rcv_lease_close(e->ep, e->lease, why);
}

static uint8_t *buffer(const struct echo *e, uint32_t i)
{
	return e->mem + RCV_ECHO_SIZE + i * RCV_ECHO_SIZE;
}

static int get_memory(struct echo *e)
{
	unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_READ;

	/* Aligned, it is one extent at whatever address it is shown. */
	if (posix_memalign((void **)&e->mem, RCV_ECHO_SIZE,
			   (1 + BUFFERS) * RCV_ECHO_SIZE)) {
		e->mem = NULL;
		return -ENOMEM;
	}
	rcv_echo_fill(e->mem, RCV_ECHO_SIZE, false);
	/* A WRITE leaves a buffer as it is, and that goes to the peer, too. */
	memset(buffer(e, 0), 0, BUFFERS * RCV_ECHO_SIZE);
	e->all.len = RCV_ECHO_SIZE;
	e->all.rights = RCV_RIGHT_WRITE | RCV_RIGHT_READ;
	if (e->ep->local.atomics) {
		access |= IBV_ACCESS_REMOTE_ATOMIC;
		e->all.rights |= RCV_RIGHT_ATOMIC;
	}
	if (rcv_hca_has_windows(&e->ep->hca))
		access |= IBV_ACCESS_MW_BIND;
	e->shown_mr = rcv_objects_show(e->ep, e->mem, RCV_ECHO_SIZE, access,
				       &e->all.addr);
	e->mr = ibv_reg_mr(e->ep->pd, buffer(e, 0), BUFFERS * RCV_ECHO_SIZE,
			   IBV_ACCESS_LOCAL_WRITE);
	if (!e->shown_mr || !e->mr)
		return -ENOMEM;
	e->all.rkey = e->shown_mr->rkey;
	return 0;
}

static int post_receive(struct echo *e)
{
	const struct ibv_sge sge = {
		.addr = (uintptr_t)buffer(e, e->receives),
		.length = RCV_ECHO_SIZE,
		.lkey = e->mr->lkey,
	};

	return rcv_lease_recv(e->ep, e->lease, RECV, &sge);
}

static int bind(struct echo *e, struct ibv_mw *mw)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = mw,
			.bind_info = {
				.mr = e->shown_mr,
				.addr = e->all.addr,
				.length = RCV_ECHO_SIZE,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ,
			},
		},
	};

	e->lease->qp->mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	e->once.rkey = wr.bind_mw.rkey;
	return rcv_lease_send(e->ep, e->lease, BIND, &wr);
}

static void show_once(struct echo *e)
{
	e->once.addr = e->all.addr;
	e->once.rights = RCV_RIGHT_READ | RCV_RIGHT_INVALIDATE;
	e->once.len = RCV_ECHO_SIZE;
}

/* Same length, same bytes if any came into the buffer, same immediate. */
static int send_back(struct echo *e, uint32_t from, const struct rcv_wc *wc)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buffer(e, from),
		.length = wc->len,
		.lkey = e->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = sge.length ? 1 : 0,
		.opcode = wc->flags & IBV_WC_WITH_IMM ? IBV_WR_SEND_WITH_IMM :
							IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = wc->imm,
	};

	return rcv_lease_send(e->ep, e->lease, SEND, &wr);
}

/* rxe reports the kernel's flag, which reads as IBV_WC_IP_CSUM_OK here. */
static bool ends_once(const struct echo *e, const struct rcv_wc *wc)
{
	return wc->flags & (IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK) &&
	       e->once.len && wc->imm == e->once.rkey;
}

static void take_message(struct echo *e, const struct rcv_wc *wc)
{
	uint32_t from = e->receives;
	int ret;

	/* A WRITE with immediate may have gone to other memory of the link. */
	if (wc->len > RCV_ECHO_SIZE) {
		finish(e, "a message came that is too long");
		return;
	}
	if (ends_once(e, wc))
		e->once.len = 0;
	e->receives = (from + 1) % BUFFERS;
	ret = post_receive(e);
	if (!ret)
		ret = send_back(e, from, wc);
	if (ret)
		finish(e, "the device refused a work request");
}

static void on_attached(void *ctx, struct rcv_lease *lease)
{
	struct echo *e = ctx;
	struct ibv_mw *mw = NULL;

	e->lease = lease;
	/* The device may have none left. */
	if (rcv_hca_has_windows(&e->ep->hca))
		mw = ibv_alloc_mw(e->ep->pd, IBV_MW_TYPE_2);
	if (mw ? bind(e, mw) : post_receive(e))
		finish(e, "the device refused a work request");
}

static void on_completed(void *ctx, const struct rcv_wc *wc)
{
	struct echo *e = ctx;
	uint8_t what = rcv_lease_what(wc);

	if (wc->status != IBV_WC_SUCCESS) {
		finish(e, ibv_wc_status_str(wc->status));
	} else if (what == RECV) {
		take_message(e, wc);
	} else if (what == BIND) {
		show_once(e);
		if (post_receive(e))
			finish(e, "the device refused a receive");
	}
}

static const struct rcv_shown *on_find(void *ctx, const char *name)
{
	const struct echo *e = ctx;

	if (!strcmp(name, RCV_ECHO_SERVICE))
		return &e->all;
	return e->once.len && !strcmp(name, RCV_ECHO_ONCE) ? &e->once : NULL;
}

static void on_ended(void *ctx, const char *why)
{
	struct echo *e = ctx;

	(void)why;
	if (e->mr)
		ibv_dereg_mr(e->mr);
	if (e->shown_mr)
		ibv_dereg_mr(e->shown_mr);
	free(e->mem);
	free(e);
}

static void *on_accept(struct rcv_epoch *ep)
{
	struct echo *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->ep = ep;
	if (get_memory(e)) {
		on_ended(e, "");
		return NULL;
	}
	return e;
}

static const struct rcv_lease_ops ops = {
	.attached = on_attached,
	.completed = on_completed,
	.find = on_find,
	.ended = on_ended,
};

const struct rcv_service rcv_echo_service = {
	.name = RCV_ECHO_SERVICE,
	.ops = &ops,
	.accept = on_accept,
};
