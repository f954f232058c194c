// SPDX-License-Identifier: GPL-2.0
/*
 * Which answers of the host that keeps a group's key are accepted. The group,
 * the link to that host and the answer are made up.
 */
#define RCL_GROUP_BASE_H
#define RCL_LINK_H

#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../kmod/group-seal.h"
#include "reason.h"

#define GFP_KERNEL		0
#define RCL_QP_NONE		(~0U)
#define RCL_CALL_GROUP		0
#define strscpy(to, from, size)	snprintf(to, size, "%s", from)

struct completion {
	bool done;
};

struct rcl_call {
	char name[RCLINK_NAME_MAX + 1];
	struct rcl_group_grant grant;
	struct completion done;
	int ret;
};

struct rcl_link;
struct rcl_lessee;
struct rcl_mcast;

struct rcl_upcall {
	void (*fail)(struct rcl_upcall *up, u32 reason, u32 wc_status,
		     u32 vendor_err, u32 qp);
};

struct rcl_talk {
	struct rcl_group_grant grant;
};

struct rcl_group {
	struct {
		char name[RCLINK_NAME_MAX + 1];
		char from[RCLINK_NAME_MAX + 1];
	} conf;
	struct mutex lock;	/* asserts that nobody locks it twice */
	struct rcl_mcast *mcast;
	struct rcl_upcall up;
	struct rcl_talk talk;
	struct rcl_call *call;
	u64 ask_at;
	u32 qkey;
};

static struct rcl_call call;
static unsigned int questions, installs;
static int age = 5;

int rcl_group_seal_age(void)
{
	return age;
}

static struct rcl_link *rcl_link_get(const char *name)
{
	return (struct rcl_link *)&call;
}

static void rcl_link_put(struct rcl_link *link)
{
}

static struct rcl_call *rcl_call_new(int kind, struct rcl_lessee *lessee,
				     int flags)
{
	memset(&call, 0, sizeof(call));
	return &call;
}

static void rcl_call_put(struct rcl_call *call)
{
}

static int rcl_inbox_ask_call(struct rcl_link *link, struct rcl_call *call)
{
	questions++;
	return 0;
}

static bool wait_for_completion_timeout(struct completion *done,
					unsigned long timeout)
{
	return done->done;
}

static int rcl_mcast_set_qkey(struct rcl_mcast *mcast, u32 qkey)
{
	return 0;
}

static u64 rcl_talk_key(struct rcl_talk *talk, bool *unknown)
{
	*unknown = false;
	return talk->grant.id;
}

static void rcl_talk_install(struct rcl_talk *talk,
			     const struct rcl_group_grant *grant, bool keeper)
{
	installs++;
	talk->grant = *grant;
}

#include "../../kmod/group-ask.c"

#include "kselftest_harness.h"

unsigned long jiffies = 1000000;

static const struct rcl_group_grant first = {
	.id = 7, .qkey = 0x80001234, .sender = 3, .key = { 1 },
};

FIXTURE(member)
{
	struct rcl_group group;
};

FIXTURE_SETUP(member)
{
	memset(self, 0, sizeof(*self));
	questions = 0;
	installs = 0;
	self->group.talk.grant = first;
	self->group.qkey = first.qkey;
	/* Ask; the answer takes longer than a tick. */
	rcl_group_ask(&self->group);
}

FIXTURE_TEARDOWN(member)
{
}

TEST_F(member, one_question_at_a_time)
{
	rcl_group_ask(&self->group);
	EXPECT_EQ(questions, 1);
	EXPECT_EQ(call.grant.id, first.id);
	EXPECT_EQ(installs, 0);
}

TEST_F(member, another_key_is_taken)
{
	call.grant.id = 8;
	call.grant.qkey = 0x80005678;
	call.grant.sender = 4;
	call.done.done = true;
	age++;
	rcl_group_ask(&self->group);
	EXPECT_EQ(installs, 1);
	/* That of the question: all may have been lost since. */
	EXPECT_EQ(self->group.talk.grant.age, 5);
	EXPECT_EQ(self->group.talk.grant.id, 8);
	EXPECT_EQ(self->group.qkey, 0x80005678);
}

TEST_F(member, the_same_key_changes_nothing)
{
	call.done.done = true;
	rcl_group_ask(&self->group);
	EXPECT_EQ(installs, 0);
	EXPECT_EQ(self->group.qkey, first.qkey);
	/* No further question for a while */
	rcl_group_ask(&self->group);
	EXPECT_EQ(questions, 1);
}

/* The link to the keeper may be down for so long that jiffies wrap. */
TEST_F(member, asks_however_long_the_last_answer_is_ago)
{
	static const u64 ago[] = { 30000, 1ull << 31, 3ull << 30, 1ull << 32 };
	unsigned long then = jiffies;
	unsigned int i;

	call.done.done = true;
	rcl_group_ask(&self->group);
	jiffies = then + 29999;
	rcl_group_ask(&self->group);
	EXPECT_EQ(questions, 1);
	for (i = 0; i < ARRAY_SIZE(ago); i++) {
		jiffies = then + ago[i];
		rcl_group_ask(&self->group);
		EXPECT_EQ(questions, 2 + i);
		call.ret = -ENOTCONN;
		call.done.done = true;
		rcl_group_ask(&self->group);
	}
}

/* A host that falls asleep, or was copied, forgets its key. */
TEST_F(member, a_key_lost_meanwhile_is_asked_for_again)
{
	self->group.talk.grant = (struct rcl_group_grant){};
	call.done.done = true;
	rcl_group_ask(&self->group);
	EXPECT_EQ(installs, 0);
	EXPECT_EQ(self->group.qkey, first.qkey);
	rcl_group_ask(&self->group);
	EXPECT_EQ(questions, 2);
	EXPECT_EQ(call.grant.id, 0);
}

TEST_F(member, what_is_refused_is_asked_again)
{
	self->group.talk.grant = (struct rcl_group_grant){};
	call.ret = -ENOENT;
	call.done.done = true;
	rcl_group_ask(&self->group);
	EXPECT_EQ(installs, 0);
	rcl_group_ask(&self->group);
	EXPECT_EQ(questions, 2);
}

TEST_HARNESS_MAIN
