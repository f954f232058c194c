/* SPDX-License-Identifier: GPL-2.0 */
/* One RC queue pair and its way from RESET to RTS. */
#ifndef RCV_RC_H
#define RCV_RC_H

#include <stdint.h>

#include <infiniband/verbs.h>

/* What the state changes need to know of this end and of the peer. */
struct rcv_wiring {
	uint32_t port;
	uint32_t pkey_index;
	unsigned int access;
	struct ibv_ah_attr ah;
	enum ibv_mtu mtu;
	uint32_t answer;	/* READs and atomics that this end answers */
	uint32_t initiate;	/* those that it may have in flight */
	uint32_t min_rnr_timer;
	uint32_t timeout;
	uint32_t retry;
	uint32_t rnr_retry;
};

struct rcv_qp_size {
	uint32_t sends;
	uint32_t recvs;
	uint32_t sges;
};

struct rcv_qp {
	struct ibv_qp *qp;
	struct ibv_mw *mw;	/* its user's, bound to this QP; or NULL */
	uint32_t psn;
};

/*
 * All return 0, or a negative errno with a sentence in err. A new QP draws a
 * random PSN, is in RESET, and signals only the sends that ask for it.
 */
int rcv_qp_create(struct rcv_qp *qp, struct ibv_pd *pd, struct ibv_cq *cq,
		  const struct rcv_qp_size *size, char *err);
int rcv_qp_to_init(struct rcv_qp *qp, const struct rcv_wiring *w, char *err);
int rcv_qp_to_rtr(struct rcv_qp *qp, const struct rcv_wiring *w, uint32_t qpn,
		  uint32_t psn, char *err);
int rcv_qp_to_rts(struct rcv_qp *qp, const struct rcv_wiring *w, char *err);

/* Afterwards the QP accesses no memory and completes nothing. */
void rcv_qp_destroy(struct rcv_qp *qp);

/* Post one receive, or one send; 0 or a negative errno. */
int rcv_qp_recv(struct rcv_qp *qp, uint64_t wr_id, const struct ibv_sge *sge);
int rcv_qp_send(struct rcv_qp *qp, struct ibv_send_wr *wr);

#endif /* RCV_RC_H */
