// SPDX-License-Identifier: GPL-2.0
/*
 * The end that connects has the parameters: it shows them in a page with the
 * name of the service, and the other end reads them. The first message of the
 * other end only says that it is ready. Then the messages go back and forth,
 * one at a time.
 */
#include "pong.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epoch.h"
#include "lease.h"
#include "objects.h"
#include "pingpong.h"
#include "process.h"
#include "shown.h"

#define SIGNAL_EVERY	8
#define PAGE		4096
#define FIND_NS		10000000000ULL	/* until the peer shows its page */

enum { RECV, SEND, LAST, READ };	/* work requests */

struct pong {
	struct rcv_epoch *ep;
	struct rcv_lease *lease;	/* NULL before it is granted */
	bool leads;
	struct rcl_pingpong args;
	struct rcl_pingpong_hello *hello;	/* a page of its own */
	struct ibv_mr *hello_mr;
	struct rcv_shown shown;
	uint8_t *mem;			/* out, then in */
	size_t half;
	struct ibv_mr *mr;
	bool rally;			/* the other end is ready */
	bool heard;
	bool last_sent;
	uint32_t posted, sent, received;
	uint64_t begun, duration;	/* ns */
	const struct rcv_pong_user *user;	/* NULL: nobody wants to know */
	void *ctx;
	bool ok;
};

/* Frees p: nothing may touch it after this. */
static void finish(struct pong *p, const char *err)
{
	p->ok = !err;
	rcv_lease_close(p->ep, p->lease, err ? err : "");
}

static int get_hello(struct pong *p)
{
	if (posix_memalign((void **)&p->hello, PAGE, PAGE)) {
		p->hello = NULL;
		return -ENOMEM;
	}
	memset(p->hello, 0, PAGE);
	if (p->leads)
		p->hello_mr = rcv_objects_show(p->ep, p->hello, PAGE,
					       IBV_ACCESS_REMOTE_READ,
					       &p->shown.addr);
	else
		p->hello_mr = ibv_reg_mr(p->ep->pd, p->hello, PAGE,
					 IBV_ACCESS_LOCAL_WRITE);
	return p->hello_mr ? 0 : -ENOMEM;
}

static int get_memory(struct pong *p)
{
	uint32_t i;

	p->half = (p->args.size + PAGE) / PAGE * PAGE;
	if (posix_memalign((void **)&p->mem, PAGE, 2 * p->half)) {
		p->mem = NULL;
		return -ENOMEM;
	}
	memset(p->mem, 0, 2 * p->half);
	for (i = 0; i < p->args.size; i++)
		p->mem[i] = rcl_pingpong_byte(i, p->leads);
	p->mr = ibv_reg_mr(p->ep->pd, p->mem, 2 * p->half,
			   IBV_ACCESS_LOCAL_WRITE);
	return p->mr ? 0 : -ENOMEM;
}

static int post_receives(struct pong *p)
{
	const struct ibv_sge sge = {
		.addr = (uintptr_t)p->mem + p->half,
		.length = p->args.size,
		.lkey = p->mr->lkey,
	};
	int ret = 0;

	for (; p->posted < RCV_LEASE_RECVS && !ret; p->posted++)
		ret = rcv_lease_recv(p->ep, p->lease, RECV, &sge);
	return ret;
}

static int post_send(struct pong *p, uint8_t what, bool signaled)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)p->mem,
		.length = p->args.size,
		.lkey = p->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = signaled ? IBV_SEND_SIGNALED : 0,
	};

	return rcv_lease_send(p->ep, p->lease, what, &wr);
}

static int post_read(struct pong *p, const struct rcv_shown *shown)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)p->hello,
		.length = sizeof(*p->hello),
		.lkey = p->hello_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = shown->addr,
		.wr.rdma.rkey = shown->rkey,
	};

	return rcv_lease_send(p->ep, p->lease, READ, &wr);
}

/* The end that leads is a message ahead until the last has come back. */
static int play(struct pong *p)
{
	uint32_t ahead = p->leads;
	int ret = 0;

	if (p->posted <= RCV_LEASE_RECVS / 2)
		ret = post_receives(p);
	/* A send needs a receive at the peer, and waits until there is one. */
	while (!ret && p->rally && p->heard && p->sent < p->args.iters &&
	       p->sent < p->received + ahead) {
		bool last = ++p->sent == p->args.iters;

		ret = post_send(p, last ? LAST : SEND,
				last || !(p->sent % SIGNAL_EVERY));
	}
	return ret;
}

static const char *wrong(const struct pong *p)
{
	const uint8_t *in = p->mem + p->half;
	uint32_t i;

	for (i = 0; p->args.check && i < p->args.size; i++)
		if (in[i] != rcl_pingpong_byte(i, !p->leads))
			return "the last message came damaged; report it";
	return NULL;
}

/*
 * The answer to the last message shows that it arrived; its completion may come
 * later, and the other end may have gone by then.
 */
static bool is_over(const struct pong *p)
{
	return p->rally && p->received >= p->args.iters &&
	       (p->leads || p->last_sent);
}

static void go_on(struct pong *p)
{
	if (play(p)) {
		finish(p, "the device refused a work request");
	} else if (is_over(p)) {
		p->duration = rcl_now() - p->begun;
		finish(p, wrong(p));
	}
}

static void start_rally(struct pong *p)
{
	p->rally = true;
	p->begun = rcl_now();
}

/* The end that follows has the parameters. Its first message says: ready. */
static int take_hello(struct pong *p)
{
	int ret;

	if (!rcl_pingpong_get(&p->args, p->hello))
		return -EPROTO;
	ret = get_memory(p);
	return ret ? ret : post_receives(p);
}

static void take_message(struct pong *p, uint32_t len)
{
	p->posted--;
	p->heard = true;
	if (p->user)
		p->user->moved(p->ctx);
	if (len != p->args.size) {
		finish(p, "a message of another size came");
		return;
	}
	if (p->rally)
		p->received++;
	else
		start_rally(p);
	go_on(p);
}

static void on_attached(void *ctx, struct rcv_lease *lease)
{
	struct pong *p = ctx;

	p->lease = lease;
	if (p->leads) {
		if (post_receives(p))
			finish(p, "the device refused a receive");
	} else {
		p->begun = rcl_now();
		rcv_lease_import(lease, RCL_PINGPONG_SERVICE);
	}
}

static void on_heard(void *ctx)
{
	struct pong *p = ctx;

	p->heard = true;
	/* Say that this end is ready: the peer can hear it now. */
	if (!p->leads && p->mr && !p->rally) {
		start_rally(p);
		if (post_send(p, SEND, true)) {
			finish(p, "the device refused a work request");
			return;
		}
	}
	if (p->mr)
		go_on(p);
}

static void on_completed(void *ctx, const struct rcv_wc *wc)
{
	struct pong *p = ctx;
	uint8_t what = rcv_lease_what(wc);

	if (wc->status != IBV_WC_SUCCESS) {
		/* A peer that got its last message may be gone already. */
		if (!p->leads && p->rally && p->received >= p->args.iters)
			finish(p, wrong(p));
		else
			finish(p, ibv_wc_status_str(wc->status));
		return;
	}
	if (what == RECV) {
		take_message(p, wc->len);
	} else if (what == READ) {
		if (take_hello(p))
			finish(p, "the peer's parameters make no sense");
		else if (p->heard)
			on_heard(p);
	} else if (what == LAST) {
		p->last_sent = true;
		go_on(p);
	}
}

static void on_imported(void *ctx, const struct rcv_shown *shown)
{
	struct pong *p = ctx;

	if (!shown && rcl_now() - p->begun < FIND_NS)
		rcv_lease_import_later(p->lease, RCL_PINGPONG_SERVICE);
	else if (!shown)
		finish(p, "the peer does not show its parameters");
	else if (shown->first < sizeof(*p->hello) ||
		 !(shown->rights & RCV_RIGHT_READ) || post_read(p, shown))
		finish(p, "the peer's parameters cannot be read");
}

static const struct rcv_shown *on_find(void *ctx, const char *name)
{
	const struct pong *p = ctx;

	return p->leads && !strcmp(name, RCL_PINGPONG_SERVICE) ? &p->shown :
								 NULL;
}

static void on_ended(void *ctx, const char *why)
{
	struct pong *p = ctx;

	if (p->mr)
		ibv_dereg_mr(p->mr);
	if (p->hello_mr)
		ibv_dereg_mr(p->hello_mr);
	if (p->user)
		p->user->done(p->ctx, p->ok ? NULL : why, p->duration);
	free(p->mem);
	free(p->hello);
	free(p);
}

static const struct rcv_lease_ops ops = {
	.attached = on_attached,
	.heard = on_heard,
	.completed = on_completed,
	.imported = on_imported,
	.find = on_find,
	.ended = on_ended,
};

int rcv_pong_lead(struct rcv_epoch *ep, const struct rcl_pingpong *args,
		  const struct rcv_pong_user *user, void *ctx)
{
	struct pong *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->ep = ep;
	p->leads = true;
	p->args = *args;
	if (get_hello(p) || get_memory(p)) {
		on_ended(p, "");
		return -ENOMEM;
	}
	rcl_pingpong_put(args, p->hello);
	p->shown.len = PAGE;
	p->shown.rights = RCV_RIGHT_READ;
	p->shown.rkey = p->hello_mr->rkey;
	p->user = user;
	p->ctx = ctx;
	rcv_lease_open(ep, RCL_PINGPONG_SERVICE, &ops, p);
	rcv_epoch_kick(ep);
	return 0;
}

static void *on_accept(struct rcv_epoch *ep)
{
	struct pong *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->ep = ep;
	if (get_hello(p)) {
		on_ended(p, "");
		return NULL;
	}
	return p;
}

const struct rcv_service rcv_pong_service = {
	.name = RCL_PINGPONG_SERVICE,
	.ops = &ops,
	.accept = on_accept,
};
