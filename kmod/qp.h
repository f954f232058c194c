/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One RC queue pair with its completion queue, from RESET to its end. Its user
 * polls, one caller at a time, and asks for an event only before it waits: so a
 * completion that comes in while somebody polls costs no interrupt.
 */
#ifndef RCL_QP_H
#define RCL_QP_H

#include <rdma/ib_verbs.h>

#include "endpoint.h"

struct rcl_policy;
struct rcl_upcall;

/**
 * struct rcl_qp_wait - a work request that somebody waits for
 * @cqe: of the work request
 * @done: it has completed
 * @status: how it completed
 */
struct rcl_qp_wait {
	struct ib_cqe cqe;
	bool done;
	enum ib_wc_status status;
};

/**
 * enum rcl_qp_state - what may be outstanding
 * @RCL_QP_IDLE: nothing: the QP is in RESET, or was given up
 * @RCL_QP_LIVE: work requests, from INIT on
 * @RCL_QP_ENDING: the same, with @last and @last_recv behind them
 * @RCL_QP_UNMARKED: the same, without those two, which could not be posted
 * @RCL_QP_DRAINED: nothing: the QP was stopped
 * @RCL_QP_STUCK: the QP was stopped, but something may still be outstanding
 */
enum rcl_qp_state {
	RCL_QP_IDLE,
	RCL_QP_LIVE,
	RCL_QP_ENDING,
	RCL_QP_UNMARKED,
	RCL_QP_DRAINED,
	RCL_QP_STUCK,
};

/**
 * struct rcl_qp - a QP of a link
 * @qp: the verbs object; a pooled QP has another one for each lease
 * @cq: for both queues, sized for all that can be outstanding and the drain
 * @event: a completion came in after rcl_qp_arm(), or the device has reported
 *	an error of a QP other than index 0; any context, must not poll
 * @owner: for @event; of a pooled QP
 * @up: told of fatal QP and CQ events
 * @index: within the link: 0 is the control QP, the pool follows
 * @vector: completion vector to use; the device may have fewer
 * @max_inline: bytes of a send that the driver can copy while it is posted: as
 *	wanted, and of a QP that was made as granted
 * @psn: first PSN that this end sends, drawn anew for each @qp
 * @state: what may be outstanding
 * @mute: its CQ reports nothing any more, and @up was told
 * @lost: the device keeps @qp, or an earlier one in its place, and so @cq
 * @reg: registration under way
 * @last: send behind all others
 * @last_recv: receive behind all others
 */
struct rcl_qp {
	struct ib_qp *qp;
	struct ib_cq *cq;
	void (*event)(struct rcl_qp *qp);
	void *owner;
	struct rcl_upcall *up;
	u32 index;
	u32 vector;
	u32 max_inline;
	u32 psn;
	enum rcl_qp_state state;
	bool mute;
	bool lost;
	struct rcl_qp_wait reg;
	struct rcl_qp_wait last;
	struct rcl_qp_wait last_recv;
};

/**
 * struct rcl_qp_size - what can be outstanding
 * @send_wr: send work requests
 * @recv_wr: receive work requests
 * @sge: pieces of each
 */
struct rcl_qp_size {
	u32 send_wr;
	u32 recv_wr;
	u32 sge;
};

/**
 * struct rcl_qp_wiring - what INIT, RTR and RTS need besides the QP itself
 * @policy: timers and retries
 * @ah: way to the peer
 * @mtu: path MTU in bytes
 * @port: own port
 * @access: rights of the peer
 * @initiate: READs and atomics that this end has in flight at once
 * @answer: READs and atomics that this end answers at once
 */
struct rcl_qp_wiring {
	const struct rcl_policy *policy;
	const struct rdma_ah_attr *ah;
	u32 mtu;
	u32 port;
	int access;
	u8 initiate;
	u8 answer;
};

int rcl_qp_create(struct rcl_qp *qp, struct ib_pd *pd,
		  const struct rcl_qp_size *size,
		  void (*event)(struct rcl_qp *qp), struct rcl_upcall *up);
int rcl_qp_to_init(struct rcl_qp *qp, const struct rcl_qp_wiring *wiring);
int rcl_qp_to_rtr(struct rcl_qp *qp, const struct rcl_qp_wiring *wiring,
		  const struct rcl_qp_id *remote);
int rcl_qp_to_rts(struct rcl_qp *qp, const struct rcl_qp_wiring *wiring);
unsigned long rcl_qp_drain_end(bool stuck);
void rcl_qp_end(struct rcl_qp *qp);
bool rcl_qp_stop(struct rcl_qp *qp, unsigned long end);
int rcl_qp_renew(struct rcl_qp *qp, const struct rcl_qp_size *size);
void rcl_qp_destroy(struct rcl_qp *qp);

int rcl_qp_poll(struct rcl_qp *qp, int budget);
bool rcl_qp_arm(struct rcl_qp *qp);
/* For a QP that is polled and never armed, or that the device keeps. */
static inline void rcl_qp_ignore(struct rcl_qp *qp)
{
}

void rcl_qp_fail(struct rcl_qp *qp, u32 reason, u32 wc_status, u32 vendor_err);
void rcl_qp_wc_failed(struct ib_cq *cq, const struct ib_wc *wc);
void rcl_qp_fault(struct rcl_qp *qp, enum ib_wc_status status, u32 vendor_err);
void rcl_qp_wc_fault(struct ib_cq *cq, const struct ib_wc *wc);
bool rcl_qp_wc_written(const struct ib_cq *cq, const struct ib_wc *wc);
int rcl_qp_post_send(struct rcl_qp *qp, const struct ib_send_wr *wr);
int rcl_qp_post_recv(struct rcl_qp *qp, struct ib_cqe *cqe, u64 addr, u32 len);
int rcl_qp_register(struct rcl_qp *qp, struct ib_mr *mr, int access);

#endif /* RCL_QP_H */
