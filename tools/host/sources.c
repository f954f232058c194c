// SPDX-License-Identifier: GPL-2.0
#include "sources.h"

#include <string.h>

#define ADDRESS_LEN	16
#define NETWORK_LEN	8	/* of IPv6 */

static const struct rch_rate of_address = { 20000000, 384 };
static const struct rch_rate of_network = { 5000000, 448 };

static bool is_v4(const struct sockaddr_in6 *from)
{
	return IN6_IS_ADDR_V4MAPPED(&from->sin6_addr);
}

bool rch_same_network(const struct sockaddr_in6 *a,
		      const struct sockaddr_in6 *b)
{
	return !memcmp(&a->sin6_addr, &b->sin6_addr,
		       is_v4(a) || is_v4(b) ? ADDRESS_LEN : NETWORK_LEN);
}

static bool is(const struct rch_source *source,
	       const struct sockaddr_in6 *from, uint8_t len)
{
	return source->len == len &&
	       !memcmp(source->prefix, &from->sin6_addr, len);
}

/* Where it is, or else who could soonest call as if it never had. */
static struct rch_source *find(struct rch_sources *sources,
			       const struct sockaddr_in6 *from, uint8_t len)
{
	struct rch_source *s, *fullest = sources->s;

	for (s = sources->s; s < sources->s + RCH_SOURCES; s++) {
		if (is(s, from, len))
			return s;
		if (s->bucket.full_at < fullest->bucket.full_at)
			fullest = s;
	}
	return fullest;
}

static bool take(struct rch_sources *sources, const struct sockaddr_in6 *from,
		 uint8_t len, const struct rch_rate *rate, uint64_t now)
{
	struct rch_source *s = find(sources, from, len);

	if (!is(s, from, len)) {
		*s = (struct rch_source){ .len = len };
		memcpy(s->prefix, &from->sin6_addr, len);
	}
	return rch_bucket_take(&s->bucket, rate, now);
}

const char *rch_sources_take(struct rch_sources *sources,
			     const struct sockaddr_in6 *from, uint64_t now)
{
	if (!take(sources, from, ADDRESS_LEN, &of_address, now))
		return "this address calls too often";
	if (!is_v4(from) &&
	    !take(sources, from, NETWORK_LEN, &of_network, now))
		return "this network calls too often";
	return NULL;
}

static void give_back(struct rch_sources *sources,
		      const struct sockaddr_in6 *from, uint8_t len,
		      const struct rch_rate *rate)
{
	struct rch_source *s = find(sources, from, len);

	if (is(s, from, len))
		rch_bucket_give_back(&s->bucket, rate);
}

void rch_sources_give_back(struct rch_sources *sources,
			   const struct sockaddr_in6 *from)
{
	give_back(sources, from, ADDRESS_LEN, &of_address);
	if (!is_v4(from))
		give_back(sources, from, NETWORK_LEN, &of_network);
}
