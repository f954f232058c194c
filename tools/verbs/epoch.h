/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One epoch of a link whose verbs objects belong to this process: what life.c,
 * epoch.c and heartbeat.c of the module are to a link of the kernel. Driven by
 * a libevent base; nothing in it sleeps but the goodbye.
 */
#ifndef RCV_EPOCH_H
#define RCV_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ctrl.h"
#include "endpoint.h"
#include "hca.h"
#include "large.h"
#include "lease.h"
#include "link.h"
#include "ping.h"
#include "session.h"
#include "../../kmod/reason.h"

#define RCV_BENCH_DEPTH	64	/* operations of a bench in flight */

struct event;
struct event_base;

/* Called by the loop, never from within a call of the owner. */
struct rcv_epoch_ops {
	/* Hellos and large packets went both ways. It may be freed now. */
	void (*up)(void *ctx);
	/* Once, and last: the epoch is of no use, and may be freed now. */
	void (*down)(void *ctx, const char *why);
};

struct rcv_heartbeat {
	uint64_t due;		/* ms */
	uint32_t quiet;		/* intervals without a sign */
	bool asked;
};

struct rcv_epoch {
	struct event_base *base;
	const struct rcv_epoch_ops *ops;
	void *ctx;
	struct rcl_policy policy;	/* every value set */
	struct rcv_hca hca;
	struct ibv_pd *pd;
	struct rcv_cq cq;		/* of the control QP */
	struct rcv_cq pool_cq;		/* of all others */
	uint8_t *buffer;		/* the link buffer */
	struct ibv_mr *mr;
	struct rcv_ctrl ctrl;
	struct rcv_pinger pinger;
	struct rcl_endpoint local, remote;
	struct rcv_wiring wiring;
	uint32_t role;
	unsigned int proven;
	bool up;
	bool tell_up;			/* the owner does not know it yet */
	bool again;			/* it ends for another one */
	bool left;			/* by the peer: nobody waits for it */
	bool busy;			/* the CQ is polled, not waited for */
	uint64_t due;			/* ms, of an answer; 0: none is owed */
	struct rcv_heartbeat heartbeat;
	struct rcv_large large;
	struct rcl_reason failure;	/* of a work request or the device */
	char why[RCL_ERR_LEN];		/* it ended, or "" */
	struct event *completion, *pool_completion, *news, *look, *timer;
	/* For the bench: its work requests are none of this file's. */
	void (*bench_done)(void *ctx);
	void *bench_ctx;
	const struct rcv_service *const *services;	/* up to NULL */
	struct {
		char service[RCV_LEASE_NAME];
		const struct rcv_lease_ops *ops;
		void *ctx;		/* NULL: nothing to open */
	} opening;
	uint32_t lease_cookie;		/* of the last question of a lease */
	uint8_t lease_data[RCL_MSG_DATA_MAX];	/* of an answer */
	struct rcv_qp qp[1 + RCLINK_QPS_MAX];	/* the control QP first */
	struct rcv_lease lease[RCLINK_QPS_MAX];	/* of the others */
};

/* Of its path, in bytes. */
static inline uint32_t rcv_epoch_mtu(const struct rcv_epoch *ep)
{
	return ep->local.mtu < ep->remote.mtu ? ep->local.mtu : ep->remote.mtu;
}

/*
 * Fill in what policy leaves open with the module's defaults, and check it: 0,
 * or -EINVAL with a sentence in err.
 */
int rcv_policy_complete(struct rcl_policy *policy, char *err);

/*
 * Allocate all, QPs in INIT. services are for the peer, up to a NULL, or NULL.
 * NULL with a sentence in err.
 */
struct rcv_epoch *rcv_epoch_new(struct event_base *base,
				const struct rcl_policy *policy,
				uint64_t number,
				const struct rcv_service *const *services,
				const struct rcv_epoch_ops *ops, void *ctx,
				char *err);

/* INIT to RTR; agreed receives the common number. remote is hostile. */
int rcv_epoch_connect(struct rcv_epoch *ep, uint32_t role,
		      const struct rcl_endpoint *remote, uint64_t *agreed,
		      char *err);

/* RTR to RTS, and hello. */
int rcv_epoch_activate(struct rcv_epoch *ep,
		       const uint8_t key[RCLINK_KEY_LEN], char *err);

/* Have the loop take a turn soon: something was asked for. */
void rcv_epoch_kick(struct rcv_epoch *ep);

/* Of an epoch that is up, one at a time: done() is called by the loop. */
void rcv_epoch_ping(struct rcv_epoch *ep, const struct rcv_ping *ping);

/*
 * Say goodbye if it was activated, for good or, with again set, for another
 * epoch, and give everything back.
 */
void rcv_epoch_free(struct rcv_epoch *ep);

/*
 * Do what there is to do now, without sleeping. The loop does it by itself;
 * who polls calls it often, with busy set.
 */
void rcv_epoch_turn(struct rcv_epoch *ep);

#endif /* RCV_EPOCH_H */
