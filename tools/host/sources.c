// SPDX-License-Identifier: GPL-2.0
#include "sources.h"

#include <string.h>

#define V6_NETWORK_LEN	8

struct rch_source rch_source(const struct sockaddr_in6 *from)
{
	struct rch_source source = { { 0 } };
	size_t len = IN6_IS_ADDR_V4MAPPED(&from->sin6_addr) ?
			     sizeof(source.of) : V6_NETWORK_LEN;

	memcpy(source.of, &from->sin6_addr, len);
	return source;
}

bool rch_same_source(const struct rch_source *a, const struct rch_source *b)
{
	return !memcmp(a->of, b->of, sizeof(a->of));
}

bool rch_sources_take(struct rch_sources *sources,
		      const struct rch_source *source,
		      const struct rch_rate *rate, uint64_t now)
{
	unsigned int i, at = 0;

	for (i = 0; i < RCH_SOURCES; i++) {
		if (rch_same_source(&sources->s[i].source, source))
			return rch_bucket_take(&sources->s[i].bucket, rate,
					       now);
		if (sources->s[i].bucket.full_at <
		    sources->s[at].bucket.full_at)
			at = i;
	}
	sources->s[at].source = *source;
	sources->s[at].bucket = (struct rch_bucket){ 0 };
	return rch_bucket_take(&sources->s[at].bucket, rate, now);
}
