// SPDX-License-Identifier: GPL-2.0
/* Which GID is chosen, and why; which GIDs can belong to a peer. */
#include "gid.h"

#include <arpa/inet.h>
#include <errno.h>

#include <kselftest_harness.h>

#define V1	RCLINK_GID_TYPE_ROCE_V1
#define V2	RCLINK_GID_TYPE_ROCE_V2
#define AUTO	RCLINK_GID_INDEX_AUTO

struct row {
	const char *address;
	u32 type;
	bool up;
};

/* Like rxe: link-local first, then the addresses, each as v1 and v2. */
static const struct row usual[] = {
	{ "fe80::1", V1, true }, { "fe80::1", V2, true },
	{ "2001:db8::1", V1, true }, { "2001:db8::1", V2, true },
	{ "::ffff:192.0.2.1", V1, true }, { "::ffff:192.0.2.1", V2, true },
	{ "2001:db8::2", V2, true }, { "::ffff:192.0.2.2", V2, true },
};

static void fill(struct rcl_gid *gids, const struct row *rows, u32 n)
{
	u32 i;

	memset(gids, 0, n * sizeof(*gids));
	for (i = 0; i < n; i++) {
		gids[i].index = 10 + i;
		inet_pton(AF_INET6, rows[i].address, gids[i].value);
		gids[i].type = rows[i].type;
		gids[i].netdev_up = rows[i].up;
	}
}

static int pick(const struct rcl_gid *gids, u32 n, u32 index, bool roce,
		const char **why)
{
	const struct rcl_gid_want want = { index, "" };

	return rcl_gid_choose(gids, n, &want, roce, why);
}

static int choose(const struct row *rows, u32 n, u32 want, const char **why)
{
	struct rcl_gid gids[ARRAY_SIZE(usual)];

	fill(gids, rows, n);
	*why = NULL;
	return pick(gids, n, want, true, why);
}

TEST(ipv4_comes_before_routable_ipv6_before_link_local)
{
	struct row rows[ARRAY_SIZE(usual)];
	const char *why;

	memcpy(rows, usual, sizeof(rows));
	EXPECT_EQ(5, choose(rows, ARRAY_SIZE(rows), AUTO, &why));
	EXPECT_NE(NULL, strstr(why, "IPv4"));
	rows[5].up = false;
	EXPECT_EQ(7, choose(rows, ARRAY_SIZE(rows), AUTO, &why));
	rows[7].up = false;
	EXPECT_EQ(3, choose(rows, ARRAY_SIZE(rows), AUTO, &why));
	EXPECT_NE(NULL, strstr(why, "routable IPv6"));
	rows[3].up = false;
	EXPECT_EQ(6, choose(rows, ARRAY_SIZE(rows), AUTO, &why));
	rows[6].up = false;
	EXPECT_EQ(1, choose(rows, ARRAY_SIZE(rows), AUTO, &why));
	EXPECT_NE(NULL, strstr(why, "link-local"));
	rows[1].up = false;
	EXPECT_EQ(-ENODATA, choose(rows, ARRAY_SIZE(rows), AUTO, &why));
	EXPECT_NE(NULL, strstr(why, "net device that is up"));
}

TEST(roce_v1_is_never_chosen)
{
	static const struct row rows[] = {
		{ "::ffff:192.0.2.1", V1, true }, { "fe80::1", V2, true },
	};
	const char *why;

	EXPECT_EQ(1, choose(rows, 2, AUTO, &why));
	EXPECT_EQ(-ENODATA, choose(rows, 1, AUTO, &why));
}

TEST(the_order_of_the_table_does_not_matter)
{
	static const struct row rows[] = {
		{ "::ffff:192.0.2.1", V2, true }, { "2001:db8::1", V2, true },
		{ "fe80::1", V2, true },
	};
	const char *why;

	EXPECT_EQ(0, choose(rows, 3, AUTO, &why));
	EXPECT_EQ(0, choose(rows + 1, 2, AUTO, &why));
	EXPECT_EQ(0, choose(rows + 2, 1, AUTO, &why));
}

TEST(an_empty_table_is_refused_with_a_reason)
{
	const char *why = NULL;

	EXPECT_EQ(-ENODATA, pick(NULL, 0, AUTO, true, &why));
	EXPECT_NE(NULL, why);
	why = NULL;
	EXPECT_EQ(-ENODATA, pick(NULL, 0, AUTO, false, &why));
	EXPECT_NE(NULL, why);
	why = NULL;
	EXPECT_EQ(-ENODATA, pick(NULL, 0, 0, true, &why));
	EXPECT_NE(NULL, why);
}

TEST(the_operator_is_obeyed)
{
	const char *why;

	/* by the index in the port's table, also a RoCE v1 one */
	EXPECT_EQ(2, choose(usual, ARRAY_SIZE(usual), 12, &why));
	EXPECT_STREQ("set by the operator", why);
	EXPECT_EQ(-ENODATA, choose(usual, ARRAY_SIZE(usual), 9, &why));
	EXPECT_NE(NULL, strstr(why, "gid-index"));
}

TEST(a_net_device_narrows_the_choice)
{
	struct rcl_gid_want want = { AUTO, "vlan5" };
	struct rcl_gid gids[ARRAY_SIZE(usual)];
	const char *why;
	u32 n = ARRAY_SIZE(usual);

	fill(gids, usual, n);
	EXPECT_EQ(-ENODATA, rcl_gid_choose(gids, n, &want, true, &why));
	EXPECT_NE(NULL, strstr(why, "netdev"));
	/* Link-local, and as v1. */
	strcpy(gids[1].netdev, "vlan5");
	strcpy(gids[4].netdev, "vlan5");
	strcpy(gids[5].netdev, "vlan50");
	EXPECT_EQ(1, rcl_gid_choose(gids, n, &want, true, &why));
	EXPECT_NE(NULL, strstr(why, "link-local"));
	strcpy(gids[3].netdev, "vlan5");
	EXPECT_EQ(3, rcl_gid_choose(gids, n, &want, true, &why));
	gids[3].netdev_up = false;
	EXPECT_EQ(1, rcl_gid_choose(gids, n, &want, true, &why));

	want.index = 14;
	EXPECT_EQ(4, rcl_gid_choose(gids, n, &want, true, &why));
	want.index = 15;
	EXPECT_EQ(-ENODATA, rcl_gid_choose(gids, n, &want, true, &why));
	EXPECT_NE(NULL, strstr(why, "netdev"));
	EXPECT_EQ(-ENODATA, rcl_gid_choose(gids, n, &want, false, &why));
	EXPECT_NE(NULL, strstr(why, "InfiniBand"));
	want.index = AUTO;
	EXPECT_EQ(-ENODATA, rcl_gid_choose(gids, n, &want, false, &why));
	EXPECT_NE(NULL, strstr(why, "InfiniBand"));
}

TEST(what_could_be_chosen_is_usable)
{
	struct rcl_gid gids[ARRAY_SIZE(usual)];
	const char *why;
	unsigned int i;

	fill(gids, usual, ARRAY_SIZE(usual));
	for (i = 0; i < ARRAY_SIZE(usual); i++) {
		EXPECT_EQ(!pick(&gids[i], 1, AUTO, true, &why),
			  rcl_gid_is_usable(&gids[i], true));
		EXPECT_EQ(!gids[i].index, rcl_gid_is_usable(&gids[i], false));
	}
}

TEST(the_rank_says_which_of_two_is_chosen)
{
	static const char *const addresses[] = {
		"fe80::1", "febf::1", "fec0::1", "2001:db8::1", "fd00::1",
		"::ffff:192.0.2.1", "::ffff:10.0.0.1",
	};
	struct row rows[2] = { { NULL, V2, true }, { NULL, V2, true } };
	unsigned int i, rank[2];
	struct rcl_gid gids[2];
	const char *why;

	for (i = 0; i < ARRAY_SIZE(addresses) * ARRAY_SIZE(addresses); i++) {
		rows[0].address = addresses[i / ARRAY_SIZE(addresses)];
		rows[1].address = addresses[i % ARRAY_SIZE(addresses)];
		fill(gids, rows, 2);
		rank[0] = rcl_gid_rank(gids[0].value);
		rank[1] = rcl_gid_rank(gids[1].value);
		EXPECT_NE(0, rank[0]);
		EXPECT_EQ(rank[1] > rank[0],
			  pick(gids, 2, AUTO, true, &why))
			TH_LOG("%s, %s", rows[0].address, rows[1].address);
	}
}

TEST(infiniband_takes_index_0)
{
	struct rcl_gid gids[2];
	const char *why;

	fill(gids, usual, 2);
	gids[0].index = 0;
	gids[1].index = 1;
	EXPECT_EQ(0, pick(gids, 2, AUTO, false, &why));
	EXPECT_STREQ("InfiniBand, index 0", why);
	EXPECT_EQ(-ENODATA, pick(gids + 1, 1, AUTO, false, &why));
	EXPECT_EQ(1, pick(gids, 2, 1, false, &why));
}

TEST(only_unicast_addresses_can_be_a_peers)
{
	static const struct {
		const char *address;
		bool ok;
	} table[] = {
		{ "::", false }, { "::1", false }, { "ff02::1", false },
		{ "ff0e::1", false }, { "::ffff:0.0.0.0", false },
		{ "::ffff:0.1.2.3", false }, { "::ffff:127.0.0.1", false },
		{ "::ffff:224.0.0.1", false }, { "::ffff:239.1.1.1", false },
		{ "::ffff:240.0.0.1", false },
		{ "::ffff:255.255.255.255", false },
		{ "::ffff:192.0.2.1", true }, { "::ffff:1.0.0.1", true },
		{ "::ffff:223.255.255.254", true }, { "fe80::1", true },
		{ "2001:db8::1", true }, { "fd00::1", true },
		{ "::2", true }, { "fe00::1", true },
	};
	u8 gid[RCLINK_GID_LEN];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		ASSERT_EQ(1, inet_pton(AF_INET6, table[i].address, gid));
		EXPECT_EQ(table[i].ok, rcl_gid_is_unicast(gid))
			TH_LOG("%s", table[i].address);
	}
}

TEST(only_multicast_addresses_can_be_a_groups)
{
	static const struct {
		const char *address;
		bool ok;
	} table[] = {
		{ "::", false }, { "::1", false }, { "fe80::1", false },
		{ "2001:db8::1", false }, { "ff02::1", true },
		{ "ff15::1:2", true }, { "::ffff:223.255.255.255", false },
		{ "::ffff:224.0.0.1", true },
		{ "::ffff:239.255.255.255", true },
		{ "::ffff:240.0.0.1", false }, { "::239.1.2.3", false },
	};
	u8 gid[RCLINK_GID_LEN];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		ASSERT_EQ(1, inet_pton(AF_INET6, table[i].address, gid));
		EXPECT_EQ(table[i].ok, rcl_gid_is_multicast(gid))
			TH_LOG("%s", table[i].address);
	}
}

TEST(an_ipv4_gid_is_known)
{
	u8 gid[RCLINK_GID_LEN];

	inet_pton(AF_INET6, "::ffff:192.0.2.1", gid);
	EXPECT_TRUE(rcl_gid_is_v4(gid));
	EXPECT_FALSE(rcl_gid_is_zero(gid));
	inet_pton(AF_INET6, "::192.0.2.1", gid);
	EXPECT_FALSE(rcl_gid_is_v4(gid));
	inet_pton(AF_INET6, "::", gid);
	EXPECT_TRUE(rcl_gid_is_zero(gid));
}

TEST_HARNESS_MAIN
