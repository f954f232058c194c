/* SPDX-License-Identifier: GPL-2.0 */
/* Callers by where they come from, and how often each of these may call. */
#ifndef RCH_SOURCES_H
#define RCH_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include <netinet/in.h>

#include "bucket.h"

#define RCH_SOURCES	512

/* One address, or a /64 of IPv6, of which one host may have all addresses. */
struct rch_source {
	uint8_t len;
	uint8_t of[16];
};

/* @from: IPv4 as mapped, which is always one address. */
struct rch_source rch_source(const struct sockaddr_in6 *from, bool network);

bool rch_same_source(const struct rch_source *a, const struct rch_source *b);

/*
 * Those that have called lately. If they are more than fit, the one forgotten
 * is the one that could soonest call as if it never had. Initially all 0.
 */
struct rch_sources {
	struct {
		struct rch_source source;
		struct rch_bucket bucket;
	} s[RCH_SOURCES];
};

/* May it call now, by its own rate? Counts the call if so. */
bool rch_sources_take(struct rch_sources *sources,
		      const struct rch_source *source,
		      const struct rch_rate *rate, uint64_t now);

/* That call does not count. */
void rch_sources_give_back(struct rch_sources *sources,
			   const struct rch_source *source,
			   const struct rch_rate *rate);

#endif /* RCH_SOURCES_H */
