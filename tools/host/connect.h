/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connecting a link takes the module as long as it takes to find the peer's
 * neighbour entry: seconds, if nobody answers. So each has a thread, which has
 * the link's socket until it is over. Everything else is done by the loop.
 */
#ifndef RCH_CONNECT_H
#define RCH_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct rch_connect;
struct rch_connects;
struct rcl_connect;
struct rcl_nl;

/* Those of one process. NULL without memory. */
struct rch_connects *rch_connects_new(struct event_base *base);

/* Waits for those that are under way. */
void rch_connects_free(struct rch_connects *all);

/* Is one under way for this link? Its requests wait for each other. */
bool rch_connects_has(const struct rch_connects *all, const char *link);

/* From the loop, with the socket, which is the callee's from here. */
typedef void rch_connected_fn(void *ctx, struct rcl_nl *nl, int ret,
			      uint64_t agreed, const char *err);

/* nl, if this succeeds, is not to be used until done. NULL: see err. */
struct rch_connect *rch_connect_start(struct rch_connects *all,
				      struct rcl_nl *nl,
				      const struct rcl_connect *request,
				      rch_connected_fn *done, void *ctx,
				      char *err);

/* done will not be called, and the socket is closed when it is over. */
void rch_connect_leave(struct rch_connect *c);

#endif /* RCH_CONNECT_H */
