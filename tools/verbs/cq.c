// SPDX-License-Identifier: GPL-2.0
#include "cq.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "fail.h"

#define EVENTS_MAX	64	/* acked together: each ack takes a lock */

static int open_channel(struct rcv_cq *cq, struct ibv_context *ctx, char *err)
{
	int flags;

	cq->channel = ibv_create_comp_channel(ctx);
	if (!cq->channel)
		return rcl_fail(err, -errno,
				"cannot create a completion channel: %s",
				strerror(errno));
	flags = fcntl(cq->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(cq->channel->fd, F_SETFL, flags | O_NONBLOCK))
		return rcl_fail(err, -errno,
				"cannot set up the completion channel: %s",
				strerror(errno));
	return 0;
}

static bool create_extended(struct rcv_cq *cq, struct ibv_context *ctx,
			    int entries, bool stamps)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = entries,
		.channel = cq->channel,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN |
			    (stamps ? IBV_WC_EX_WITH_COMPLETION_TIMESTAMP : 0),
	};

	cq->ex = ibv_create_cq_ex(ctx, &attr);
	if (!cq->ex)
		return false;
	cq->cq = ibv_cq_ex_to_cq(cq->ex);
	cq->stamps = stamps;
	return true;
}

/* Some providers, like that of rxe, have no stamps; some no extended CQs. */
static void create(struct rcv_cq *cq, struct ibv_context *ctx, int entries,
		   bool extended)
{
	if (extended && (create_extended(cq, ctx, entries, true) ||
			 create_extended(cq, ctx, entries, false)))
		return;
	cq->cq = ibv_create_cq(ctx, entries, NULL, cq->channel, 0);
}

int rcv_cq_create(struct rcv_cq *cq, struct ibv_context *ctx, int entries,
		  unsigned int how, char *err)
{
	int ret = 0;

	memset(cq, 0, sizeof(*cq));
	if (how & RCV_CQ_EVENTS)
		ret = open_channel(cq, ctx, err);
	if (!ret) {
		errno = 0;
		create(cq, ctx, entries, how & RCV_CQ_STAMPS);
		if (!cq->cq)
			ret = rcl_fail(err, -rcl_errno(),
				       "cannot create a completion queue of %d entries: %s",
				       entries, strerror(rcl_errno()));
	}
	if (ret)
		rcv_cq_destroy(cq);
	return ret;
}

void rcv_cq_destroy(struct rcv_cq *cq)
{
	if (cq->cq && cq->events)
		ibv_ack_cq_events(cq->cq, cq->events);
	if (cq->cq)
		ibv_destroy_cq(cq->cq);
	if (cq->channel)
		ibv_destroy_comp_channel(cq->channel);
	memset(cq, 0, sizeof(*cq));
}

static void read_extended(struct rcv_cq *cq, struct rcv_wc *wc)
{
	struct ibv_cq_ex *ex = cq->ex;

	memset(wc, 0, sizeof(*wc));
	wc->wr_id = ex->wr_id;
	wc->status = ex->status;
	if (wc->status != IBV_WC_SUCCESS) {
		wc->vendor_err = ibv_wc_read_vendor_err(ex);
		return;
	}
	wc->opcode = ibv_wc_read_opcode(ex);
	wc->flags = ibv_wc_read_wc_flags(ex);
	wc->len = ibv_wc_read_byte_len(ex);
	if (cq->stamps)
		wc->stamp = ibv_wc_read_completion_ts(ex);
}

/*
 * One at a time: when ibv_next_poll() finds no more, rxe's releases its lock,
 * and ibv_end_poll(), which has to follow, releases it again, and moves past a
 * completion that is not there yet.
 */
static int poll_extended(struct rcv_cq *cq, struct rcv_wc *wcs, int num)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int n, ret;

	for (n = 0; n < num; n++) {
		ret = ibv_start_poll(cq->ex, &attr);
		if (ret)
			return n || ret == ENOENT ? n : -ret;
		read_extended(cq, &wcs[n]);
		ibv_end_poll(cq->ex);
	}
	return n;
}

#define AT_ONCE	16

int rcv_cq_poll(struct rcv_cq *cq, struct rcv_wc *wcs, int num)
{
	struct ibv_wc got[AT_ONCE];
	int i, n;

	if (cq->ex)
		return poll_extended(cq, wcs, num);
	n = ibv_poll_cq(cq->cq, num < AT_ONCE ? num : AT_ONCE, got);
	if (n < 0)
		return -EIO;
	for (i = 0; i < n; i++)
		wcs[i] = (struct rcv_wc){
			.wr_id = got[i].wr_id,
			.status = got[i].status,
			.vendor_err = got[i].vendor_err,
			.opcode = got[i].opcode,
			.flags = got[i].wc_flags,
			.len = got[i].byte_len,
			.imm = got[i].imm_data,
		};
	return n;
}

int rcv_cq_arm(struct rcv_cq *cq)
{
	return -ibv_req_notify_cq(cq->cq, 0);
}

void rcv_cq_take_event(struct rcv_cq *cq)
{
	struct ibv_cq *got;
	void *context;

	if (ibv_get_cq_event(cq->channel, &got, &context))
		return;
	if (++cq->events < EVENTS_MAX)
		return;
	ibv_ack_cq_events(cq->cq, cq->events);
	cq->events = 0;
}

int rcv_cq_wait(struct rcv_cq *cq, int ms)
{
	struct pollfd fd = { .fd = cq->channel->fd, .events = POLLIN };
	int ret;

	ret = poll(&fd, 1, ms);
	if (ret < 0)
		return -errno;
	if (!ret)
		return -ETIMEDOUT;
	rcv_cq_take_event(cq);
	return 0;
}
