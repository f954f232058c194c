// SPDX-License-Identifier: GPL-2.0
/* How the daemon makes, changes and deletes its groups in the module. */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <kselftest_harness.h>

#include "groups_module.h"

#define PIN	"sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define LINKS	"[Link a]\npin = " PIN "\n[Link b]\npin = " PIN "\n" \
		"[Link c]\npin = " PIN "\n"
#define G	LINKS "[Group g]\nmgid = ff15::1\n"

/* Run the next timer and the requests that it starts; 1: there is no timer. */
static int turn(struct event_base *base)
{
	int ret = event_base_loop(base, EVLOOP_ONCE);

	settle();
	return ret;
}

FIXTURE(groups)
{
	struct event_base *base;
	struct rcd_groups *all;
};

FIXTURE_SETUP(groups)
{
	char err[RCL_ERR_LEN];

	memset(&module, 0, sizeof(module));
	memset(&asks, 0, sizeof(asks));
	module.loaded = true;
	self->base = event_base_new();
	self->all = rcd_groups_new(self->base, NULL, err);
	ASSERT_NE(NULL, self->all);
}

FIXTURE_TEARDOWN(groups)
{
	rcd_groups_free(self->all);
	event_base_free(self->base);
	EXPECT_EQ(0, asks.sockets);
}

TEST_F(groups, made_once)
{
	ASSERT_TRUE(follow(self->all, G "link = a\n"));
	ASSERT_EQ(1, module.num);
	EXPECT_STREQ("g", module.group[0].name);
	EXPECT_STREQ("a", module.group[0].link[0]);
	look(self->all);
	ASSERT_TRUE(follow(self->all, G "link = a\n"));
	EXPECT_EQ(1, module.added);
	EXPECT_EQ(0, module.deleted + module.changed + module.errors);
}

TEST_F(groups, taken_over_by_the_next_daemon)
{
	static const char text[] =
		G "dev = rxe0\nport = 1\ngid-index = 2\nqkey = 3\nlink = a\n"
		"[Group h]\nmgid = 239.1.2.3\nfrom = b\n";
	struct rcd_groups *next;
	char err[RCL_ERR_LEN];

	ASSERT_TRUE(follow(self->all, text));
	next = rcd_groups_new(self->base, NULL, err);
	ASSERT_TRUE(follow(next, text));
	EXPECT_EQ(2, module.added);
	EXPECT_EQ(0, module.deleted + module.changed + module.errors);
	/* So the next daemon deletes them. */
	ASSERT_TRUE(follow(next, LINKS));
	EXPECT_EQ(0, module.num);
	rcd_groups_free(next);
}

static const char *const other[] = {
	LINKS "[Group g]\nmgid = ff15::2\n",
	G "dev = rxe0\n",
	G "dev = rxe1\n",
	G "port = 1\n",
	G "gid-index = 1\n",
	G "gid-index = 2\n",
	G "mlid = 0xc001\n",
	G "qkey = 1\n",
	G "from = a\n",
};

TEST_F(groups, another_one_is_made_anew)
{
	unsigned int i, n = 0;

	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		ASSERT_TRUE(follow(self->all, G));
		EXPECT_EQ(++n, module.added) TH_LOG("other[%u]", i);
		ASSERT_TRUE(follow(self->all, other[i]));
		EXPECT_EQ(++n, module.added) TH_LOG("other[%u]", i);
		look(self->all);
		EXPECT_EQ(n, module.added) TH_LOG("other[%u]", i);
		EXPECT_EQ(n - 1, module.deleted) TH_LOG("other[%u]", i);
	}
	EXPECT_EQ(1, module.num);
	EXPECT_EQ(0, module.changed + module.errors);
}

/* As at a start: the module tells no more than the values in use. */
TEST_F(groups, what_the_module_has_chosen_will_do)
{
	struct rcd_groups *next;
	char err[RCL_ERR_LEN];

	ASSERT_TRUE(follow(self->all, G));
	next = rcd_groups_new(self->base, NULL, err);
	ASSERT_TRUE(follow(next, G "dev = rxe0\nport=1\ngid-index = 1\n"));
	EXPECT_EQ(1, module.added);
	ASSERT_TRUE(follow(next, G "dev = rxe0\nport=1\ngid-index = 2\n"));
	EXPECT_EQ(2, module.added);
	ASSERT_TRUE(follow(next, G "dev = rxe0\nport=2\ngid-index = 2\n"));
	EXPECT_EQ(3, module.added);
	ASSERT_TRUE(follow(next, G "dev = rxe2\nport=2\ngid-index = 2\n"));
	EXPECT_EQ(4, module.added);
	EXPECT_EQ(1, module.num);
	rcd_groups_free(next);
}

TEST_F(groups, auto_is_as_if_not_given)
{
	ASSERT_TRUE(follow(self->all, G));
	ASSERT_TRUE(follow(self->all, G "gid-index = auto\n"));
	EXPECT_EQ(1, module.added);
}

TEST_F(groups, its_links_are_changed)
{
	ASSERT_TRUE(follow(self->all, G "link = a, b\n"));
	ASSERT_TRUE(follow(self->all, G "link = c, b\n"));
	EXPECT_EQ(1, module.changed);
	ASSERT_EQ(2, module.group[0].nlinks);
	EXPECT_STREQ("b", module.group[0].link[0]);
	EXPECT_STREQ("c", module.group[0].link[1]);
	ASSERT_TRUE(follow(self->all, G));
	EXPECT_EQ(2, module.changed);
	EXPECT_EQ(0, module.group[0].nlinks);
	EXPECT_EQ(1, module.added);
	EXPECT_EQ(0, module.deleted + module.errors);
}

/* The daemon looks because events were lost, for example. */
TEST_F(groups, changed_by_hand_it_stays_so_until_the_files_are_read)
{
	const struct rcl_group_change hand = {
		.on = { "c" }, .non = 1, .off = { "a" }, .noff = 1,
	};

	ASSERT_TRUE(follow(self->all, G "link = a, b\n"));
	ASSERT_EQ(0, rcl_call_group_set(NULL, "g", &hand, NULL));
	look(self->all);
	EXPECT_EQ(1, module.changed);
	EXPECT_STREQ("b", module.group[0].link[0]);
	EXPECT_STREQ("c", module.group[0].link[1]);
	ASSERT_TRUE(follow(self->all, G "link = a, b\n"));
	EXPECT_EQ(2, module.changed);
	ASSERT_EQ(2, module.group[0].nlinks);
	EXPECT_STREQ("b", module.group[0].link[0]);
	EXPECT_STREQ("a", module.group[0].link[1]);
	EXPECT_EQ(0, module.errors);
}

/* As events were lost, the daemon sees the new group only when it looks. */
TEST_F(groups, made_anew_by_hand_it_has_its_links_again)
{
	struct rcl_group_info hand;

	ASSERT_TRUE(follow(self->all, G "link = a\n"));
	look(self->all);
	EXPECT_EQ(0, module.changed);
	hand = module.group[0];
	strcpy(hand.link[0], "b");
	ASSERT_EQ(0, rcl_call_group_del(NULL, "g", NULL));
	have(&hand);
	look(self->all);
	EXPECT_EQ(1, module.changed);
	ASSERT_EQ(1, module.group[0].nlinks);
	EXPECT_STREQ("a", module.group[0].link[0]);
	EXPECT_EQ(1, module.added);
	look(self->all);
	EXPECT_EQ(1, module.changed);
	EXPECT_EQ(0, module.errors);
}

TEST_F(groups, refused_a_change_is_tried_again)
{
	ASSERT_TRUE(follow(self->all, G "link = a\n"));
	module.refuses = true;
	ASSERT_TRUE(follow(self->all, G "link = b\n"));
	EXPECT_EQ(1, module.errors);
	EXPECT_EQ(0, turn(self->base));
	module.refuses = false;
	EXPECT_EQ(0, turn(self->base));
	EXPECT_EQ(3, module.changed);
	EXPECT_STREQ("b", module.group[0].link[0]);
	EXPECT_EQ(1, turn(self->base));
}

/* The peer that had the link may have the key. */
TEST_F(groups, another_peer_means_another_key)
{
	ASSERT_TRUE(follow(self->all, G "link = a, b\n[Group h]\n"
			   "mgid = ff15::2\nfrom = a\n[Group i]\n"
			   "mgid = ff15::3\nlink = c\n"));
	rcd_groups_other(self->all, "a");
	settle();
	EXPECT_EQ(1, module.rekeyed);
	EXPECT_EQ(1, module.changed);
	EXPECT_STREQ("group g: changed: its key", module.said);
	look(self->all);
	EXPECT_EQ(1, module.rekeyed);
	module.refuses = true;
	rcd_groups_other(self->all, "b");
	rcd_groups_other(self->all, "a");
	settle();
	EXPECT_NE(0, module.errors);
	EXPECT_EQ(1, module.rekeyed);
	module.refuses = false;
	EXPECT_EQ(0, turn(self->base));
	EXPECT_EQ(2, module.rekeyed);
	EXPECT_EQ(1, turn(self->base));
}

TEST_F(groups, so_it_does_for_one_that_goes_and_is_back_at_once)
{
	ASSERT_TRUE(follow(self->all, G "link = a, b\n"));
	ASSERT_TRUE(begin(self->all, G "link = a\n"));
	ASSERT_TRUE(begin(self->all, LINKS));
	rcd_groups_other(self->all, "a");
	ASSERT_TRUE(begin(self->all, G "link = a\n"));
	settle();
	EXPECT_EQ(1, module.rekeyed);
}

TEST_F(groups, so_it_does_for_those_that_others_have_made)
{
	const struct rcl_group_info gives = {
		.name = "h", .link = { "c", "a" }, .nlinks = 2,
	};
	const struct rcl_group_info gets = { .name = "i", .from = "a" };

	have(&gives);
	have(&gets);
	ASSERT_TRUE(follow(self->all, G "link = b\n"));
	rcd_groups_other(self->all, "b");
	settle();
	EXPECT_EQ(1, module.rekeyed);
	EXPECT_STREQ("group g: changed: its key", module.said);
	rcd_groups_other(self->all, "a");
	EXPECT_EQ(2, module.rekeyed);
	EXPECT_STREQ("group h: changed: its key", module.said);
	module.refuses = true;
	rcd_groups_other(self->all, "c");
	EXPECT_EQ(1, module.errors);
	EXPECT_NE(NULL, strstr(module.said, "`rclink group set h rekey`"));
}

TEST_F(groups, who_may_use_it_is_changed)
{
	const uint32_t *v = module.group[0].access.v;

	ASSERT_TRUE(follow(self->all, G "owner = 7\nmode = 0660\n"));
	EXPECT_EQ(0, module.changed);
	ASSERT_TRUE(follow(self->all, G "owner = 7\nmode = 0640\ngroup = 8\n"));
	EXPECT_EQ(1, module.changed);
	EXPECT_TRUE(v[RCL_P_OWNER] == 7 && v[RCL_P_GROUP] == 8);
	EXPECT_EQ(0640, v[RCL_P_MODE]);
	/* Rights that the file no longer gives return to their defaults. */
	ASSERT_TRUE(follow(self->all, G));
	EXPECT_EQ(2, module.changed);
	EXPECT_TRUE(!v[RCL_P_OWNER] && !v[RCL_P_GROUP]);
	EXPECT_EQ(0600, v[RCL_P_MODE]);
	look(self->all);
	EXPECT_EQ(2, module.changed);
	EXPECT_EQ(1, module.added);
	EXPECT_EQ(0, module.deleted + module.errors);
}

TEST_F(groups, others_are_left_alone)
{
	const struct rcl_group_info hand = { .name = "h", .mgid = { 0xff } };

	have(&hand);
	ASSERT_TRUE(follow(self->all, G));
	ASSERT_TRUE(follow(self->all, LINKS));
	ASSERT_EQ(1, module.num);
	EXPECT_STREQ("h", module.group[0].name);
	EXPECT_EQ(1, module.deleted);
}

/* A group that was refused, and then made by hand, is not the daemon's. */
TEST_F(groups, never_made_never_deleted)
{
	const struct rcl_group_info hand = { .name = "g", .mgid = { 0xff } };

	module.refuses = true;
	ASSERT_TRUE(follow(self->all, G));
	have(&hand);
	ASSERT_TRUE(follow(self->all, LINKS));
	EXPECT_EQ(1, module.num);
	EXPECT_EQ(0, module.deleted);
}

TEST_F(groups, refused_it_is_tried_again)
{
	module.refuses = true;
	ASSERT_TRUE(follow(self->all, G "link = a\n"));
	EXPECT_EQ(1, module.failures);
	turn(self->base);
	EXPECT_EQ(2, module.failures);
	turn(self->base);
	EXPECT_EQ(3, module.failures);
	EXPECT_EQ(3, module.errors);
	module.refuses = false;
	turn(self->base);
	EXPECT_EQ(1, module.num);
	EXPECT_EQ(4, module.added);
	/* That was all: there is no timer any more. */
	EXPECT_EQ(1, turn(self->base));
	EXPECT_EQ(3, module.errors);
	/* The next failure is counted from one again. */
	module.num = 0;
	module.refuses = true;
	look(self->all);
	EXPECT_EQ(1, module.failures);
	/* A look makes the group before the timer is due. */
	module.refuses = false;
	look(self->all);
	EXPECT_EQ(1, turn(self->base));
	EXPECT_EQ(1, module.num);
}

TEST_F(groups, the_module_may_be_gone)
{
	module.refuses = true;
	ASSERT_TRUE(follow(self->all, G));
	module.loaded = false;
	turn(self->base);
	EXPECT_EQ(1, turn(self->base));
	ASSERT_TRUE(follow(self->all, G "[Group h]\nmgid = ff15::2\n"));
	EXPECT_EQ(1, module.added);
	module.loaded = true;
	module.refuses = false;
	look(self->all);
	EXPECT_EQ(2, module.num);
	/* Without the module there is no group to delete. */
	module.loaded = false;
	ASSERT_TRUE(follow(self->all, LINKS));
	EXPECT_EQ(0, module.deleted);
}

TEST_F(groups, a_q_key_that_is_not_given_any_more_is_random)
{
	ASSERT_TRUE(follow(self->all, G "qkey = 1\n"));
	ASSERT_TRUE(follow(self->all, G));
	EXPECT_EQ(2, module.added);
	EXPECT_EQ(0x80000000, module.group[0].qkey);
	ASSERT_TRUE(follow(self->all, G));
	EXPECT_EQ(2, module.added);
	EXPECT_EQ(1, module.deleted);
}

TEST_F(groups, deleted_by_somebody_is_no_failure)
{
	ASSERT_TRUE(follow(self->all, G));
	module.num = 0;
	ASSERT_TRUE(follow(self->all, LINKS));
	EXPECT_EQ(0, module.errors);
	ASSERT_TRUE(follow(self->all, G));
	module.num = 0;
	ASSERT_TRUE(follow(self->all, G));
	EXPECT_EQ(1, module.num);
	EXPECT_EQ(0, module.errors);
}

/* The daemon hears an event of the module about a group. */
static void hear(struct rcd_groups *all, const char *name, uint32_t kind,
		 uint32_t state, const char *text)
{
	struct rcl_group_info event = { .event_kind = kind, .state = state };

	strcpy(event.name, name);
	strcpy(event.reason_text, text);
	rcd_groups_heard(all, &event);
}

static void hear_deleted(struct rcd_groups *all, const char *name)
{
	hear(all, name, RCLINK_EVENT_KIND_DELETED, RCLINK_GROUP_STATE_DOWN, "");
}

TEST_F(groups, deleted_by_somebody_it_is_made_again)
{
	ASSERT_TRUE(follow(self->all, G "link = a\n"));
	EXPECT_STREQ("group g: made", module.said);
	module.num = 0;
	hear_deleted(self->all, "g");
	turn(self->base);
	ASSERT_EQ(1, module.num);
	EXPECT_STREQ("a", module.group[0].link[0]);
	EXPECT_STREQ("group g: made again, as it was gone", module.said);
	EXPECT_EQ(0, module.failures + module.errors);
	EXPECT_EQ(1, turn(self->base));
}

/* The daemon also hears of its own deletions. */
TEST_F(groups, made_anew_it_is_left_as_it_is)
{
	ASSERT_TRUE(follow(self->all, G));
	ASSERT_TRUE(follow(self->all, G "from = a\n"));
	EXPECT_EQ(1, module.deleted);
	hear_deleted(self->all, "g");
	turn(self->base);
	EXPECT_EQ(2, module.added);
	EXPECT_EQ(1, module.deleted);
	ASSERT_TRUE(follow(self->all, LINKS));
	hear_deleted(self->all, "g");
	EXPECT_EQ(1, turn(self->base));
	EXPECT_EQ(2, module.added);
}

/* The group already waits for a retry, which must not come sooner. */
TEST_F(groups, refused_it_waits_whatever_is_heard)
{
	ASSERT_TRUE(follow(self->all, G));
	module.refuses = true;
	ASSERT_TRUE(follow(self->all, G "from = a\n"));
	EXPECT_EQ(1, module.waits);
	hear_deleted(self->all, "g");
	EXPECT_EQ(1, module.waits);
	EXPECT_EQ(1, module.failures);
}

TEST_F(groups, of_others_nothing_is_heard)
{
	ASSERT_TRUE(follow(self->all, G));
	module.said[0] = '\0';
	hear_deleted(self->all, "h");
	hear(self->all, "h", RCLINK_EVENT_KIND_CHANGED,
	     RCLINK_GROUP_STATE_DOWN, "no");
	hear(self->all, "g", RCLINK_EVENT_KIND_REKEYED,
	     RCLINK_GROUP_STATE_JOINED, "");
	EXPECT_EQ(1, turn(self->base));
	EXPECT_STREQ("", module.said);
}

TEST_F(groups, a_module_that_is_being_unloaded_is_no_failure)
{
	ASSERT_TRUE(follow(self->all, G));
	module.num = 0;
	module.unloading = true;
	hear_deleted(self->all, "g");
	turn(self->base);
	EXPECT_EQ(2, module.added);
	EXPECT_EQ(1, turn(self->base));
	EXPECT_EQ(0, module.failures + module.errors);
}

TEST_F(groups, down_and_joined_again_it_is_logged)
{
	ASSERT_TRUE(follow(self->all, G));
	hear(self->all, "g", RCLINK_EVENT_KIND_CHANGED,
	     RCLINK_GROUP_STATE_DOWN, "the port went down");
	EXPECT_STREQ("group g: down: the port went down", module.said);
	hear(self->all, "g", RCLINK_EVENT_KIND_CHANGED,
	     RCLINK_GROUP_STATE_JOINED, "");
	EXPECT_STREQ("group g: joined again", module.said);
	EXPECT_EQ(1, module.added);
}

/* No group waits for the subnet manager of another one. */
TEST_F(groups, all_are_asked_for_at_once)
{
	ASSERT_TRUE(begin(self->all, G "[Group h]\nmgid = ff15::2\n"
			  "[Group i]\nmgid = ff15::3\n"));
	EXPECT_EQ(3, asks.num);
	EXPECT_EQ(0, module.added);
	/* None of them is asked for twice. */
	rcd_groups_look(self->all);
	EXPECT_EQ(3, asks.starts);
	settle();
	EXPECT_EQ(3, module.num);
	EXPECT_EQ(3, module.added);
	EXPECT_EQ(0, module.deleted + module.changed + module.errors);
	EXPECT_EQ(1, turn(self->base));
}

TEST_F(groups, changed_while_it_is_made)
{
	ASSERT_TRUE(begin(self->all, G));
	ASSERT_TRUE(begin(self->all, G "from = a\n"));
	EXPECT_EQ(1, asks.num);
	settle();
	ASSERT_EQ(1, module.num);
	EXPECT_STREQ("a", module.group[0].from);
	EXPECT_EQ(2, module.added);
	EXPECT_EQ(1, module.deleted);
	EXPECT_EQ(0, module.errors);
}

/* The refused request has the old configuration; the new one is tried next. */
TEST_F(groups, changed_while_it_is_refused)
{
	ASSERT_TRUE(begin(self->all, G));
	ASSERT_TRUE(begin(self->all, G "link = a\n"));
	module.refuses = true;
	finish(0);
	module.refuses = false;
	EXPECT_EQ(1, module.errors);
	EXPECT_EQ(1, asks.num);
	settle();
	ASSERT_EQ(1, module.num);
	EXPECT_EQ(1, module.group[0].nlinks);
	EXPECT_EQ(1, turn(self->base));
}

TEST_F(groups, no_longer_configured_while_it_is_made)
{
	ASSERT_TRUE(begin(self->all, G));
	ASSERT_TRUE(begin(self->all, LINKS));
	finish(0);
	EXPECT_EQ(1, module.num);
	settle();
	EXPECT_EQ(0, module.num);
	EXPECT_EQ(1, module.deleted);
	EXPECT_EQ(1, turn(self->base));
}

/* The group is somebody else's then. */
TEST_F(groups, no_longer_configured_while_it_is_refused)
{
	const struct rcl_group_info hand = { .name = "g", .mgid = { 0xff } };

	ASSERT_TRUE(begin(self->all, G));
	have(&hand);
	ASSERT_TRUE(begin(self->all, LINKS));
	settle();
	EXPECT_EQ(1, module.num);
	EXPECT_EQ(0, module.deleted);
	EXPECT_EQ(1, turn(self->base));
}

TEST_F(groups, configured_again_while_it_is_made)
{
	ASSERT_TRUE(begin(self->all, G));
	ASSERT_TRUE(begin(self->all, LINKS));
	ASSERT_TRUE(begin(self->all, G));
	settle();
	EXPECT_EQ(1, module.num);
	EXPECT_EQ(1, module.added);
	EXPECT_EQ(0, module.deleted + module.errors);
}

TEST_F(groups, configured_again_while_it_is_deleted)
{
	ASSERT_TRUE(follow(self->all, G));
	ASSERT_TRUE(begin(self->all, LINKS));
	ASSERT_TRUE(begin(self->all, G "link = b\n"));
	settle();
	ASSERT_EQ(1, module.num);
	EXPECT_STREQ("b", module.group[0].link[0]);
	EXPECT_EQ(2, module.added);
	EXPECT_EQ(1, module.deleted);
	EXPECT_EQ(0, module.errors);
}

TEST_F(groups, deleted_by_somebody_while_it_is_changed)
{
	ASSERT_TRUE(follow(self->all, G));
	ASSERT_TRUE(begin(self->all, G "link = a\n"));
	finish(0);
	ASSERT_TRUE(begin(self->all, G "link = b\n"));
	hear_deleted(self->all, "g");
	settle();
	module.num = 0;
	turn(self->base);
	ASSERT_EQ(1, module.num);
	EXPECT_STREQ("b", module.group[0].link[0]);
}

/* At its end the daemon completes what it began and deletes what must go. */
TEST_F(groups, at_the_end_nothing_is_left_that_was_to_go)
{
	ASSERT_TRUE(follow(self->all, G "[Group h]\nmgid = ff15::2\n"));
	ASSERT_TRUE(begin(self->all, LINKS "[Group i]\nmgid = ff15::3\n"));
	ASSERT_TRUE(begin(self->all, LINKS "[Group j]\nmgid = ff15::4\n"));
	EXPECT_EQ(4, asks.num);
	rcd_groups_free(self->all);
	self->all = NULL;
	ASSERT_EQ(1, module.num);
	EXPECT_STREQ("j", module.group[0].name);
}

TEST_F(groups, at_the_end_a_key_that_is_owed_is_made)
{
	ASSERT_TRUE(follow(self->all, G "link = a\n"));
	ASSERT_TRUE(begin(self->all, G "link = a, b\n"));
	rcd_groups_other(self->all, "a");
	EXPECT_EQ(1, asks.num);
	EXPECT_EQ(0, module.rekeyed);
	rcd_groups_free(self->all);
	self->all = NULL;
	EXPECT_EQ(1, module.rekeyed);
	EXPECT_EQ(0, asks.sockets);
}

/* A socket for requests would load it. */
TEST_F(groups, nor_is_a_module_that_was_unloaded_asked_for_it)
{
	ASSERT_TRUE(follow(self->all, G "link = a\n"));
	ASSERT_TRUE(begin(self->all, G "link = a, b\n"));
	rcd_groups_other(self->all, "a");
	module.loaded = false;
	rcd_groups_free(self->all);
	self->all = NULL;
	EXPECT_EQ(0, module.rekeyed);
}

TEST_F(groups, without_threads)
{
	asks.refuses = true;
	ASSERT_TRUE(begin(self->all, G));
	EXPECT_EQ(1, module.failures);
	EXPECT_EQ(0, module.num);
	asks.refuses = false;
	turn(self->base);
	EXPECT_EQ(1, module.num);
	asks.refuses = true;
	ASSERT_TRUE(begin(self->all, LINKS));
	EXPECT_EQ(0, module.num);
}

TEST_HARNESS_MAIN
