/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Round trips over a link, as the module's ping.c has them: the control channel
 * proves the data at the peer's end, and only the operation is timed.
 */
#ifndef RCV_PING_H
#define RCV_PING_H

#include <stdbool.h>
#include <stdint.h>

#include "ctrl.h"
#include "endpoint.h"

struct rcv_ping {
	uint32_t op;		/* enum rclink_ping_op */
	uint32_t size;
	/* error 0, or a negative errno with a sentence */
	void (*done)(void *ctx, int error, const char *why, uint64_t rtt);
	void *ctx;
};

/* One-sided work on the peer's link buffer. */
struct rcv_remote_op {
	uint32_t op;		/* enum rclink_ping_op, not SEND */
	uint64_t wr_id;
	uint64_t addr;		/* as the lkey has it */
	uint32_t lkey;
	uint32_t len;
	uint32_t offset;	/* in the peer's buffer */
	uint64_t compare;	/* of CAS, or what FADD adds */
	uint64_t swap;		/* of CAS */
};

struct rcv_pinger {
	struct rcv_ctrl *ctrl;
	struct ibv_pd *pd;
	uint8_t *buffer;		/* the own link buffer */
	const struct rcl_endpoint *local, *remote;
	uint8_t *mem;			/* payload, as large as it ever was */
	struct ibv_mr *mr;
	const struct rcv_ping *ping;	/* under way, or NULL */
	const uint8_t *step;
	bool asked;
	bool completed;
	uint32_t seed, cookie;
	uint32_t sent, echoed;		/* bytes of a SEND */
	uint64_t start, end;		/* ns */
};

/* Post it; 0 or a negative errno. */
int rcv_remote_post(struct rcv_qp *qp, const struct rcl_endpoint *remote,
		    const struct rcv_remote_op *op);

/* What rcv_remote_post() may do on this pair: 0, or a sentence in why. */
int rcv_remote_check(const struct rcl_endpoint *local,
		     const struct rcl_endpoint *remote, uint32_t op,
		     uint32_t size, const char **why);

/* Have at least that much in mem; none is under way. 0 or a negative errno. */
int rcv_ping_memory(struct rcv_pinger *p, uint32_t size);

/* None is under way. To be followed by rcv_ping_continue(). */
void rcv_ping_start(struct rcv_pinger *p, const struct rcv_ping *ping);

/* These: 0, or a negative errno that ends the epoch. */
int rcv_ping_continue(struct rcv_pinger *p);
int rcv_ping_answer(struct rcv_pinger *p, const struct rcv_in *in);
int rcv_ping_question(struct rcv_pinger *p, const struct rcl_msg *msg);

void rcv_ping_completed(struct rcv_pinger *p);

/* The link is down: the one under way ends so. */
void rcv_ping_abort(struct rcv_pinger *p, const char *why);
/* The QP is gone. */
void rcv_ping_release(struct rcv_pinger *p);

#endif /* RCV_PING_H */
