// SPDX-License-Identifier: GPL-2.0
#include "sources.h"

#include <string.h>

#define V6_NETWORK_LEN	8

struct rch_source rch_source(const struct sockaddr_in6 *from, bool network)
{
	struct rch_source source = { .len = sizeof(source.of) };

	if (network && !IN6_IS_ADDR_V4MAPPED(&from->sin6_addr))
		source.len = V6_NETWORK_LEN;
	memcpy(source.of, &from->sin6_addr, source.len);
	return source;
}

bool rch_same_source(const struct rch_source *a, const struct rch_source *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Where it is, or else who could soonest call as if it never had. */
static unsigned int find(const struct rch_sources *sources,
			 const struct rch_source *source)
{
	unsigned int i, fullest = 0;

	for (i = 0; i < RCH_SOURCES; i++) {
		if (rch_same_source(&sources->s[i].source, source))
			return i;
		if (sources->s[i].bucket.full_at <
		    sources->s[fullest].bucket.full_at)
			fullest = i;
	}
	return fullest;
}

bool rch_sources_take(struct rch_sources *sources,
		      const struct rch_source *source,
		      const struct rch_rate *rate, uint64_t now)
{
	unsigned int at = find(sources, source);

	if (!rch_same_source(&sources->s[at].source, source)) {
		sources->s[at].source = *source;
		sources->s[at].bucket = (struct rch_bucket){ 0 };
	}
	return rch_bucket_take(&sources->s[at].bucket, rate, now);
}

void rch_sources_give_back(struct rch_sources *sources,
			   const struct rch_source *source,
			   const struct rch_rate *rate)
{
	unsigned int at = find(sources, source);

	if (rch_same_source(&sources->s[at].source, source))
		rch_bucket_give_back(&sources->s[at].bucket, rate);
}
