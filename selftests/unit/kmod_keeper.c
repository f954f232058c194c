// SPDX-License-Identifier: GPL-2.0
/*
 * Who gets which key of which group, and with which number. keeper.c itself is
 * included, because it needs a clock, random numbers and locks.
 */
#include "../../kmod/keeper.c"

#include "kselftest_harness.h"

#define QKEY	0x80000005
#define TURNS	1000

unsigned long jiffies;

static u64 luck;

u64 get_random_u64(void)
{
	/* Begins with 0, which is not a valid identifier. */
	return luck++;
}

static int age = 3;

int rcl_group_seal_age(void)
{
	return age;
}

void get_random_bytes(void *buf, size_t len)
{
	memset(buf, luck, len);
}

FIXTURE(kept)
{
	struct rcl_keeper_links links;
	struct rcl_keeper keeper, other;
	struct rcl_group_grant grant;
};

static unsigned int rekeys;
static bool at_once;

static void rekeyed(struct rcl_keeper *keeper, bool now)
{
	rekeys++;
	at_once = now;
}

static void start(struct rcl_keeper *keeper, const char *name,
		  const struct rcl_keeper_links *links)
{
	memset(keeper, 0, sizeof(*keeper));
	keeper->name = name;
	keeper->rekeyed = rekeyed;
	rcl_keeper_start(keeper, QKEY, links);
}

FIXTURE_SETUP(kept)
{
	static const struct rcl_keeper_links none;

	jiffies = 0;
	luck = 0;
	rekeys = 0;
	memset(&self->links, 0, sizeof(self->links));
	self->links.n = 2;
	strcpy(self->links.name[0], "a");
	strcpy(self->links.name[1], "b");
	start(&self->other, "other", &none);
	start(&self->keeper, "g", &self->links);
	ASSERT_EQ(2, rekeys);
	ASSERT_NE(0, self->other.grant.id);
}

FIXTURE_TEARDOWN(kept)
{
	static const u8 wiped[RCLINK_KEY_LEN];

	rcl_keeper_stop(&self->keeper);
	rcl_keeper_stop(&self->other);
	EXPECT_EQ(0, memcmp(self->keeper.grant.key, wiped, sizeof(wiped)));
	EXPECT_EQ(-EACCES, rcl_keeper_ask("a", "g", 0, &self->grant));
}

TEST_F(kept, only_links_that_it_is_for_get_it)
{
	struct rcl_group_grant none = { 0 };

	EXPECT_EQ(-EACCES, rcl_keeper_ask("c", "g", 0, &none));
	EXPECT_EQ(-EACCES, rcl_keeper_ask("", "g", 0, &none));
	EXPECT_EQ(-EACCES, rcl_keeper_ask("a", "other", 0, &none));
	EXPECT_EQ(-EACCES, rcl_keeper_ask("a", "h", 0, &none));
	EXPECT_EQ(0, none.id);
	EXPECT_EQ(1, rcl_keeper_ask("a", "g", 0, &self->grant));
	EXPECT_EQ(self->keeper.grant.id, self->grant.id);
	EXPECT_EQ(3, self->keeper.grant.age);
	EXPECT_EQ(QKEY, self->grant.qkey);
	EXPECT_EQ(1, self->grant.sender);
	EXPECT_EQ(0, memcmp(self->keeper.grant.key, self->grant.key,
			    sizeof(self->grant.key)));
}

TEST_F(kept, who_has_the_newest_gets_no_number)
{
	struct rcl_group_grant none = { 0 };
	int i;

	for (i = 0; i < TURNS; i++)
		ASSERT_EQ(0, rcl_keeper_ask("a", "g", self->keeper.grant.id,
					    &none));
	EXPECT_EQ(0, none.id);
	EXPECT_EQ(1, rcl_keeper_ask("a", "g", 0, &self->grant));
	EXPECT_EQ(1, self->grant.sender);
}

TEST_F(kept, each_link_gets_a_number_a_second)
{
	EXPECT_EQ(1, rcl_keeper_ask("a", "g", 0, &self->grant));
	EXPECT_EQ(-EBUSY, rcl_keeper_ask("a", "g", 0, &self->grant));
	EXPECT_EQ(1, rcl_keeper_ask("b", "g", 0, &self->grant));
	EXPECT_EQ(2, self->grant.sender);
	jiffies += 999;
	EXPECT_EQ(-EBUSY, rcl_keeper_ask("b", "g", 0, &self->grant));
	jiffies += 2;
	EXPECT_EQ(1, rcl_keeper_ask("a", "g", 0, &self->grant));
	EXPECT_EQ(3, self->grant.sender);
}

TEST_F(kept, no_number_of_a_key_is_given_twice)
{
	u64 id = self->keeper.grant.id;
	u32 want = 1, keys = 1;
	int i;

	for (i = 0; i < TURNS; i++) {
		jiffies += 1001;
		ASSERT_EQ(1, rcl_keeper_ask(i % 2 ? "a" : "b", "g", 0,
					    &self->grant));
		if (want == RCLINK_GROUP_MEMBERS_MAX) {
			want = 1;
			keys++;
			ASSERT_FALSE(at_once);
			ASSERT_NE(id, self->grant.id);
			id = self->grant.id;
		}
		ASSERT_EQ(id, self->grant.id);
		ASSERT_EQ(want, self->grant.sender);
		ASSERT_EQ(0, self->keeper.grant.sender);
		want++;
	}
	EXPECT_LT(10, keys);
	EXPECT_EQ(1 + keys, rekeys);
}

static int set(struct rcl_keeper *keeper, const char *on, const char *off,
	       bool rekey)
{
	struct rcl_keeper_change change = { .rekey = rekey };
	const char *why = NULL;
	int ret;

	for (; *on; on++)
		change.on.name[change.on.n++][0] = *on;
	for (; *off; off++)
		change.off.name[change.off.n++][0] = *off;
	ret = rcl_keeper_set(keeper, &change, &why);
	return ret && !why ? -EFAULT : ret;
}

/* The links that may have the key, one letter each, in order. */
static const char *who(struct rcl_keeper *keeper)
{
	static char all[RCLINK_GROUP_LINKS_MAX + 1];
	struct rcl_keeper_links links;
	u32 i;

	rcl_keeper_read(keeper, &links);
	for (i = 0; i < links.n; i++)
		all[i] = links.name[i][0];
	all[i] = '\0';
	return all;
}

TEST_F(kept, who_is_put_on_the_list_gets_the_key_that_is_there)
{
	u64 id = self->keeper.grant.id;

	EXPECT_EQ(0, set(&self->keeper, "cb", "", false));
	EXPECT_STREQ("abc", who(&self->keeper));
	EXPECT_EQ(2, rekeys);
	EXPECT_EQ(1, rcl_keeper_ask("c", "g", 0, &self->grant));
	EXPECT_EQ(id, self->grant.id);
}

TEST_F(kept, who_is_taken_off_gets_none_and_the_others_another)
{
	struct rcl_group_grant none = { 0 };
	u64 id = self->keeper.grant.id;

	EXPECT_EQ(0, set(&self->keeper, "cd", "", false));
	EXPECT_EQ(1, rcl_keeper_ask("b", "g", 0, &self->grant));
	EXPECT_EQ(1, rcl_keeper_ask("c", "g", 0, &self->grant));
	EXPECT_EQ(0, set(&self->keeper, "e", "ac", false));
	EXPECT_STREQ("bde", who(&self->keeper));
	EXPECT_EQ(3, rekeys);
	EXPECT_TRUE(at_once);
	EXPECT_NE(id, self->keeper.grant.id);
	EXPECT_EQ(-EACCES, rcl_keeper_ask("a", "g", id, &none));
	EXPECT_EQ(-EACCES, rcl_keeper_ask("c", "g", id, &none));
	EXPECT_EQ(0, none.id);
	/* A link that has got a number still has to wait its second. */
	EXPECT_EQ(-EBUSY, rcl_keeper_ask("b", "g", id, &self->grant));
	EXPECT_EQ(1, rcl_keeper_ask("d", "g", id, &self->grant));
	EXPECT_EQ(1, self->grant.sender);
	jiffies += 1001;
	EXPECT_EQ(1, rcl_keeper_ask("b", "g", id, &self->grant));
	EXPECT_EQ(2, self->grant.sender);
}

TEST_F(kept, a_change_that_is_refused_changes_nothing)
{
	EXPECT_EQ(-ENOENT, set(&self->keeper, "c", "ad", true));
	EXPECT_EQ(-EINVAL, set(&self->keeper, "c", "aa", true));
	EXPECT_EQ(-EINVAL, set(&self->keeper, "ac", "a", true));
	EXPECT_STREQ("ab", who(&self->keeper));
	EXPECT_EQ(2, rekeys);
	EXPECT_EQ(0, set(&self->keeper, "", "", true));
	EXPECT_EQ(3, rekeys);
	EXPECT_TRUE(at_once);
}

TEST_F(kept, there_is_no_key_while_this_host_sleeps)
{
	static const u8 wiped[RCLINK_KEY_LEN];
	u64 id = self->keeper.grant.id;
	struct rcl_group_grant none = { 0 };
	struct rcl_keeper late;

	EXPECT_EQ(1, rcl_keeper_ask("a", "g", 0, &self->grant));
	rcl_keeper_sleep();
	EXPECT_EQ(0, memcmp(self->keeper.grant.key, wiped, sizeof(wiped)));
	jiffies += 1001;
	EXPECT_EQ(-EBUSY, rcl_keeper_ask("a", "g", 0, &none));
	EXPECT_EQ(-EBUSY, rcl_keeper_ask("a", "g", id, &none));
	EXPECT_EQ(-EACCES, rcl_keeper_ask("c", "g", 0, &none));
	EXPECT_EQ(0, set(&self->keeper, "c", "b", true));
	start(&late, "late", &self->links);
	EXPECT_EQ(-EBUSY, rcl_keeper_ask("a", "late", 0, &none));
	EXPECT_EQ(0, none.id);
	EXPECT_EQ(2, rekeys);

	rcl_keeper_wake();
	EXPECT_EQ(5, rekeys);
	EXPECT_TRUE(at_once);
	EXPECT_NE(id, self->keeper.grant.id);
	EXPECT_EQ(1, rcl_keeper_ask("a", "g", id, &self->grant));
	EXPECT_EQ(self->keeper.grant.id, self->grant.id);
	EXPECT_EQ(QKEY, self->grant.qkey);
	EXPECT_EQ(1, self->grant.sender);
	EXPECT_EQ(-EACCES, rcl_keeper_ask("b", "g", id, &none));
	EXPECT_EQ(1, rcl_keeper_ask("b", "late", 0, &self->grant));
	rcl_keeper_stop(&late);
}

/* The other copy gives the same numbers away. */
TEST_F(kept, a_key_that_a_copy_of_this_host_has_is_given_to_nobody)
{
	u64 id = self->keeper.grant.id;
	struct rcl_group_grant none = { 0 };

	age++;
	EXPECT_EQ(-EBUSY, rcl_keeper_ask("a", "g", 0, &none));
	EXPECT_EQ(-EACCES, rcl_keeper_ask("c", "g", 0, &none));
	EXPECT_EQ(0, none.id);
	rcl_keeper_sleep();
	rcl_keeper_wake();
	EXPECT_EQ(1, rcl_keeper_ask("a", "g", id, &self->grant));
	EXPECT_NE(id, self->grant.id);
}

TEST_F(kept, the_list_has_an_end)
{
	static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456";
	char some[sizeof(all)];

	strcpy(some, all);
	some[RCLINK_GROUP_LINKS_MAX - 1] = '\0';
	EXPECT_EQ(-ENOSPC, set(&self->keeper, some, "", false));
	EXPECT_STREQ("ab", who(&self->keeper));
	EXPECT_EQ(0, set(&self->keeper, some, "a", false));
	EXPECT_EQ(RCLINK_GROUP_LINKS_MAX, strlen(who(&self->keeper)));
	EXPECT_EQ(0, set(&self->keeper, "a", "A", false));
	EXPECT_EQ('a', who(&self->keeper)[RCLINK_GROUP_LINKS_MAX - 1]);
	EXPECT_EQ(-ENOSPC, set(&self->keeper, "A", "", false));
}

TEST_HARNESS_MAIN
