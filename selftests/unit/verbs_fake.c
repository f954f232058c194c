// SPDX-License-Identifier: GPL-2.0
#include "verbs_fake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "hca.h"
#include "process.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define ENTRIES	8192

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc wc[ENTRIES];
	unsigned int there, taken;
};

struct fake_qp fake_ctrl;
uint64_t fake_now = 1000000000ULL;
bool fake_mute, fake_gone;
int fake_no_send, fake_no_recv;

uint64_t rcl_now(void)
{
	return fake_now;
}

const struct fake_send *fake_sent(struct fake_qp *qp)
{
	return qp->seen == qp->sent ? NULL :
				      &qp->send[qp->seen++ % FAKE_POSTS];
}

static void complete(struct ibv_cq *to, const struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)to;

	cq->wc[cq->there++ % ENTRIES] = *wc;
}

void fake_arrive(struct fake_qp *qp, enum ibv_wc_status status,
		 const void *bytes, uint32_t len)
{
	const struct fake_recv *recv = &qp->recv[qp->used++ % FAKE_POSTS];
	const struct ibv_wc wc = {
		.wr_id = recv->wr_id,
		.status = status,
		.vendor_err = status ? FAKE_VENDOR_ERR : 0,
		.opcode = IBV_WC_RECV,
		.byte_len = len,
	};

	if (bytes)
		memcpy(recv->to, bytes, len);
	complete(qp->qp.recv_cq, &wc);
}

static int poll_cq(struct ibv_cq *from, int max, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)from;
	int n;

	for (n = 0; n < max && cq->taken != cq->there; n++)
		wc[n] = cq->wc[cq->taken++ % ENTRIES];
	/* So that who waits for an acknowledgment does not wait for ever. */
	if (fake_mute && !n)
		fake_now += 1000000;
	return n;
}

static int notify_cq(struct ibv_cq *cq, int solicited)
{
	return 0;
}

static void keep(struct fake_send *send, const struct ibv_send_wr *wr)
{
	send->opcode = wr->opcode;
	send->len = wr->num_sge ? wr->sg_list->length : 0;
	if (wr->opcode == IBV_WR_SEND && send->len <= FAKE_BYTES)
		memcpy(send->bytes, (void *)(uintptr_t)wr->sg_list->addr,
		       send->len);
}

static int post_send(struct ibv_qp *to, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad)
{
	struct fake_qp *qp = fake_qp(to);
	const struct ibv_wc wc = { .wr_id = wr->wr_id };

	if (fake_no_send)
		return fake_no_send;
	keep(&qp->send[qp->sent++ % FAKE_POSTS], wr);
	if (wr->send_flags & IBV_SEND_SIGNALED && !fake_mute)
		complete(to->send_cq, &wc);
	return 0;
}

static int post_recv(struct ibv_qp *to, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = fake_qp(to);
	struct fake_recv *recv = &qp->recv[qp->posted % FAKE_POSTS];

	if (fake_no_recv)
		return fake_no_recv;
	qp->posted++;
	recv->wr_id = wr->wr_id;
	recv->to = (void *)(uintptr_t)wr->sg_list->addr;
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));

	channel->context = ctx;
	channel->fd = eventfd(0, EFD_CLOEXEC);
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int entries, void *arg,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *cq = calloc(1, sizeof(*cq));

	cq->cq.context = ctx;
	cq->cq.channel = channel;
	cq->cq.cqe = entries;
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
		     void **ctx)
{
	return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int num)
{
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *e)
{
	return -1;
}

void ibv_ack_async_event(struct ibv_async_event *e)
{
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = ctx;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len,
				uint64_t iova, unsigned int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	mr->addr = addr;
	mr->length = len;
	mr->rkey = 1;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return ibv_reg_mr_iova2(pd, addr, len, 0, access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t len,
			       uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, len, iova, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	free(mr);
	return 0;
}

/* The first QP of an epoch is the control QP. */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	static uint32_t last = 100;
	struct fake_qp *qp = &fake_ctrl;

	if (qp->qp.context)
		qp = calloc(1, sizeof(*qp));
	else
		memset(qp, 0, sizeof(*qp));
	qp->qp.context = pd->context;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.qp_num = ++last;
	return &qp->qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	if (qp == &fake_ctrl.qp)
		qp->context = NULL;
	else
		free(qp);
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	return "failed";
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return "fake0";
}

int rcv_hca_open(struct rcv_hca *hca, const char *name, uint32_t port,
		 const struct rcl_gid_want *want, char *err)
{
	static struct rcl_gid gids[] = {
		{ .value = { [10] = 0xff, 0xff, 10, 0, 0, 1 } },
	};
	struct ibv_context *ctx = calloc(1, sizeof(*ctx));

	ctx->async_fd = eventfd(0, EFD_CLOEXEC);
	ctx->ops.poll_cq = poll_cq;
	ctx->ops.req_notify_cq = notify_cq;
	ctx->ops.post_send = post_send;
	ctx->ops.post_recv = post_recv;
	*hca = (struct rcv_hca){
		.ctx = ctx,
		.port = 1,
		.link_layer = RCLINK_LINK_LAYER_ROCE,
		.port_attr = {
			.max_mtu = IBV_MTU_1024, .active_mtu = IBV_MTU_1024,
			.pkey_tbl_len = 1,
		},
		.attr.orig_attr = {
			.max_qp = 100, .max_qp_rd_atom = 16,
			.max_qp_init_rd_atom = 16,
		},
		.ngids = 1,
		.gids = gids,
	};
	return 0;
}

void rcv_hca_close(struct rcv_hca *hca)
{
	if (hca->ctx)
		close(hca->ctx->async_fd);
	free(hca->ctx);
	hca->ctx = NULL;
}

const struct rcl_gid *rcv_hca_gid(const struct rcv_hca *hca)
{
	return &hca->gids[0];
}

bool rcv_hca_gid_is(const struct rcv_hca *hca, const uint8_t *gid)
{
	return true;
}

bool rcv_hca_is_gone(const struct rcv_hca *hca)
{
	return fake_gone;
}

bool rcv_hca_is_vague(const struct rcv_hca *hca)
{
	return false;
}

int rcv_hca_pkey(const struct rcv_hca *hca, uint32_t index, uint32_t *pkey,
		 char *err)
{
	*pkey = 0;
	return 0;
}

uint32_t rcv_mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

enum ibv_mtu rcv_mtu(uint32_t bytes)
{
	return IBV_MTU_1024;
}
