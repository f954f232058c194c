/* SPDX-License-Identifier: GPL-2.0 */
/* One completion queue: polled or event-driven, plain or extended. */
#ifndef RCV_CQ_H
#define RCV_CQ_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

enum {
	RCV_CQ_EVENTS = 1,	/* with a completion channel */
	/* Extended, with the device's time, as far as it has either. */
	RCV_CQ_STAMPS = 2,
};

/* On failure only wr_id, status and vendor_err are valid. */
struct rcv_wc {
	uint64_t wr_id;
	uint32_t status;	/* enum ibv_wc_status */
	uint32_t vendor_err;
	uint32_t opcode;
	uint32_t flags;
	uint32_t len;
	/* Not from an extended CQ. Big-endian, or the invalidated rkey. */
	uint32_t imm;
	uint64_t stamp;		/* device ticks, if the CQ has stamps */
};

struct rcv_cq {
	struct ibv_comp_channel *channel;	/* NULL: polled only */
	struct ibv_cq *cq;
	struct ibv_cq_ex *ex;			/* NULL: a plain one */
	bool stamps;
	unsigned int events;			/* to be acknowledged */
};

/* 0, or a negative errno with a sentence in err. */
int rcv_cq_create(struct rcv_cq *cq, struct ibv_context *ctx, int entries,
		  unsigned int how, char *err);
/* Its QPs are gone. May be called for a CQ that was never created. */
void rcv_cq_destroy(struct rcv_cq *cq);

/* Takes up to num completions; returns how many, or a negative errno. */
int rcv_cq_poll(struct rcv_cq *cq, struct rcv_wc *wcs, int num);

/* Ask for an event when something completes; then poll once more. */
int rcv_cq_arm(struct rcv_cq *cq);

/* Take the event that made the channel readable; never blocks. */
void rcv_cq_take_event(struct rcv_cq *cq);

/* Sleep until there is an event: 0, -ETIMEDOUT, or -EINTR. */
int rcv_cq_wait(struct rcv_cq *cq, int ms);

#endif /* RCV_CQ_H */
