// SPDX-License-Identifier: GPL-2.0
#include "ctrl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "process.h"

#define MEM_LEN		(2 * RCL_CTRL_SLOTS * RCL_MSG_SLOT)

static uint8_t *rx_slot(const struct rcv_ctrl *ctrl, uint32_t slot)
{
	return ctrl->mem + slot * RCL_MSG_SLOT;
}

static uint8_t *tx_slot(const struct rcv_ctrl *ctrl, uint32_t number)
{
	return rx_slot(ctrl, RCL_CTRL_SLOTS + number % RCL_CTRL_SLOTS);
}

int rcv_ctrl_create(struct rcv_ctrl *ctrl, struct ibv_pd *pd,
		    struct rcv_qp *qp, char *err)
{
	ctrl->qp = qp;
	rcl_credit_init(&ctrl->credit);
	if (posix_memalign((void **)&ctrl->mem, sysconf(_SC_PAGESIZE),
			   MEM_LEN)) {
		ctrl->mem = NULL;
		return rcl_fail(err, -ENOMEM,
				"out of memory for control messages");
	}
	memset(ctrl->mem, 0, MEM_LEN);
	ctrl->mr = ibv_reg_mr(pd, ctrl->mem, MEM_LEN, IBV_ACCESS_LOCAL_WRITE);
	if (!ctrl->mr)
		return rcl_fail(err, -errno,
				"cannot register the memory of control messages: %s; see `ulimit -l`",
				strerror(errno));
	return 0;
}

void rcv_ctrl_destroy(struct rcv_ctrl *ctrl)
{
	if (ctrl->mr)
		ibv_dereg_mr(ctrl->mr);
	if (ctrl->mem)
		explicit_bzero(ctrl->mem, MEM_LEN);
	free(ctrl->mem);
	rcv_seal_wipe(&ctrl->seal);
	memset(ctrl, 0, sizeof(*ctrl));
}

static int post(struct rcv_ctrl *ctrl, uint32_t slot)
{
	const struct ibv_sge sge = {
		.addr = (uintptr_t)rx_slot(ctrl, slot),
		.length = RCL_MSG_SLOT,
		.lkey = ctrl->mr->lkey,
	};

	return rcv_qp_recv(ctrl->qp, rcv_wr_id(RCV_WR_CTRL_RECV, slot), &sge);
}

int rcv_ctrl_post(struct rcv_ctrl *ctrl)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < RCL_CTRL_SLOTS && !ret; i++)
		ret = post(ctrl, i);
	return ret;
}

int rcv_ctrl_start(struct rcv_ctrl *ctrl, const uint8_t *key, uint32_t role,
		   uint64_t epoch)
{
	int ret = rcv_seal_start(&ctrl->seal, key, role, epoch);

	ctrl->started = !ret;
	return ret;
}

bool rcv_ctrl_completed(struct rcv_ctrl *ctrl, const struct rcv_wc *wc)
{
	uint32_t number = wc->wr_id;
	uint32_t i;

	if (wc->wr_id >> RCV_WR_SHIFT == RCV_WR_CTRL_SEND) {
		ctrl->retired = number + 1;
		return true;
	}
	/* Of a WRITE with immediate, len is what it wrote elsewhere. */
	if (wc->opcode != IBV_WC_RECV ||
	    wc->flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV))
		return false;
	i = ctrl->arrived++ % RCL_CTRL_SLOTS;
	ctrl->in[i].slot = number;
	ctrl->in[i].len = wc->len;
	ctrl->in[i].when = rcl_now();
	return true;
}

static bool is_full(const struct rcv_ctrl *ctrl)
{
	return ctrl->sent - ctrl->retired == RCL_CTRL_SLOTS;
}

bool rcv_ctrl_can_ask(const struct rcv_ctrl *ctrl)
{
	return rcl_credit_has_places(&ctrl->credit, 1) && !is_full(ctrl);
}

int rcv_ctrl_send(struct rcv_ctrl *ctrl, struct rcl_msg *msg)
{
	uint32_t number = ctrl->sent;
	uint8_t *buf = tx_slot(ctrl, number);
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf,
		.lkey = ctrl->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = rcv_wr_id(RCV_WR_CTRL_SEND, number),
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};
	int ret;

	if (!ctrl->credit.left)
		return -EPROTO;
	if (is_full(ctrl))
		return -EAGAIN;
	rcl_credit_sent(&ctrl->credit, msg, rcl_now());
	ret = rcl_msg_encode(buf + RCL_MSG_AAD, msg);
	ret = rcv_seal_close(&ctrl->seal, buf, ret);
	if (ret < 0)
		return ret;
	sge.length = ret;
	if (msg->type == RCL_MSG_BYE || number % RCL_CTRL_SIGNAL == 0)
		wr.send_flags = IBV_SEND_SIGNALED;
	ctrl->sent++;
	ret = rcv_qp_send(ctrl->qp, &wr);
	return ret == -EAGAIN ? -EIO : ret;
}

/* Returns 0 while no send slot is free, so that an answer can be sent. */
int rcv_ctrl_recv(struct rcv_ctrl *ctrl, struct rcv_in *in)
{
	uint32_t i = ctrl->opened % RCL_CTRL_SLOTS;
	struct rcl_question asked;
	uint8_t *buf;
	int len;

	if (!ctrl->started || is_full(ctrl) || ctrl->opened == ctrl->arrived)
		return 0;
	ctrl->opened++;
	in->slot = ctrl->in[i].slot;
	in->when = ctrl->in[i].when;
	buf = rx_slot(ctrl, in->slot);
	len = rcv_seal_open(&ctrl->seal, buf, ctrl->in[i].len);
	if (len < 0)
		return len;
	if (rcl_msg_decode(buf + RCL_MSG_AAD, len, &in->msg) ||
	    rcl_credit_received(&ctrl->credit, &in->msg, in->when, &asked))
		return -EPROTO;
	return 1;
}

int rcv_ctrl_give_back(struct rcv_ctrl *ctrl, const struct rcv_in *in)
{
	int ret = post(ctrl, in->slot);

	if (!ret)
		ctrl->credit.owed++;
	return ret;
}
