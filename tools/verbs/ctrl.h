/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control channel of one epoch, like that of the module's ctrl.c: sealed
 * messages in fixed-size slots on one QP, with credits.
 */
#ifndef RCV_CTRL_H
#define RCV_CTRL_H

#include <stdbool.h>
#include <stdint.h>

#include "../../kmod/credit.h"
#include "../../kmod/msg.h"
#include "cq.h"
#include "rc.h"
#include "seal.h"

/* Kinds of work requests, in wr_id above a number of that kind. */
#define RCV_WR_SHIFT	32
enum rcv_wr {
	RCV_WR_CTRL_RECV = 1,
	RCV_WR_CTRL_SEND,
	RCV_WR_PING,
	RCV_WR_BENCH,
	RCV_WR_LARGE,
	RCV_WR_LEASE,
};

static inline uint64_t rcv_wr_id(enum rcv_wr kind, uint32_t number)
{
	return (uint64_t)kind << RCV_WR_SHIFT | number;
}

struct rcv_ctrl {
	struct rcv_qp *qp;
	uint8_t *mem;			/* receive slots, then send slots */
	struct ibv_mr *mr;
	struct {
		uint32_t slot;
		uint32_t len;
		uint64_t when;		/* ns */
	} in[RCL_CTRL_SLOTS];		/* a ring: arrived and not yet opened */
	uint32_t arrived;
	uint32_t opened;
	uint32_t sent;
	uint32_t retired;		/* sends that have completed */
	struct rcv_seal seal;
	bool started;			/* the key is set */
	struct rcl_credit credit;	/* what may be sent */
};

/* A received message; its data is valid until it is given back. */
struct rcv_in {
	struct rcl_msg msg;
	uint32_t slot;
	uint64_t when;			/* ns */
};

/* 0, or a negative errno with a sentence in err. The QP is created later. */
int rcv_ctrl_create(struct rcv_ctrl *ctrl, struct ibv_pd *pd,
		    struct rcv_qp *qp, char *err);
/* The QP is gone. */
void rcv_ctrl_destroy(struct rcv_ctrl *ctrl);

/* Post all receives: the QP is in INIT. */
int rcv_ctrl_post(struct rcv_ctrl *ctrl);
/* Returns what rcv_seal_start() returns. */
int rcv_ctrl_start(struct rcv_ctrl *ctrl, const uint8_t *key, uint32_t role,
		   uint64_t epoch);

/* A receive or send of it succeeded. False: it received no plain SEND. */
bool rcv_ctrl_completed(struct rcv_ctrl *ctrl, const struct rcv_wc *wc);

/* False while an answer must come in first, or a send complete. */
bool rcv_ctrl_can_ask(const struct rcv_ctrl *ctrl);

/*
 * Seal and send msg, with its credits filled in. -EAGAIN if no slot is free: a
 * completion comes when one is. -EPROTO if the peer left no credit. Otherwise
 * what the verbs call returns; its errors end the epoch.
 */
int rcv_ctrl_send(struct rcv_ctrl *ctrl, struct rcl_msg *msg);

/*
 * Open the next message. Returns 1; 0 if there is none now; what
 * rcv_seal_open() returns if it is not the next authentic one; -EPROTO if it
 * breaks the protocol. Give it back after use.
 */
int rcv_ctrl_recv(struct rcv_ctrl *ctrl, struct rcv_in *in);
int rcv_ctrl_give_back(struct rcv_ctrl *ctrl, const struct rcv_in *in);

#endif /* RCV_CTRL_H */
