/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One epoch of a link whose verbs objects belong to this process: what life.c,
 * epoch.c and heartbeat.c of the module are to a link of the kernel. It is
 * driven by a libevent base; only the goodbye blocks.
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

/* Called by the loop, never from within a call by the owner. */
struct rcv_epoch_ops {
	/* Hellos and large packets went both ways; the epoch may be freed. */
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
	bool again;			/* it makes way for another one */
	bool left;			/* the peer knows: do not wait for it */
	bool busy;			/* the CQ is polled, not waited for */
	uint64_t due;			/* ms, for an answer; 0: none is owed */
	struct rcv_heartbeat heartbeat;
	struct rcv_large large;
	struct rcl_reason failure;	/* of a work request or the device */
	char why[RCL_ERR_LEN];		/* reason it ended; "": it has not */
	struct event *completion, *pool_completion, *news, *look, *timer;
	/* For the bench, which posts its own work requests. */
	void (*bench_done)(void *ctx);
	void *bench_ctx;
	const struct rcv_service *const *services;	/* up to a NULL */
	struct {
		char service[RCV_LEASE_NAME];
		const struct rcv_lease_ops *ops;
		void *ctx;		/* NULL: nothing to open */
	} opening;
	uint32_t lease_cookie;		/* of the last question on a lease */
	uint8_t lease_data[RCL_MSG_DATA_MAX];	/* of an answer */
	struct rcv_qp qp[1 + RCLINK_QPS_MAX];	/* the control QP first */
	struct rcv_lease lease[RCLINK_QPS_MAX];	/* of the other QPs */
};

/* The MTU of its path, in bytes. */
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
 * Allocate everything, with QPs in INIT. services are for the peer, up to a
 * NULL; it may be NULL. Returns NULL on failure, with a sentence in err.
 */
struct rcv_epoch *rcv_epoch_new(struct event_base *base,
				const struct rcl_policy *policy,
				uint64_t number,
				const struct rcv_service *const *services,
				const struct rcv_epoch_ops *ops, void *ctx,
				char *err);

/* INIT to RTR. *agreed becomes the common number. remote is hostile. */
int rcv_epoch_connect(struct rcv_epoch *ep, uint32_t role,
		      const struct rcl_endpoint *remote, uint64_t *agreed,
		      char *err);

/* RTR to RTS, and send hello. */
int rcv_epoch_activate(struct rcv_epoch *ep,
		       const uint8_t key[RCLINK_KEY_LEN], char *err);

/* Have the loop take a turn soon: something was asked for. */
void rcv_epoch_kick(struct rcv_epoch *ep);

/*
 * Only while the epoch is up, and one at a time. done() is called by the loop,
 * or at once if the ping cannot start.
 */
void rcv_epoch_ping(struct rcv_epoch *ep, const struct rcv_ping *ping);

/*
 * Say goodbye if the epoch was activated (for good or, with again set, to make
 * way for another one), and release everything.
 */
void rcv_epoch_free(struct rcv_epoch *ep);

/*
 * Do what there is to do now, without sleeping. The loop calls it by itself; a
 * caller that polls sets busy, and calls it often.
 */
void rcv_epoch_turn(struct rcv_epoch *ep);

#endif /* RCV_EPOCH_H */
