/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who answers: accepts connections and makes a job of each.
 *
 * A caller that has not proved to be one of the peers costs one of a limited
 * number of slots, of which one source address gets only some. When these or
 * all are taken, an unproven one makes room, so that silent ones cannot keep
 * others out: the oldest if it had its time, else one by lot. By lot, because
 * always the oldest would be the one that is nearest to its proof when too many
 * honest ones come at once. New connections are taken at a bounded rate; those
 * beyond it wait in the kernel's queue.
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

/* One caller, for the ops; valid as long as the call. */
struct rch_call {
	const char *from;	/* "192.0.2.1:4711" */
	const char *link;	/* admitted to, or "" */
	const char *peer;	/* admitted as, or "" */
	bool proven;		/* to be a peer, and one of not too many */
	bool given_up;		/* by that peer, before it was admitted */
	uint64_t epoch;		/* 0 before the link was prepared */
	uint64_t ns;		/* until both ends were up */
};

struct rch_listener_ops {
	/*
	 * What to meet the next caller with; NULL with a sentence in err. Who
	 * was met with another one is not admitted any more.
	 */
	struct rcx_tls *(*tls)(void *ctx, char *err);
	/* Is this link, or any with NULL, open to this identity? */
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
 * Listen there, and no longer where it did; callers that are there stay. bind:
 * an address, or NULL for all. After an error it listens nowhere.
 */
int rch_listener_listen(struct rch_listener *l, const char *bind,
			uint16_t port, char *err);

/* Listen nowhere. */
void rch_listener_close(struct rch_listener *l);

bool rch_listener_is_open(const struct rch_listener *l);

/* Who was admitted to a link and would no longer be has to go. */
void rch_listener_recheck(struct rch_listener *l);

/* Is a caller there who was admitted to this link? */
bool rch_listener_has(const struct rch_listener *l, const char *link);

/* Where it listens, as text. */
const char *rch_listener_address(const struct rch_listener *l);

/* Take nobody any more, and tell reason to those who are there. */
void rch_listener_stop(struct rch_listener *l, const char *reason);

/* Not before stopped, and not from within it. */
void rch_listener_free(struct rch_listener *l);

#endif /* RCH_LISTENER_H */
