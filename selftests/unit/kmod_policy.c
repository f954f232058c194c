// SPDX-License-Identifier: GPL-2.0
/* Ranges of what an operator may set, written down independently. */
#include "policy.h"

#include <errno.h>

#include <kselftest_harness.h>

static const struct {
	const char *word;
	u32 def, min, max;
} fields[RCL_P_MAX] = {
	[RCL_P_PORT] = { "port", 0, 0, 255 },
	[RCL_P_GID_INDEX] = { "gid-index", 0xffffffff, 0, 0xffffffff },
	[RCL_P_MTU] = { "mtu", 0, 256, 4096 },
	[RCL_P_QPS] = { "qps", 4, 1, 64 },
	[RCL_P_TIMEOUT] = { "timeout", 14, 1, 31 },
	[RCL_P_RETRY] = { "retry", 6, 0, 7 },
	[RCL_P_RNR_RETRY] = { "rnr-retry", 6, 0, 7 },
	[RCL_P_MIN_RNR_TIMER] = { "min-rnr-timer", 12, 0, 31 },
	[RCL_P_RD_ATOMIC] = { "rd-atomic", 4, 1, 255 },
	[RCL_P_SL] = { "sl", 0, 0, 15 },
	[RCL_P_TRAFFIC_CLASS] = { "traffic-class", 0, 0, 255 },
	[RCL_P_HOP_LIMIT] = { "hop-limit", 0, 0, 255 },
	[RCL_P_FLOW_LABEL] = { "flow-label", 0, 0, 0xfffff },
	[RCL_P_PKEY_INDEX] = { "pkey-index", 0, 0, 65535 },
	[RCL_P_BUFFER_SIZE] = { "buffer-size", 65536, 4096, 1048576 },
	[RCL_P_LOOPBACK] = { "loopback", 0, 0, 1 },
	[RCL_P_OWNER] = { "owner", 0, 0, 0xfffffffe },
	[RCL_P_GROUP] = { "group", 0, 0, 0xfffffffe },
	[RCL_P_MODE] = { "mode", 0600, 0, 0666 },
	[RCL_P_HEARTBEAT] = { "heartbeat", 200, 0, 60000 },
	[RCL_P_MISSES] = { "misses", 3, 2, 100 },
	[RCL_P_RECOVER] = { "recover", 0, 0, 1 },
};

static int set(int field, u32 value, const char **why)
{
	struct rcl_policy_change change;

	memset(&change, 0, sizeof(change));
	change.mask = 1U << field;
	change.to.v[field] = value;
	*why = NULL;
	return rcl_policy_check(&change, why);
}

TEST(defaults_are_as_documented)
{
	struct rcl_policy policy;
	int i;

	memset(&policy, 0xff, sizeof(policy));
	rcl_policy_default(&policy);
	EXPECT_STREQ("", policy.device);
	for (i = 0; i < RCL_P_MAX; i++)
		EXPECT_EQ(fields[i].def, policy.v[i])
			TH_LOG("%s", fields[i].word);
}

TEST(both_ends_of_each_range_are_allowed)
{
	const char *why;
	int i;

	for (i = 0; i < RCL_P_MAX; i++) {
		EXPECT_EQ(0, set(i, fields[i].min, &why))
			TH_LOG("%s", fields[i].word);
		EXPECT_EQ(0, set(i, fields[i].max, &why))
			TH_LOG("%s", fields[i].word);
	}
}

TEST(beyond_each_range_is_refused_by_name)
{
	const char *why;
	int i;

	for (i = 0; i < RCL_P_MAX; i++) {
		if (fields[i].min) {
			EXPECT_EQ(-EINVAL, set(i, fields[i].min - 1, &why));
			EXPECT_NE(NULL, strstr(why ?: "", fields[i].word));
		}
		if (fields[i].max == 0xffffffff)
			continue;
		EXPECT_EQ(-EINVAL, set(i, fields[i].max + 1, &why));
		EXPECT_NE(NULL, strstr(why ?: "", fields[i].word))
			TH_LOG("%s: %s", fields[i].word, why);
		EXPECT_EQ(-EINVAL, set(i, 0xffffffff, &why));
	}
}

TEST(the_mtu_is_a_power_of_two)
{
	const char *why;
	u32 mtu;

	for (mtu = 256; mtu <= 4096; mtu++)
		EXPECT_EQ(mtu & (mtu - 1) ? -EINVAL : 0,
			  set(RCL_P_MTU, mtu, &why));
}

TEST(the_mode_has_no_bits_but_r_and_w)
{
	const char *why;
	u32 mode;

	for (mode = 0; mode <= 010000; mode++)
		EXPECT_EQ(mode & ~0666 ? -EINVAL : 0,
			  set(RCL_P_MODE, mode, &why));
}

TEST(a_heartbeat_is_none_or_not_too_often)
{
	const char *why;
	u32 ms;

	for (ms = 1; ms < 10; ms++)
		EXPECT_EQ(-EINVAL, set(RCL_P_HEARTBEAT, ms, &why));
	EXPECT_NE(NULL, strstr(why, "heartbeat"));
	EXPECT_EQ(0, set(RCL_P_HEARTBEAT, 10, &why));
}

TEST(who_never_gives_up_needs_a_heartbeat)
{
	struct rcl_policy policy;
	const char *why;

	rcl_policy_default(&policy);
	EXPECT_EQ(0, rcl_policy_agrees(&policy, &why));
	policy.v[RCL_P_RETRY] = 7;
	EXPECT_EQ(0, rcl_policy_agrees(&policy, &why));
	policy.v[RCL_P_HEARTBEAT] = 0;
	EXPECT_EQ(-EINVAL, rcl_policy_agrees(&policy, &why));
	EXPECT_NE(NULL, strstr(why, "retry"));
	policy.v[RCL_P_RETRY] = 6;
	EXPECT_EQ(0, rcl_policy_agrees(&policy, &why));
}

TEST(only_fields_that_are_set_are_looked_at)
{
	struct rcl_policy_change change;
	const char *why;

	memset(&change, 0xff, sizeof(change));
	change.mask = 0;
	change.device = false;
	change.netdev = false;
	EXPECT_EQ(0, rcl_policy_check(&change, &why));
}

TEST(only_fields_that_are_set_change)
{
	struct rcl_policy_change change;
	struct rcl_policy policy, before;
	int i, j;

	for (i = 0; i < RCL_P_MAX; i++) {
		rcl_policy_default(&policy);
		before = policy;
		memset(&change, 0x5a, sizeof(change));
		change.mask = 1U << i;
		change.device = false;
		change.netdev = false;
		rcl_policy_apply(&policy, &change);
		for (j = 0; j < RCL_P_MAX; j++)
			EXPECT_EQ(i == j ? 0x5a5a5a5a : before.v[j],
				  policy.v[j]);
		EXPECT_STREQ("", policy.device);
		EXPECT_STREQ("", policy.netdev);
	}
	change.mask = 0;
	change.device = true;
	strcpy(change.to.device, "rxe0");
	before = policy;
	rcl_policy_apply(&policy, &change);
	EXPECT_STREQ("rxe0", policy.device);
	EXPECT_STREQ("", policy.netdev);
	change.to.device[0] = '\0';
	change.netdev = true;
	strcpy(change.to.netdev, "vlan5");
	rcl_policy_apply(&policy, &change);
	EXPECT_STREQ("", policy.device);
	EXPECT_STREQ("vlan5", policy.netdev);
	change.to.netdev[0] = '\0';
	rcl_policy_apply(&policy, &change);
	EXPECT_STREQ("", policy.netdev);
	EXPECT_EQ(0, memcmp(before.v, policy.v, sizeof(policy.v)));
}

TEST(names_are_words)
{
	static const char * const good[] = {
		"a", "Z", "0", "a_b.c-d", "peer-1.example",
		"1234567890123456789012345678901",
	};
	static const char * const bad[] = {
		"", " ", "_a", ".a", "-a", "a b", "a/b", "..", "a\n", "a%n",
		"\xc3\xa4", "a\x7f", "12345678901234567890123456789012",
	};
	const char *why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		EXPECT_EQ(0, rcl_policy_check_name(good[i], &why));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		why = NULL;
		EXPECT_EQ(-EINVAL, rcl_policy_check_name(bad[i], &why))
			TH_LOG("'%s'", bad[i]);
		EXPECT_NE(NULL, why);
	}
}

static int narrow(struct rcl_policy *policy, const char *device, int field,
		  u32 value, const char **why)
{
	struct rcl_policy_change path;

	memset(&path, 0, sizeof(path));
	path.device = device;
	if (device)
		strcpy(path.to.device, device);
	path.mask = field < 0 ? 0 : 1U << field;
	if (field >= 0)
		path.to.v[field] = value;
	*why = NULL;
	return rcl_policy_narrow(policy, &path, why);
}

TEST(an_exchange_chooses_what_the_operator_leaves_open)
{
	struct rcl_policy policy;
	const char *why;

	rcl_policy_default(&policy);
	EXPECT_EQ(0, narrow(&policy, NULL, -1, 0, &why));
	EXPECT_EQ(0, narrow(&policy, "rxe1", RCL_P_PORT, 2, &why));
	EXPECT_EQ(0, narrow(&policy, NULL, RCL_P_GID_INDEX, 3, &why));
	EXPECT_STREQ("rxe1", policy.device);
	EXPECT_EQ(2, policy.v[RCL_P_PORT]);
	EXPECT_EQ(3, policy.v[RCL_P_GID_INDEX]);
	EXPECT_EQ(4, policy.v[RCL_P_QPS]);
}

TEST(an_exchange_chooses_nothing_that_the_operator_has_set)
{
	struct rcl_policy policy, before;
	const char *why;

	rcl_policy_default(&policy);
	strcpy(policy.device, "rxe0");
	policy.v[RCL_P_PORT] = 1;
	policy.v[RCL_P_GID_INDEX] = 0;
	before = policy;
	EXPECT_EQ(-EINVAL, narrow(&policy, "rxe1", -1, 0, &why));
	EXPECT_NE(NULL, strstr(why, "device: "));
	EXPECT_EQ(-EINVAL, narrow(&policy, "rxe0", RCL_P_PORT, 2, &why));
	EXPECT_NE(NULL, strstr(why, "port: "));
	EXPECT_EQ(-EINVAL, narrow(&policy, NULL, RCL_P_GID_INDEX, 1, &why));
	EXPECT_NE(NULL, strstr(why, "gid-index: "));
	/* nor anything that is out of range */
	EXPECT_EQ(-EINVAL, narrow(&policy, "", -1, 0, &why));
	EXPECT_EQ(-EINVAL, narrow(&policy, NULL, RCL_P_PORT, 0, &why));
	EXPECT_EQ(0, memcmp(&before, &policy, sizeof(policy)));
	EXPECT_EQ(0, narrow(&policy, "rxe0", RCL_P_GID_INDEX, 0, &why));
}

TEST_HARNESS_MAIN
