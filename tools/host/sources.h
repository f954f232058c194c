/* SPDX-License-Identifier: GPL-2.0 */
/* Callers by where they come from, and how often each of these may call. */
#ifndef RCH_SOURCES_H
#define RCH_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include <netinet/in.h>

#include "bucket.h"

#define RCH_SOURCES	512

/* All addresses below take IPv4 as mapped. */

/* One IPv4 address, or the 2^64 IPv6 addresses that one host may well have. */
bool rch_same_network(const struct sockaddr_in6 *a,
		      const struct sockaddr_in6 *b);

/*
 * Addresses, and IPv6 networks, that have called lately. If they are more than
 * fit, the one forgotten is the one that could soonest call as if it never had.
 * Initially all 0.
 */
struct rch_sources {
	struct rch_source {
		uint8_t len;		/* of what counts */
		uint8_t prefix[16];
		struct rch_bucket bucket;
	} s[RCH_SOURCES];
};

/* NULL if it may call now, which then counts; else why not. */
const char *rch_sources_take(struct rch_sources *sources,
			     const struct sockaddr_in6 *from, uint64_t now);

/* A call that was taken does not count. */
void rch_sources_give_back(struct rch_sources *sources,
			   const struct sockaddr_in6 *from);

#endif /* RCH_SOURCES_H */
