// SPDX-License-Identifier: GPL-2.0
#include "stock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cq.h"
#include "fail.h"
#include "hca.h"
#include "process.h"
#include "rc.h"
#include "stamp.h"
#include "stock_tcp.h"

/* As in ibv_rc_pingpong; the ends must agree on the MTU, not on these. */
#define TIMEOUT		14
#define RETRY		7
#define RNR_TIMER	12
#define FILL		0x7b	/* every byte but, with -c, a page's first */

#define STILL_MS	10000	/* without a completion */
#define LOOK_MS		1000	/* between checks for a removed device */
#define LOOKS		4096	/* at the CQ, between two looks at the clock */
#define WCS		16

enum { SENT = 1, RECEIVED = 2 };	/* wr_id, and bits of pending */

struct stock {
	const struct rcv_stock_args *args;
	struct rcv_stock_result *result;
	char *err;
	struct rcv_hca hca;
	struct ibv_pd *pd;
	struct rcv_cq cq;
	uint8_t *buf;		/* out, then in, each of size bytes */
	size_t page, half;
	struct ibv_mr *mr;
	struct rcv_qp qp;
	uint32_t posted;	/* receives */
	uint32_t sent, received;	/* messages */
	unsigned int pending;
	uint64_t first_stamp, last_stamp;
	uint64_t moved;		/* when something last completed, ns */
	uint64_t looked;	/* whether the device is there, ns */
};

/* rxe takes any MTU up to its largest; what exceeds the port's vanishes. */
static int check_mtu(const struct stock *s)
{
	uint32_t active = rcv_mtu_bytes(s->hca.port_attr.active_mtu);

	if (s->args->mtu <= active)
		return 0;
	return rcl_fail(s->err, -EINVAL,
			"--mtu %u is larger than the port's active one of %u: see `rclink dev --verbs`",
			s->args->mtu, active);
}

static int allocate(struct stock *s)
{
	size_t i;
	int ret;

	s->page = sysconf(_SC_PAGESIZE);
	s->half = (s->args->size + s->page) / s->page * s->page;
	ret = posix_memalign((void **)&s->buf, s->page, 2 * s->half);
	if (ret) {
		s->buf = NULL;
		return rcl_fail(s->err, -ret, "out of memory for messages");
	}
	memset(s->buf, FILL, 2 * s->half);
	for (i = 0; s->args->check && i < s->args->size; i += s->page)
		s->buf[i] = 0;
	s->mr = ibv_reg_mr(s->pd, s->buf, 2 * s->half, IBV_ACCESS_LOCAL_WRITE);
	if (!s->mr)
		return rcl_fail(s->err, -errno,
				"cannot register %zu bytes: %s; see `ulimit -l`",
				2 * s->half, strerror(errno));
	return 0;
}

static int create(struct stock *s)
{
	const struct rcv_stock_args *a = s->args;
	const struct rcv_qp_size size = {
		.sends = 1, .recvs = a->depth, .sges = 1
	};
	const struct rcv_wiring wiring = { .port = s->hca.port };
	unsigned int how = 0;
	int ret;

	s->pd = ibv_alloc_pd(s->hca.ctx);
	if (!s->pd)
		return rcl_fail(s->err, -errno,
				"cannot allocate a protection domain: %s",
				strerror(errno));
	ret = allocate(s);
	if (ret)
		return ret;
	if (a->events)
		how |= RCV_CQ_EVENTS;
	if (a->stamps)
		how |= RCV_CQ_STAMPS;
	ret = rcv_cq_create(&s->cq, s->hca.ctx, a->depth + 1, how, s->err);
	if (!ret)
		ret = rcv_qp_create(&s->qp, s->pd, s->cq.cq, &size, s->err);
	if (!ret)
		ret = rcv_qp_to_init(&s->qp, &wiring, s->err);
	return ret;
}

/* The QP first: nothing may access memory that is freed. */
static void destroy(struct stock *s)
{
	rcv_qp_destroy(&s->qp);
	rcv_cq_destroy(&s->cq);
	if (s->mr)
		ibv_dereg_mr(s->mr);
	free(s->buf);
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	rcv_hca_close(&s->hca);
}

static int post_receives(struct stock *s)
{
	const struct ibv_sge sge = {
		.addr = (uintptr_t)s->buf + s->half,
		.length = s->args->size,
		.lkey = s->mr->lkey,
	};
	int ret;

	for (; s->posted < s->args->depth; s->posted++) {
		ret = rcv_qp_recv(&s->qp, RECEIVED, &sge);
		if (ret)
			return rcl_fail(s->err, ret,
					"cannot post receive %u: %s; try a smaller --depth",
					s->posted + 1, strerror(-ret));
	}
	return 0;
}

static int post_send(struct stock *s)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->buf,
		.length = s->args->size,
		.lkey = s->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = SENT,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	int ret;

	ret = rcv_qp_send(&s->qp, &wr);
	if (ret)
		return rcl_fail(s->err, ret, "cannot post a send: %s",
				strerror(-ret));
	s->sent++;
	s->pending = SENT | RECEIVED;
	return 0;
}

static int wire(struct stock *s)
{
	const struct rcv_stock_dest *remote = &s->result->remote;
	bool roce = s->hca.link_layer == RCLINK_LINK_LAYER_ROCE;
	bool grh = rcv_stock_has_grh(&s->result->local, remote);
	struct rcv_wiring w = {
		.mtu = rcv_mtu(s->args->mtu),
		.ah.dlid = remote->lid,
		.ah.sl = s->args->sl,
		.ah.port_num = s->hca.port,
		.answer = 1,
		.initiate = 1,
		.min_rnr_timer = RNR_TIMER,
		.timeout = TIMEOUT,
		.retry = RETRY,
		.rnr_retry = RETRY,
	};
	int ret;

	if (roce && !grh)
		return rcl_fail(s->err, -EPROTO,
				"the peer sent no GID, which RoCE needs: start ibv_rc_pingpong with -g INDEX");
	if (grh) {
		w.ah.is_global = 1;
		memcpy(w.ah.grh.dgid.raw, remote->gid, sizeof(remote->gid));
		w.ah.grh.sgid_index = rcv_hca_gid(&s->hca)->index;
		w.ah.grh.hop_limit = 64;
	}
	ret = rcv_qp_to_rtr(&s->qp, &w, remote->qpn, remote->psn, s->err);
	return ret ? ret : rcv_qp_to_rts(&s->qp, &w, s->err);
}

static void describe(struct stock *s)
{
	struct rcv_stock_dest *local = &s->result->local;

	snprintf(s->result->device, sizeof(s->result->device), "%s",
		 ibv_get_device_name(s->hca.ctx->device));
	local->lid = s->hca.port_attr.lid;
	local->qpn = s->qp.qp->qp_num;
	local->psn = s->qp.psn;
	if (rcv_stock_says_gid(s->hca.link_layer,
			       s->hca.port_attr.flags & IBV_QPF_GRH_REQUIRED,
			       s->args->gid_index))
		memcpy(local->gid, rcv_hca_gid(&s->hca)->value,
		       sizeof(local->gid));
}

/*
 * The client sends "done" once it has the server's address, and may enter RTS
 * before or after that, because the server is in RTS before it sends its own.
 */
static int exchange(struct stock *s, int fd)
{
	bool client = s->args->host;
	char text[RCV_STOCK_LEN], done[sizeof("done")] = "done";
	int ret = 0;

	rcv_stock_encode(&s->result->local, text);
	if (client)
		ret = rcv_tcp_put(fd, text, sizeof(text), s->err);
	if (!ret)
		ret = rcv_tcp_get(fd, text, sizeof(text), s->err);
	if (!ret)
		ret = rcv_stock_decode(text, &s->result->remote, s->err);
	if (!ret)
		ret = wire(s);
	if (ret)
		return ret;
	if (client)
		return rcv_tcp_put(fd, done, sizeof(done), s->err);
	rcv_stock_encode(&s->result->local, text);
	ret = rcv_tcp_put(fd, text, sizeof(text), s->err);
	return ret ? ret : rcv_tcp_get(fd, done, sizeof(done), s->err);
}

static int take(struct stock *s, const struct rcv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		return rcl_fail(s->err, -EIO,
				"%s failed after %u messages: %s (vendor error 0x%x); are --size and --iters those of the peer?",
				wc->wr_id == SENT ? "a send" : "a receive",
				s->received, ibv_wc_status_str(wc->status),
				wc->vendor_err);
	s->pending &= ~(unsigned int)wc->wr_id;
	if (wc->wr_id == SENT)
		return 0;
	if (wc->len != s->args->size)
		return rcl_fail(s->err, -EPROTO,
				"a message of %u bytes came, not of %u: give both ends the same size",
				wc->len, s->args->size);
	if (!s->received++)
		s->first_stamp = wc->stamp;
	s->last_stamp = wc->stamp;
	s->posted--;
	return s->posted > 1 ? 0 : post_receives(s);
}

static int take_all(struct stock *s)
{
	struct rcv_wc wcs[WCS];
	int i, n, ret = 0;

	n = rcv_cq_poll(&s->cq, wcs, WCS);
	if (n < 0)
		return rcl_fail(s->err, n, "cannot poll: %s", strerror(-n));
	for (i = 0; i < n && !ret; i++) {
		ret = take(s, &wcs[i]);
		if (!ret && !s->pending && s->sent < s->args->iters)
			ret = post_send(s);
	}
	return ret ? ret : n;
}

static int stands_still(struct stock *s)
{
	return rcl_fail(s->err, -ETIMEDOUT,
			"nothing completed for %d s after %u messages; are --size, --iters and --mtu those of the peer, and is UDP port 4791 open?",
			STILL_MS / 1000, s->received);
}

/* Otherwise a removal would wait for this process: see epoch.c. */
static const char *give_up(void *ctx)
{
	const struct stock *s = ctx;

	return rcv_hca_is_gone(&s->hca) ? "the RDMA device was removed" : NULL;
}

static int look(struct stock *s, uint64_t now)
{
	const char *why;

	if (now - s->moved >= STILL_MS * NS_PER_MS)
		return stands_still(s);
	if (now - s->looked < LOOK_MS * NS_PER_MS)
		return 0;
	s->looked = now;
	why = give_up(s);
	return why ? rcl_fail(s->err, -ENODEV, "%s", why) : 0;
}

/* Returns when something may have completed. */
static int wait_more(struct stock *s, uint32_t looks)
{
	int ret;

	if (!s->args->events)
		return looks % LOOKS ? 0 : look(s, rcl_now());
	ret = rcv_cq_wait(&s->cq, LOOK_MS);
	if (!ret || ret == -EINTR)
		ret = rcv_cq_arm(&s->cq);
	if (ret && ret != -ETIMEDOUT)
		return rcl_fail(s->err, ret, "cannot wait: %s", strerror(-ret));
	return look(s, rcl_now());
}

static bool is_done(const struct stock *s)
{
	return s->received >= s->args->iters && s->sent >= s->args->iters &&
	       !(s->pending & SENT);
}

static int rally(struct stock *s)
{
	uint64_t begun = rcl_now();
	uint32_t looks = 0;
	int ret = 0;

	s->moved = begun;
	s->looked = begun;
	s->pending = RECEIVED;
	if (s->args->host)
		ret = post_send(s);
	while (!ret && !is_done(s)) {
		ret = take_all(s);
		if (ret > 0) {
			s->moved = rcl_now();
			ret = look(s, s->moved);
		} else if (!ret) {
			ret = wait_more(s, ++looks);
		}
	}
	s->result->duration = rcl_now() - begun;
	s->result->extended = s->cq.ex;
	s->result->stamps = s->cq.stamps && rcv_hca_has_clock(&s->hca);
	if (s->result->stamps)
		s->result->device_ns =
			rcv_stamps_ns(s->first_stamp, s->last_stamp,
				      s->hca.attr.completion_timestamp_mask,
				      s->hca.attr.hca_core_clock);
	return ret;
}

static int check(struct stock *s)
{
	const uint8_t *in = s->buf + s->half;
	size_t i;

	for (i = 0; s->args->check && i < s->args->size; i += s->page)
		if (in[i])
			return rcl_fail(s->err, -EILSEQ,
					"byte %zu of the last message is %u, not 0; does the peer run with -c?",
					i, in[i]);
	return 0;
}

static int meet(struct stock *s, void (*listening)(uint16_t port))
{
	const struct rcv_stock_args *a = s->args;
	int fd, ret;

	fd = a->host ? rcv_tcp_dial(a->host, a->tcp_port, s->err) :
		       rcv_tcp_answer(a->tcp_port, listening, give_up, s,
				      s->err);
	if (fd < 0)
		return fd;
	ret = exchange(s, fd);
	close(fd);
	return ret;
}

int rcv_stock_run(const struct rcv_stock_args *args,
		  void (*listening)(uint16_t port),
		  struct rcv_stock_result *result, char *err)
{
	struct stock s = { .args = args, .result = result, .err = err };
	const struct rcl_gid_want gid = { args->gid_index, "" };
	int ret;

	memset(result, 0, sizeof(*result));
	ret = rcv_hca_open(&s.hca, args->device, args->port, &gid, err);
	if (ret)
		return ret;
	ret = check_mtu(&s);
	if (!ret)
		ret = create(&s);
	if (!ret)
		ret = post_receives(&s);
	if (!ret) {
		describe(&s);
		ret = meet(&s, listening);
	}
	if (!ret && args->events && rcv_cq_arm(&s.cq))
		ret = rcl_fail(err, -EIO, "cannot ask for events");
	if (!ret)
		ret = rally(&s);
	if (!ret)
		ret = check(&s);
	destroy(&s);
	return ret;
}
