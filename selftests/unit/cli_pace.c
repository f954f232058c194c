// SPDX-License-Identifier: GPL-2.0
/* How often something may happen, and when it is tried again. */
#include "backoff.h"
#include "bucket.h"
#include "sources.h"

#include <arpa/inet.h>

#include <kselftest_harness.h>

#define SECOND	1000000000ULL
#define NOW	(1000 * SECOND)
#define MOST	0xffffffffU

static const struct rch_rate rate = { SECOND, 3 };

TEST(a_burst_then_the_rate)
{
	struct rch_bucket b = { 0 };
	int i;

	for (i = 0; i < 3; i++)
		EXPECT_TRUE(rch_bucket_take(&b, &rate, NOW));
	EXPECT_FALSE(rch_bucket_take(&b, &rate, NOW));
	EXPECT_EQ(SECOND, rch_bucket_wait(&b, &rate, NOW));
	EXPECT_FALSE(rch_bucket_take(&b, &rate, NOW + SECOND - 1));
	EXPECT_TRUE(rch_bucket_take(&b, &rate, NOW + SECOND));
	EXPECT_FALSE(rch_bucket_take(&b, &rate, NOW + SECOND));
}

TEST(a_pause_fills_it_up_and_no_more)
{
	struct rch_bucket b = { 0 };
	int i, taken = 0;

	for (i = 0; i < 3; i++)
		rch_bucket_take(&b, &rate, NOW);
	for (i = 0; i < 10; i++)
		taken += rch_bucket_take(&b, &rate, NOW + 1000 * SECOND);
	EXPECT_EQ(3, taken);
}

static struct sockaddr_in6 from(const char *text)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	inet_pton(AF_INET6, text, &in6.sin6_addr);
	return in6;
}

static bool may_call(struct rch_sources *s, const char *text, uint64_t now)
{
	const struct sockaddr_in6 caller = from(text);

	return !rch_sources_take(s, &caller, now);
}

TEST(an_address_has_a_rate_of_its_own)
{
	static const char *const others[] = {
		"::ffff:10.0.0.2", "::ffff:0.0.0.0", "::", "::1", "fe80::1",
	};
	const char *mad = "::ffff:10.0.0.1";
	static struct rch_sources s;
	size_t i;

	for (i = 0; i < 384; i++)
		EXPECT_TRUE(may_call(&s, mad, NOW));
	EXPECT_FALSE(may_call(&s, mad, NOW));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		EXPECT_TRUE(may_call(&s, others[i], NOW));
	EXPECT_FALSE(may_call(&s, mad, NOW));
	for (i = 0; i < 50; i++)
		EXPECT_TRUE(may_call(&s, mad, NOW + SECOND));
	EXPECT_FALSE(may_call(&s, mad, NOW + SECOND));
}

/* A host may have all addresses of a /64. */
TEST(a_network_of_ipv6_has_one_too)
{
	static struct rch_sources s;
	char text[32];
	int i;

	for (i = 0; i < 448; i++) {
		snprintf(text, sizeof(text), "2001:db8::%x", i);
		EXPECT_TRUE(may_call(&s, text, NOW));
	}
	EXPECT_FALSE(may_call(&s, "2001:db8::2:0:0:1", NOW));
	EXPECT_TRUE(may_call(&s, "2001:db8:0:1::1", NOW));
}

TEST(networks_are_told_apart)
{
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{ "2001:db8::1", "2001:db8::2:0:0:1", true },
		{ "2001:db8::1", "2001:db8:0:1::1", false },
		{ "::ffff:10.0.0.1", "::ffff:10.0.0.1", true },
		{ "::ffff:10.0.0.1", "::ffff:10.0.0.2", false },
		{ "::ffff:10.0.0.1", "::1", false },
	};
	struct sockaddr_in6 a, b;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		a = from(pairs[i].a);
		b = from(pairs[i].b);
		EXPECT_EQ(pairs[i].same, rch_same_network(&a, &b));
		EXPECT_EQ(pairs[i].same, rch_same_network(&b, &a));
	}
}

TEST(a_call_that_does_not_count_is_given_back)
{
	static const char *const honest[] = { "::ffff:10.0.0.1", "fe80::1" };
	const struct sockaddr_in6 unknown = from("::ffff:10.0.0.2");
	static struct rch_sources s;
	struct sockaddr_in6 caller;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(honest); i++) {
		caller = from(honest[i]);
		for (j = 0; j < 1000; j++) {
			EXPECT_TRUE(may_call(&s, honest[i], NOW));
			rch_sources_give_back(&s, &caller);
			rch_sources_give_back(&s, &unknown);
		}
		for (j = 0; j < 384; j++)
			EXPECT_TRUE(may_call(&s, honest[i], NOW));
		EXPECT_FALSE(may_call(&s, honest[i], NOW));
	}
}

/* Those that have used up their rate are remembered before others. */
TEST(others_do_not_make_it_forget_the_mad_one)
{
	static struct rch_sources s;
	char text[32];
	int i;

	for (i = 0; i < 384; i++)
		may_call(&s, "::ffff:10.0.0.1", NOW);
	for (i = 0; i < 3 * RCH_SOURCES; i++) {
		snprintf(text, sizeof(text), "::ffff:10.1.%d.%d", i / 256,
			 i % 256);
		EXPECT_TRUE(may_call(&s, text, NOW));
	}
	EXPECT_FALSE(may_call(&s, "::ffff:10.0.0.1", NOW));
}

TEST(the_first_retry_is_quick)
{
	EXPECT_EQ(0, rcd_backoff(0, NOW, 0, 0));
	EXPECT_GT(SECOND / 4, rcd_backoff(0, NOW, 0, MOST));
}

TEST(then_it_takes_longer_to_a_limit)
{
	uint64_t before = 0, least, most;
	unsigned int i;

	for (i = 1; i < 40; i++) {
		least = rcd_backoff(i, NOW, 0, 0);
		most = rcd_backoff(i, NOW, 0, MOST);
		EXPECT_LE(before, least);
		EXPECT_LT(least, most);
		EXPECT_GE(30 * SECOND, most);
		before = least;
	}
	EXPECT_EQ(15 * SECOND, least);
}

TEST(all_of_the_jitter_counts)
{
	uint64_t before, now;
	unsigned int i, part;

	for (i = 0; i < 10; i++) {
		before = rcd_backoff(i, NOW, 0, 0);
		for (part = 1; part < 256; part++) {
			now = rcd_backoff(i, NOW, 0, part << 24);
			EXPECT_LT(before, now) TH_LOG("%u, %u", i, part);
			before = now;
		}
		EXPECT_LE(before, rcd_backoff(i, NOW, 0, MOST));
	}
	EXPECT_LT(29 * SECOND, rcd_backoff(6, NOW, 0, MOST));
}

TEST(no_link_is_dialled_twice_in_a_second)
{
	EXPECT_EQ(SECOND, rcd_backoff(0, NOW, NOW, 0));
	EXPECT_EQ(SECOND, rcd_backoff(1, NOW, NOW, 0));
	EXPECT_EQ(SECOND / 4, rcd_backoff(0, NOW, NOW - 3 * SECOND / 4, 0));
	EXPECT_EQ(0, rcd_backoff(0, NOW, NOW - 2 * SECOND, 0));
}

TEST(who_was_refused_at_once_comes_again_at_different_times)
{
	EXPECT_LT(rcd_backoff(0, NOW, NOW, 0), rcd_backoff(0, NOW, NOW, MOST));
	EXPECT_LT(rcd_backoff(1, NOW, NOW, 0), rcd_backoff(1, NOW, NOW, MOST));
}

TEST(who_was_not_up_for_30_s_has_failed_once_more)
{
	EXPECT_EQ(1, rcd_backoff_fell(0, 0));
	EXPECT_EQ(1, rcd_backoff_fell(0, 11 * SECOND));
	EXPECT_EQ(3, rcd_backoff_fell(2, 30 * SECOND - 1));
}

TEST(each_30_s_up_forgive_one_failure)
{
	EXPECT_EQ(0, rcd_backoff_fell(0, 30 * SECOND));
	EXPECT_EQ(2, rcd_backoff_fell(3, 30 * SECOND));
	EXPECT_EQ(2, rcd_backoff_fell(3, 60 * SECOND - 1));
	EXPECT_EQ(1, rcd_backoff_fell(3, 60 * SECOND));
	EXPECT_EQ(0, rcd_backoff_fell(3, 90 * SECOND));
	EXPECT_EQ(0, rcd_backoff_fell(3, UINT64_MAX));
}

/* However many failures there were before */
TEST(all_is_forgiven_after_3_minutes)
{
	EXPECT_EQ(0, rcd_backoff_fell(1000000, 180 * SECOND));
	EXPECT_EQ(1, rcd_backoff_fell(1000000, 180 * SECOND - 1));
	EXPECT_EQ(15 * SECOND, rcd_backoff(rcd_backoff_fell(MOST, 0), NOW, 0,
					   0));
}

TEST(an_attack_every_11_s_is_met_later_each_time)
{
	unsigned int failures = 0;
	uint64_t before = 0, wait;
	int i;

	for (i = 0; i < 6; i++) {
		failures = rcd_backoff_fell(failures, 11 * SECOND);
		wait = rcd_backoff(failures, NOW, NOW - 12 * SECOND, 0);
		EXPECT_LT(before, wait);
		before = wait;
	}
	EXPECT_EQ(15 * SECOND, wait);
	/* The attack goes on, and the wait stays at its limit. */
	failures = rcd_backoff_fell(failures, 11 * SECOND);
	EXPECT_EQ(wait, rcd_backoff(failures, NOW, NOW - 12 * SECOND, 0));
}

TEST_HARNESS_MAIN
