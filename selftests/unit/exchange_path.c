// SPDX-License-Identifier: GPL-2.0
/* Which pairs of paths are tried, in which order: the same at both ends. */
#include "path.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#define ROUNDS	20000

static struct rcl_path make(const char *address, uint32_t mtu, uint32_t vlan)
{
	struct rcl_path path = {
		.device = "rxe0",
		.port = 1,
		.link_layer = RCLINK_LINK_LAYER_ROCE,
		.gid_type = RCLINK_GID_TYPE_ROCE_V2,
		.mtu = mtu,
		.vlan = vlan,
	};
	char v6[64];

	snprintf(v6, sizeof(v6), "%s%s", strchr(address, ':') ? "" : "::ffff:",
		 address);
	if (inet_pton(AF_INET6, v6, path.gid) != 1)
		abort();

	return path;
}

static struct rcl_path infiniband(const char *gid)
{
	struct rcl_path path = make(gid, 4096, 0);

	path.link_layer = RCLINK_LINK_LAYER_INFINIBAND;
	path.gid_type = RCLINK_GID_TYPE_IB;

	return path;
}

/* The pairs, initiator's path first, as in "00 11 10" */
static const char *order(const struct rcx_paths *a, const struct rcx_paths *b)
{
	static char text[RCX_TRIES_MAX * 3 + 1];
	struct rcx_pair pairs[RCX_TRIES_MAX];
	unsigned int i, num = rcx_paths_order(a, b, pairs);

	text[0] = '\0';
	for (i = 0; i < num; i++)
		sprintf(text + strlen(text), "%s%u%u", i ? " " : "",
			pairs[i].initiator, pairs[i].responder);

	return text;
}

TEST(kinds_come_in_their_order_and_are_not_mixed)
{
	const struct rcx_paths a = { .num = 4, .path = {
		make("fe80::1", 1024, 0), make("2001:db8::1", 1024, 0),
		make("192.0.2.1", 1024, 0), infiniband("fe80::a:1"),
	} }, b = { .num = 4, .path = {
		infiniband("fe80::a:2"), make("192.0.2.2", 1024, 0),
		make("fe80::2", 4096, 0), make("2001:db8::2", 1024, 0),
	} };

	EXPECT_STREQ("30 21 13 02", order(&a, &b));
}

TEST(types_of_gids_are_not_mixed)
{
	struct rcx_paths a = { .num = 1, .path = {
		make("192.0.2.1", 1024, 0),
	} }, b = { .num = 1, .path = {
		make("192.0.2.2", 1024, 0),
	} };

	b.path[0].gid_type = RCLINK_GID_TYPE_ROCE_V1;
	EXPECT_STREQ("", order(&a, &b));
	a.path[0].gid_type = RCLINK_GID_TYPE_ROCE_V1;
	EXPECT_STREQ("00", order(&a, &b));
	b.num = 0;
	EXPECT_STREQ("", order(&a, &b));
}

TEST(the_same_network_comes_first)
{
	const struct rcx_paths a = { .num = 2, .path = {
		make("10.0.1.1", 4096, 0), make("10.0.2.1", 1024, 0),
	} }, b = { .num = 2, .path = {
		make("10.0.2.2", 4096, 0), make("10.0.1.2", 4096, 0),
	} };
	const struct rcx_paths c = { .num = 2, .path = {
		make("2001:db8:1::1", 1024, 0), make("2001:db8:2::1", 1024, 0),
	} }, d = { .num = 1, .path = { make("2001:db8:2::ffff", 1024, 0) } };

	EXPECT_STREQ("01 10 00 11", order(&a, &b));
	EXPECT_STREQ("10 00", order(&c, &d));
}

TEST(then_the_same_vlan_then_the_larger_mtu_then_the_places)
{
	const struct rcx_paths a = { .num = 3, .path = {
		make("2001:db8::1", 1024, 0), make("2001:db8::2", 4096, 0),
		make("2001:db8::3", 1024, 7),
	} }, b = { .num = 1, .path = { make("2001:db8::9", 4096, 7) } };
	const struct rcx_paths c = { .num = 2, .path = {
		make("2001:db8::1", 1024, 0), make("2001:db8::2", 1024, 0),
	} }, d = { .num = 2, .path = {
		make("2001:db8::3", 1024, 0), make("2001:db8::4", 1024, 0),
	} };

	EXPECT_STREQ("20 10 00", order(&a, &b));
	EXPECT_STREQ("00 01 10 11", order(&c, &d));
}

static uint32_t draw(uint32_t below)
{
	return random() % below;
}

/* Draw from few values, so that many paths are alike. */
static void draw_paths(struct rcx_paths *paths)
{
	static const char * const addresses[] = {
		"10.0.0.1", "10.0.1.2", "192.0.2.7", "fe80::1", "fe80::2:3",
		"2001:db8::1", "2001:db8:1::2", "fd00::3",
	};
	uint32_t i;

	memset(paths, 0, sizeof(*paths));
	paths->num = 1 + draw(RCX_PATHS_MAX);
	for (i = 0; i < paths->num; i++) {
		struct rcl_path *path = &paths->path[i];

		*path = draw(4) ? make(addresses[draw(8)], 256 << draw(5),
				       draw(3)) :
				  infiniband(addresses[3 + draw(5)]);
		path->gid[15] = 1 + draw(3);
	}
}

/* Do both ends get the same pairs, each only once? */
static bool same_for_both(const struct rcx_paths *a, const struct rcx_paths *b)
{
	struct rcx_pair here[RCX_TRIES_MAX], there[RCX_TRIES_MAX];
	uint8_t bytes[2][RCX_PATHS_LEN];
	struct rcx_paths got[2] = { 0 };
	unsigned int num, i, j;
	char err[1024];

	/* An end knows the other end's list as it came over the wire. */
	if (rcx_paths_decode(&got[0], bytes[0],
			     rcx_paths_encode(a, bytes[0]), err) ||
	    rcx_paths_decode(&got[1], bytes[1],
			     rcx_paths_encode(b, bytes[1]), err))
		return false;
	num = rcx_paths_order(a, &got[1], here);
	if (num != rcx_paths_order(&got[0], b, there) ||
	    memcmp(here, there, num * sizeof(here[0])))
		return false;
	for (i = 0; i < num; i++) {
		if (here[i].initiator >= a->num || here[i].responder >= b->num)
			return false;
		for (j = 0; j < i; j++)
			if (!memcmp(&here[i], &here[j], sizeof(here[i])))
				return false;
	}

	return true;
}

/* The initiator's path in the first pair also beats each other one alone. */
static bool first_is_best(const struct rcx_paths *a, const struct rcx_paths *b)
{
	struct rcx_pair pairs[RCX_TRIES_MAX], pair[RCX_TRIES_MAX];
	struct rcx_paths two = { .num = 2 }, one = { .num = 1 };
	unsigned int i, first;

	if (!rcx_paths_order(a, b, pairs))
		return true;
	first = pairs[0].initiator;
	one.path[0] = b->path[pairs[0].responder];
	for (i = 0; i < a->num; i++) {
		const bool behind = i > first;

		if (i == first)
			continue;
		/* Keep the order of the two, which may decide. */
		two.path[behind] = a->path[i];
		two.path[!behind] = a->path[first];
		if (!rcx_paths_order(&two, &one, pair) ||
		    pair[0].initiator == behind)
			return false;
	}

	return true;
}

TEST(random_lists_have_one_order)
{
	struct rcx_paths a, b;
	int i;

	srandom(1);
	for (i = 0; i < ROUNDS; i++) {
		draw_paths(&a);
		draw_paths(&b);
		ASSERT_TRUE(same_for_both(&a, &b)) TH_LOG("round %d", i);
		ASSERT_TRUE(first_is_best(&a, &b)) TH_LOG("round %d", i);
	}
}

TEST(a_path_in_words)
{
	struct rcl_path path = make("192.0.2.1", 1024, 0);
	char text[RCX_PATH_LEN];

	EXPECT_STREQ("192.0.2.1 (rxe0 port 1)", rcx_path_text(&path, text));
	path = make("2001:db8::1", 1024, 0);
	path.port = UINT32_MAX;
	memset(path.device, 'd', RCLINK_DEVICE_MAX);
	EXPECT_STREQ("2001:db8::1 (dddddddddddddddddddd port 4294967295)",
		     rcx_path_text(&path, text));
}

TEST_HARNESS_MAIN
