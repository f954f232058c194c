/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pooled QPs of an epoch and their lessees. The rules are at the head of
 * the module's lease.c.
 */
#ifndef RCV_LEASE_H
#define RCV_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "cq.h"
#include "rc.h"

#define RCV_LEASE_NAME	32	/* of a service or a region, with the NUL */
#define RCV_LEASE_SENDS	32	/* in flight */
#define RCV_LEASE_RECVS	32

struct rcl_msg;
struct rcv_epoch;
struct rcv_lease;

/* Memory that one end shows to the other. */
struct rcv_shown {
	uint64_t addr;
	uint64_t len;
	uint32_t rights;	/* RCV_RIGHT_* */
	uint32_t rkey;		/* of the first extent */
	uint64_t first;		/* bytes in that; peer's memory only */
};

/* Provided by a consumer; none of them may free the epoch. */
struct rcv_lease_ops {
	/* Leased at both ends; the QP is in RTS. */
	void (*attached)(void *ctx, struct rcv_lease *lease);
	/* The peer has posted a receive. May be NULL. */
	void (*heard)(void *ctx);
	/* A work request has completed, successfully or not. */
	void (*completed)(void *ctx, const struct rcv_wc *wc);
	/*
	 * The answer to rcv_lease_import(), for consumers that call it; shown
	 * is NULL if there is no such region.
	 */
	void (*imported)(void *ctx, const struct rcv_shown *shown);
	/* Returns the memory of that name, or NULL. May be NULL: none. */
	const struct rcv_shown *(*find)(void *ctx, const char *name);
	/*
	 * Called last, even for a lease that was never granted: nothing
	 * completes or is accessed any more.
	 */
	void (*ended)(void *ctx, const char *why);
};

/* What a process offers to its peers. */
struct rcv_service {
	const char *name;
	const struct rcv_lease_ops *ops;
	/* Returns the consumer of a new lease, the ctx of ops; NULL: busy. */
	void *(*accept)(struct rcv_epoch *ep);
};

enum rcv_lease_state {
	RCV_LEASE_FREE,		/* the states of the module's pool.h */
	RCV_LEASE_OPENING,
	RCV_LEASE_OPEN,
	RCV_LEASE_STOPPED,
	RCV_LEASE_RECYCLING,
	RCV_LEASE_READY,
	RCV_LEASE_ANSWERED,
	RCV_LEASE_DEAD,
};

struct rcv_lease {
	struct rcv_qp *qp;
	enum rcv_lease_state state;
	bool failed;			/* the peer is to be told */
	uint32_t cookie;		/* of the question that is open */
	uint32_t generation;		/* of the QP: shows what is late */
	const struct rcv_lease_ops *ops;
	void *ctx;			/* NULL: nobody leases it */
	bool hears, told;		/* posted a receive; told the peer */
	uint64_t owes;			/* ms: in ANSWERED, GO is due by then */
	char want[RCV_LEASE_NAME];	/* region to ask for, or "" */
	uint32_t import;		/* cookie of that question, 0: none */
	uint64_t again;			/* ms: do not ask before this */
	uint64_t until;			/* ms: nor after this */
};

/* Lease a QP for a service of the peer; ops->attached or ->ended follows. */
void rcv_lease_open(struct rcv_epoch *ep, const char *service,
		    const struct rcv_lease_ops *ops, void *ctx);
/* End a lease; ops->ended is called before this returns. */
void rcv_lease_close(struct rcv_epoch *ep, struct rcv_lease *lease,
		     const char *why);

/* For an open lease. */
int rcv_lease_recv(struct rcv_epoch *ep, struct rcv_lease *lease,
		   uint8_t what, const struct ibv_sge *sge);
int rcv_lease_send(struct rcv_epoch *ep, struct rcv_lease *lease,
		   uint8_t what, struct ibv_send_wr *wr);
void rcv_lease_import(struct rcv_lease *lease, const char *name);
/* Ask again, after a pause, for a region that was not there. */
void rcv_lease_import_later(struct rcv_lease *lease, const char *name);

/* The `what` of a completion. */
static inline uint8_t rcv_lease_what(const struct rcv_wc *wc)
{
	return wc->wr_id;
}

/* For the epoch; an int is 0, or an error that ends the epoch. */
int rcv_lease_continue(struct rcv_epoch *ep);
uint64_t rcv_lease_due(const struct rcv_epoch *ep);	/* ms, or 0 */
int rcv_lease_question(struct rcv_epoch *ep, const struct rcl_msg *msg);
int rcv_lease_answer(struct rcv_epoch *ep, const struct rcl_msg *msg);
void rcv_lease_completed(struct rcv_epoch *ep, const struct rcv_wc *wc);
void rcv_lease_end_all(struct rcv_epoch *ep, const char *why);

#endif /* RCV_LEASE_H */
