/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Some requests take the module long: preparing a link, or activating it, as
 * long as the device takes with its QPs, connecting it until the peer's
 * neighbour entry is found, which is seconds if nobody answers, ending what is
 * up as long as a goodbye to a peer that is gone, and joining a group until the
 * subnet manager answers. So each has a thread, which has the link's socket
 * until it is over, and those of one link come one after the other, as they
 * would in the module. Everything else is done by the loop. (What is said of a
 * link here is true of a group as well.)
 */
#ifndef RCH_ASK_H
#define RCH_ASK_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct rch_ask;
struct rch_asks;
struct rcl_nl;

/* Those of one process. NULL without memory. */
struct rch_asks *rch_asks_new(struct event_base *base);

/*
 * Waits for those that are under way, and drops those that wait for them, but
 * for what must be done.
 */
void rch_asks_free(struct rch_asks *all);

/* Is one under way for this link? */
bool rch_asks_has(const struct rch_asks *all, const char *link);

/*
 * In the thread. what is its own copy, for the answer, too. 0, or a negative
 * errno with a sentence in err (RCL_ERR_LEN bytes).
 */
typedef int rch_ask_fn(struct rcl_nl *nl, void *what, char *err);

/* From the loop, with the socket, which is the callee's from here. */
typedef void rch_asked_fn(void *ctx, struct rcl_nl *nl, int ret,
			  const void *what, const char *err);

struct rch_request {
	const char *link;
	bool must;		/* be done, if nobody wants to know, too */
	rch_ask_fn *ask;
	const void *what;	/* size bytes, wiped when it is over */
	size_t size;
	rch_asked_fn *done;	/* NULL: nobody wants to know */
	void *ctx;
};

/* nl, if this succeeds, is not to be used until done. NULL: see err. */
struct rch_ask *rch_ask_start(struct rch_asks *all, struct rcl_nl *nl,
			      const struct rch_request *request, char *err);

/*
 * done will not be called, and the socket is closed when it is over; if it has
 * not begun yet, and need not, at once.
 */
void rch_ask_leave(struct rch_ask *ask);

#endif /* RCH_ASK_H */
