/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One exchange that belongs to an epoch of this process, and then that epoch:
 * what host/job.h is for links of the module.
 */
#ifndef RCV_JOIN_H
#define RCV_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

struct event_base;
struct rcl_policy;
struct rcv_epoch;
struct rcv_join;
struct rcv_service;
struct rcx_ids;
struct rcx_tls;

struct rcv_join_ops {
	/* Services for the peer, up to a NULL; or NULL. */
	const struct rcv_service *const *services;
	/* See rcx_ops. admit is for responders only; step may be NULL. */
	int (*admit)(void *ctx, const struct rcx_ids *ids, const char *wanted,
		     char *link, char *err);
	void (*step)(void *ctx, enum rcx_step step, const char *detail);
	/*
	 * The exchange is over. If result is 0, both ends are up, and the join
	 * lives until rcv_join_free(), which must not be called here. Otherwise
	 * the join is gone when this returns.
	 */
	void (*done)(void *ctx, int result, const char *err);
	/* After done() with 0: the link went down. The join may be freed. */
	void (*down)(void *ctx, const char *why);
};

/*
 * policy is complete (rcv_policy_complete()), and outlives the join. Returns
 * NULL on failure, with a sentence in err.
 */
struct rcv_join *rcv_join_dial(struct event_base *base, struct rcx_tls *tls,
			       const char *host, uint16_t port,
			       const char *link, const char *wanted,
			       int timeout_ms, const struct rcl_policy *policy,
			       const struct rcv_join_ops *ops, void *ctx,
			       char *err);
/* Takes over fd, even on failure. */
struct rcv_join *rcv_join_accept(struct event_base *base, struct rcx_tls *tls,
				 int fd, int timeout_ms,
				 const struct rcl_policy *policy,
				 const struct rcv_join_ops *ops, void *ctx,
				 char *err);

/* Before done(). */
void rcv_join_cancel(struct rcv_join *join, const char *reason);

/* After done() with 0: say goodbye. */
void rcv_join_free(struct rcv_join *join);

/* Who the peer proved to be, from RCX_STEP_TLS until done(). */
const struct rcx_ids *rcv_join_ids(const struct rcv_join *join);
/* The epoch, or NULL before it was prepared. */
struct rcv_epoch *rcv_join_epoch(const struct rcv_join *join);
/* "" before it is known. */
const char *rcv_join_link(const struct rcv_join *join);
const char *rcv_join_peer(const struct rcv_join *join);
/* Nanoseconds until both ends were up, or until now. */
uint64_t rcv_join_ns(const struct rcv_join *join);

#endif /* RCV_JOIN_H */
