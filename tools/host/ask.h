/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Some requests take the module a long time: preparing or activating a link, as
 * long as the device needs for its QPs; connecting it, until the peer's
 * neighbour entry is found, which is seconds if nobody answers; ending what is
 * up, as long as a goodbye to a peer that is gone; joining a group, until the
 * subnet manager answers. So each has a thread, which has the link's socket
 * until it is over. Those of one link run one after the other, as they would in
 * the module. The loop does everything else. (What is said of a link here is
 * true of a group as well.)
 */
#ifndef RCH_ASK_H
#define RCH_ASK_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct rch_ask;
struct rch_asks;
struct rcl_nl;

/* The requests of one process. NULL if out of memory. */
struct rch_asks *rch_asks_new(struct event_base *base);

/*
 * Waits for the requests under way, and drops those that wait for them, except
 * those that must be done.
 */
void rch_asks_free(struct rch_asks *all);

/* Is there a request for this link, under way or waiting? */
bool rch_asks_has(const struct rch_asks *all, const char *link);

/*
 * Called in the thread, or in the loop if there is none. what is its own copy,
 * also for the answer. Returns 0, or a negative errno with a sentence in err
 * (RCL_ERR_LEN bytes).
 */
typedef int rch_ask_fn(struct rcl_nl *nl, void *what, char *err);

/* Called from the loop. The callee owns the socket nl from here on. */
typedef void rch_asked_fn(void *ctx, struct rcl_nl *nl, int ret,
			  const void *what, const char *err);

struct rch_request {
	const char *link;
	bool must;		/* be done, even if nobody wants to know */
	rch_ask_fn *ask;
	const void *what;	/* size bytes, wiped when it is over */
	size_t size;
	rch_asked_fn *done;	/* NULL: nobody wants to know */
	void *ctx;
};

/* If this succeeds, nl must not be used until done. NULL: see err. */
struct rch_ask *rch_ask_start(struct rch_asks *all, struct rcl_nl *nl,
			      const struct rch_request *request, char *err);

/*
 * done will not be called. The socket is closed when the request is over, or at
 * once if it has not begun yet and need not be done.
 */
void rch_ask_leave(struct rch_ask *ask);

#endif /* RCH_ASK_H */
