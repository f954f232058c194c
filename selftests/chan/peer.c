// SPDX-License-Identifier: GPL-2.0
#include "peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/lib/fail.h"
#include "slow.h"

#define SENDS_AT	(PEER_SLOTS * RCL_MSG_SLOT)
#define BUFFER_AT	(SENDS_AT + PEER_SENDS * RCL_MSG_SLOT)
#define MEM_LEN		(BUFFER_AT + PEER_BUFFER)
#define UP_MS		10000
#define POLL_US		200
#define STILL_MS	100	/* more than one poll takes */
#define RECV		1ULL	/* kinds of work requests, above the slot */
#define SEND		2ULL
#define KIND_SHIFT	32
#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static const struct rcv_qp_size ctrl_size = {
	.sends = PEER_SENDS, .recvs = PEER_SLOTS, .sges = 1,
};

static const struct rcv_qp_size pool_size = {
	.sends = 4, .recvs = 4, .sges = 1,
};

static int post(struct peer *p, uint32_t slot)
{
	const struct ibv_sge sge = {
		.addr = (uintptr_t)p->mem + slot * RCL_MSG_SLOT,
		.length = RCL_MSG_SLOT,
		.lkey = p->mr->lkey,
	};

	return rcv_qp_recv(&p->qp[0], RECV << KIND_SHIFT | slot, &sge);
}

static int get_memory(struct peer *p)
{
	p->pd = ibv_alloc_pd(p->hca.ctx);
	if (!p->pd)
		return -errno;
	if (posix_memalign((void **)&p->mem, sysconf(_SC_PAGESIZE), MEM_LEN))
		return -ENOMEM;
	memset(p->mem, 0, MEM_LEN);
	p->mr = ibv_reg_mr(p->pd, p->mem, MEM_LEN, ACCESS);
	return p->mr ? 0 : -errno;
}

static int get_qps(struct peer *p, char *err)
{
	uint32_t i;
	int ret;

	ret = rcv_cq_create(&p->cq, p->hca.ctx, PEER_SENDS + PEER_SLOTS, 0,
			    err);
	if (!ret)
		ret = rcv_cq_create(&p->pool_cq, p->hca.ctx, 16, RCV_CQ_EVENTS,
				    err);
	for (i = 0; i <= PEER_QPS && !ret; i++) {
		ret = rcv_qp_create(&p->qp[i], p->pd, i ? p->pool_cq.cq :
				    p->cq.cq, i ? &pool_size : &ctrl_size,
				    err);
		if (!ret)
			ret = rcv_qp_to_init(&p->qp[i], &p->wiring, err);
	}
	for (i = 0; i < PEER_SLOTS && !ret; i++)
		ret = post(p, i);
	return ret;
}

static int get(struct peer *p, char *err)
{
	int ret;

	ret = rcv_hca_open(&p->hca, "", 0, &rcl_gid_any, err);
	if (ret)
		return ret;
	p->credits = PEER_SLOTS;
	p->wiring = (struct rcv_wiring){
		.port = p->hca.port,
		.access = ACCESS & ~IBV_ACCESS_LOCAL_WRITE,
		.ah = {
			.port_num = p->hca.port,
			.is_global = 1,
			.grh = {
				.sgid_index = rcv_hca_gid(&p->hca)->index,
				.hop_limit = 64,
			},
		},
		.answer = 1,
		.initiate = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry = 6,
		.rnr_retry = 6,
	};
	ret = get_memory(p);
	return ret ? ret : get_qps(p, err);
}

static void describe(const struct peer *p, struct rcl_end *end)
{
	uint32_t i;

	*end = p->end;
	memcpy(end->gid, rcv_hca_gid(&p->hca)->value, sizeof(end->gid));
	end->rd_atomic = p->wiring.answer;
	end->addr = (uintptr_t)p->mem + BUFFER_AT;
	end->rkey = p->mr->rkey;
	end->length = PEER_BUFFER;
	for (i = 0; i <= PEER_QPS; i++) {
		end->qp[i].qpn = p->qp[i].qp->qp_num;
		end->qp[i].psn = p->qp[i].psn;
	}
}

static int wire(struct peer *p, char *err)
{
	uint32_t i;
	int ret = 0;

	memcpy(p->wiring.ah.grh.dgid.raw, p->end.gid, sizeof(p->end.gid));
	p->wiring.mtu = rcv_mtu(p->end.mtu);
	for (i = 0; i <= PEER_QPS && !ret; i++) {
		ret = rcv_qp_to_rtr(&p->qp[i], &p->wiring, p->end.qp[i].qpn,
				    p->end.qp[i].psn, err);
		if (!ret)
			ret = rcv_qp_to_rts(&p->qp[i], &p->wiring, err);
	}
	return ret;
}

static int meet(struct peer *p, struct genl_sock *s, const char *link,
		uint32_t role, bool beside, char *err)
{
	struct genl_ack ack = { 0 };
	struct rcl_end end;
	int ret;

	ret = beside ? rcl_prepare_beside(s, link, &p->end) :
		       rcl_prepare(s, link, &p->end);
	if (ret)
		return rcl_fail(err, ret, "prepare");
	if (p->end.nqps != 1 + PEER_QPS)
		return rcl_fail(err, -EINVAL, "%u QPs", p->end.nqps);
	describe(p, &end);
	ret = rcl_connect(s, link, p->end.epoch, role, &end, &ack);
	if (ret)
		return rcl_fail(err, ret, "connect: %s", ack.text);
	ret = wire(p, err);
	if (ret)
		return ret;
	ret = rcv_seal_start(&p->seal, rcl_key, role == RCLINK_ROLE_INITIATOR ?
			     RCLINK_ROLE_INITIATOR + 1 : RCLINK_ROLE_INITIATOR,
			     p->end.epoch);
	if (ret)
		return ret;
	ret = rcl_activate(s, link, p->end.epoch, &ack);
	return ret ? rcl_fail(err, ret, "activate: %s", ack.text) : 0;
}

static int begin(struct peer *p, struct genl_sock *s, const char *link,
		 uint32_t role, bool beside)
{
	char err[RCL_ERR_LEN] = "";
	int ret;

	memset(p, 0, sizeof(*p));
	ret = get(p, err);
	if (!ret)
		ret = meet(p, s, link, role, beside, err);
	if (!ret)
		return 0;
	printf("# peer: %s: %s\n", err, strerror(-ret));
	peer_leave(p);
	return ret;
}

int peer_meet(struct peer *p, struct genl_sock *s, const char *link,
	      uint32_t role)
{
	return begin(p, s, link, role, false);
}

int peer_meet_beside(struct peer *p, struct genl_sock *s, const char *link,
		     uint32_t role)
{
	return begin(p, s, link, role, true);
}

void peer_leave(struct peer *p)
{
	uint32_t i;

	for (i = 0; i <= PEER_QPS; i++)
		rcv_qp_destroy(&p->qp[i]);
	rcv_cq_destroy(&p->pool_cq);
	rcv_cq_destroy(&p->cq);
	if (p->mr)
		ibv_dereg_mr(p->mr);
	free(p->mem);
	if (p->pd)
		ibv_dealloc_pd(p->pd);
	rcv_hca_close(&p->hca);
	rcv_seal_wipe(&p->seal);
	memset(p, 0, sizeof(*p));
}

static void poll_cq(struct peer *p)
{
	struct rcv_wc wcs[PEER_SLOTS];
	int i, n;

	n = rcv_cq_poll(&p->cq, wcs, PEER_SLOTS);
	for (i = 0; i < n; i++) {
		uint32_t at = p->arrived % PEER_SLOTS;

		if (wcs[i].status != IBV_WC_SUCCESS) {
			p->failed = true;
		} else if (wcs[i].wr_id >> KIND_SHIFT == SEND) {
			p->completed++;
		} else {
			p->in[at].slot = (uint32_t)wcs[i].wr_id;
			p->in[at].len = wcs[i].len;
			p->arrived++;
		}
	}
}

static int send(struct peer *p, struct ibv_sge *sge, struct ibv_send_wr *wr)
{
	wr->wr_id = SEND << KIND_SHIFT;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	p->sent++;
	return rcv_qp_send(&p->qp[0], wr);
}

int peer_say_text(struct peer *p, const uint8_t *text, uint32_t len)
{
	uint8_t *buf = p->mem + SENDS_AT +
		       p->sent % PEER_SENDS * RCL_MSG_SLOT;
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.lkey = p->mr->lkey,
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	int ret;

	poll_cq(p);
	if (p->failed)
		return -EIO;
	if (p->sent - p->completed == PEER_SENDS)
		return -EAGAIN;
	memcpy(buf + RCL_MSG_AAD, text, len);
	ret = rcv_seal_close(&p->seal, buf, len);
	if (ret < 0)
		return ret;
	sge.length = ret;
	p->credits--;
	return send(p, &sge, &wr);
}

int peer_say(struct peer *p, struct rcl_msg *msg)
{
	uint8_t text[PEER_TEXT];

	msg->credits = p->owed;
	p->owed = 0;
	return peer_say_text(p, text, rcl_msg_encode(text, msg));
}

uint8_t *peer_buffer(const struct peer *p)
{
	return p->mem + BUFFER_AT;
}

int peer_write(struct peer *p, uint32_t from, uint32_t to, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)peer_buffer(p) + from,
		.length = len,
		.lkey = p->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {
			.remote_addr = p->end.addr + to,
			.rkey = p->end.rkey,
		},
	};

	return send(p, &sge, &wr);
}

int peer_write_imm(struct peer *p)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)peer_buffer(p),
		.length = 1,
		.lkey = p->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.wr.rdma = {
			.remote_addr = p->end.addr,
			.rkey = p->end.rkey,
		},
	};

	return send(p, &sge, &wr);
}

static int take(struct peer *p, struct rcl_msg *msg)
{
	uint32_t at = p->heard++ % PEER_SLOTS;
	uint8_t *buf = p->mem + p->in[at].slot * RCL_MSG_SLOT;
	int len, ret;

	len = rcv_seal_open(&p->seal, buf, p->in[at].len);
	if (len < 0)
		return len;
	memcpy(p->text, buf + RCL_MSG_AAD, len);
	ret = rcl_msg_decode(p->text, len, msg);
	if (!ret)
		ret = post(p, p->in[at].slot);
	p->owed++;
	p->credits += msg->credits;
	return ret;
}

int peer_hear(struct peer *p, struct rcl_msg *msg, int ms)
{
	int64_t end = rcl_now_ms() + ms, took;
	bool over;

	do {
		took = rcl_now_ms();
		over = took >= end;
		poll_cq(p);
		if (p->heard != p->arrived)
			return take(p, msg);
		if (p->failed)
			return -EIO;
		if (ms)
			usleep(POLL_US);
		/*
		 * If this process stood still, the module may have done so,
		 * too.
		 */
		took = rcl_now_ms() - took;
		if (took > STILL_MS)
			end += took;
	} while (!over);
	return -ETIMEDOUT;
}

int peer_await(struct peer *p, uint8_t type, struct rcl_msg *msg)
{
	int ret = peer_hear(p, msg, slow(UP_MS));

	if (ret || msg->type == type)
		return ret;
	printf("# peer: type %u instead of %u\n", msg->type, type);
	return -EPROTO;
}

int peer_hello(struct peer *p, struct genl_sock *s, const char *link)
{
	struct rcl_msg hello = {
		.type = RCL_MSG_HELLO, .cookie = RCL_MSG_VERSION,
	};
	struct rcl_msg ack = { .type = RCL_MSG_HELLO_ACK };
	struct rcl_msg msg;
	int ret;

	ret = peer_await(p, RCL_MSG_HELLO, &msg);
	if (!ret)
		ret = peer_say(p, &hello);
	if (!ret)
		ret = peer_say(p, &ack);
	if (!ret)
		ret = peer_await(p, RCL_MSG_HELLO_ACK, &msg);
	return ret ? ret : rcl_until(s, link, RCLINK_LINK_STATE_UP, UP_MS);
}

int peer_renew(struct peer *p, uint32_t i)
{
	char err[RCL_ERR_LEN];
	int ret;

	rcv_qp_destroy(&p->qp[1 + i]);
	ret = rcv_qp_create(&p->qp[1 + i], p->pd, p->pool_cq.cq, &pool_size,
			    err);
	return ret ? ret : rcv_qp_to_init(&p->qp[1 + i], &p->wiring, err);
}

int peer_rewire(struct peer *p, uint32_t i, const struct rcl_msg *msg)
{
	char err[RCL_ERR_LEN];
	int ret;

	ret = rcv_qp_to_rtr(&p->qp[1 + i], &p->wiring, msg->len, msg->seed,
			    err);
	return ret ? ret : rcv_qp_to_rts(&p->qp[1 + i], &p->wiring, err);
}
