/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The answering side: accepts connections and makes a job of each.
 *
 * A caller takes one of a limited number of slots, of which one source address
 * gets only some. When these or all are taken, one that has not proved to be a
 * peer makes room, so that silent ones cannot keep others out: the oldest if it
 * has had its time, else one by lot. By lot, because when too many honest ones
 * come at once, the oldest is the one that is nearest to its proof. New
 * connections are taken at a bounded rate; those beyond it wait in the kernel's
 * queue.
 */
#ifndef RCH_LISTENER_H
#define RCH_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/rclink.h>

#include "fail.h"

struct event_base;
struct rch_hub;
struct rch_listener;
struct rcx_ids;
struct rcx_tls;

/* One caller, for the ops; valid during the call. */
struct rch_call {
	const char *from;	/* "192.0.2.1:4711" */
	const char *link;	/* admitted to, or "" */
	const char *peer;	/* admitted as, or "" */
	bool proven;		/* to be a peer with not too many callers */
	bool given_up;		/* by that peer, before it was admitted */
	uint64_t epoch;		/* 0 before the link was prepared */
	uint64_t ns;		/* until both ends were up */
};

struct rch_listener_ops {
	/*
	 * The TLS context for the next caller; NULL with a sentence in err. A
	 * caller that was met with another one is no longer admitted.
	 */
	struct rcx_tls *(*tls)(void *ctx, char *err);
	/* Is this link (NULL: any link) open to this identity? */
	bool (*know)(void *ctx, const char *identity, const char *link);
	/* As in rcx_ops. */
	int (*admit)(void *ctx, const struct rcx_ids *ids, const char *wanted,
		     char *link, char *err);
	void (*done)(void *ctx, const struct rch_call *call, int result,
		     const char *err);
	/* After rch_listener_stop(): the last caller has gone. */
	void (*stopped)(void *ctx);
};

/* Listens nowhere yet. NULL with a sentence in err. */
struct rch_listener *rch_listener_new(struct event_base *base,
				      struct rch_hub *hub,
				      const struct rch_listener_ops *ops,
				      void *ctx, char *err);

/*
 * Listen there, and no longer where it did before; present callers stay. bind:
 * an address, or NULL for all. After an error it listens nowhere.
 */
int rch_listener_listen(struct rch_listener *l, const char *bind,
			uint16_t port, char *err);

/* Listen nowhere. */
void rch_listener_close(struct rch_listener *l);

/* Callers that were admitted to a link and would no longer be have to go. */
void rch_listener_recheck(struct rch_listener *l);

/* Is there a caller that was admitted to this link? */
bool rch_listener_has(const struct rch_listener *l, const char *link);

/* Where it listens, as text. */
const char *rch_listener_address(const struct rch_listener *l);

/* Accept no more callers, and send the present ones away with reason. */
void rch_listener_stop(struct rch_listener *l, const char *reason);

/* Not before stopped() was called, and not from within it. */
void rch_listener_free(struct rch_listener *l);

#endif /* RCH_LISTENER_H */
