/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Round trips over a link, like those of the module's ping.c: the control
 * channel checks the data at the peer's end, and only the operation is timed.
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
	/* error is 0, or a negative errno with a sentence in why */
	void (*done)(void *ctx, int error, const char *why, uint64_t rtt);
	void *ctx;
};

/* One-sided work on the peer's link buffer. */
struct rcv_remote_op {
	uint32_t op;		/* enum rclink_ping_op, not SEND */
	uint64_t wr_id;
	uint64_t addr;		/* as registered with lkey */
	uint32_t lkey;
	uint32_t len;
	uint32_t offset;	/* in the peer's buffer */
	uint64_t compare;	/* of CAS, or what FADD adds */
	uint64_t swap;		/* of CAS */
};

struct rcv_pinger {
	struct rcv_ctrl *ctrl;
	struct ibv_pd *pd;
	uint8_t *buffer;		/* this end's link buffer */
	const struct rcl_endpoint *local, *remote;
	uint8_t *mem;			/* payload; never shrinks */
	struct ibv_mr *mr;
	const struct rcv_ping *ping;	/* under way, or NULL */
	const uint8_t *step;
	bool asked;
	bool completed;
	uint32_t seed, cookie;
	uint32_t sent, echoed;		/* bytes of a SEND */
	uint64_t start, end;		/* ns */
};

/* Post op; 0 or a negative errno. */
int rcv_remote_post(struct rcv_qp *qp, const struct rcl_endpoint *remote,
		    const struct rcv_remote_op *op);

/* Can op be done between these ends? 0, or a negative errno with *why. */
int rcv_remote_check(const struct rcl_endpoint *local,
		     const struct rcl_endpoint *remote, uint32_t op,
		     uint32_t size, const char **why);

/* Grow mem to at least size; no ping is under way. 0 or a negative errno. */
int rcv_ping_memory(struct rcv_pinger *p, uint32_t size);

/* No ping is under way. Call rcv_ping_continue() afterwards. */
void rcv_ping_start(struct rcv_pinger *p, const struct rcv_ping *ping);

/* These return 0, or a negative errno that ends the epoch. */
int rcv_ping_continue(struct rcv_pinger *p);
int rcv_ping_answer(struct rcv_pinger *p, const struct rcv_in *in);
int rcv_ping_question(struct rcv_pinger *p, const struct rcl_msg *msg);

void rcv_ping_completed(struct rcv_pinger *p);

/* The link is down: the ping under way ends with why. */
void rcv_ping_abort(struct rcv_pinger *p, const char *why);
/* Frees the payload. The QP is gone. */
void rcv_ping_release(struct rcv_pinger *p);

#endif /* RCV_PING_H */
