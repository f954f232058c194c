// SPDX-License-Identifier: GPL-2.0
/* When the daemon ends which links. The module and requests to it are fakes. */
#include "links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include <kselftest_harness.h>

#include "end_module.h"
#include "kernel.h"
#include "listener.h"
#include "range.h"

#define AT_ONCE	32

static void ignore(void *ctx)
{
	(void)ctx;
}

static const struct rcd_links_ops ops = { .changed = ignore };

FIXTURE(end)
{
	struct event_base *base;
	struct rcd_links *all;
	struct rcd_link_conf link[LINKS];
	struct rcd_conf conf;
	char err[RCL_ERR_LEN];
};

static void name_link(struct rcd_link_conf *link, int i, char who)
{
	snprintf(link->name, sizeof(link->name), "l%d", i);
	snprintf(link->pin, sizeof(link->pin), "sha256:%02d%c%040d=", i, who,
		 0);
}

FIXTURE_SETUP(end)
{
	int i;

	num = 0;
	replaced = 0;
	refusal = 0;
	deletes = 0;
	news = 0;
	replaces = 0;
	loaded = true;
	refuses = false;
	memset(self, 0, sizeof(*self));
	self->base = event_base_new();
	self->all = rcd_links_new(self->base, &ops, NULL, self->err);
	for (i = 0; i < LINKS; i++)
		name_link(&self->link[i], i, 'a');
	self->conf.link = self->link;
	self->conf.num = LINKS;
	if (!self->all ||
	    rcd_links_set(self->all, &self->conf, NULL, self->err))
		abort();
}

FIXTURE_TEARDOWN(end)
{
	while (num)
		answer();
	if (self->all)
		rcd_links_free(self->all);
	event_base_free(self->base);
}

static struct rcd_link *link_of(struct rcd_links *all, const char *name)
{
	struct rcd_link *link;

	LIST_FOREACH(link, &all->list, node)
		if (!strcmp(link->conf.name, name))
			return link;
	abort();
}

/* Is there a request to end the link? */
static bool is_asked(const char *name)
{
	const struct rcd_link *link;
	size_t i;

	for (i = 0; i < num; i++) {
		link = asked[i]->request.ctx;
		if (!strcmp(link->conf.name, name))
			return true;
	}
	return false;
}

/* End all links, as for a change of policy. */
static void end_all(struct rcd_links *all)
{
	struct rcd_link *link;

	LIST_FOREACH(link, &all->list, node)
		rcd_link_end(link);
}

static int admit(struct rcd_links *all, const struct rcd_link_conf *conf,
		 char *err)
{
	struct rcx_ids ids = { .num = 1 };
	char name[RCLINK_NAME_MAX + 1];

	strcpy(ids.id[0], conf->pin);
	return rcd_links_admit(all, &ids, conf->name, name, err);
}

TEST_F(end, only_so_many_end_at_once)
{
	end_all(self->all);
	EXPECT_EQ(AT_ONCE, num);
	answer();
	EXPECT_EQ(AT_ONCE, num);
	while (num)
		answer();
	EXPECT_FALSE(link_of(self->all, "l0")->ends);
}

TEST_F(end, a_link_whose_peer_is_another_one_waits_for_no_other_link)
{
	end_all(self->all);
	/* The last ones in the list wait. */
	EXPECT_FALSE(is_asked("l0"));
	EXPECT_FALSE(is_asked("l1"));
	name_link(&self->link[0], 0, 'b');
	self->link[1].policy.v[RCL_P_QPS] = 2;
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	EXPECT_TRUE(is_asked("l0"));
	EXPECT_FALSE(is_asked("l1"));
	EXPECT_EQ(AT_ONCE + 1, num);
	/* Once is enough. */
	name_link(&self->link[0], 0, 'c');
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	EXPECT_EQ(AT_ONCE + 1, num);
}

TEST_F(end, one_that_comes_back_with_another_peer_waits_for_no_other_link)
{
	struct rcd_conf none = { .num = 0 };

	EXPECT_EQ(0, rcd_links_set(self->all, &none, NULL, self->err));
	EXPECT_EQ(AT_ONCE, num);
	while (is_asked("l0"))
		answer();
	EXPECT_FALSE(is_asked("l1"));
	name_link(&self->link[1], 1, 'b');
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	EXPECT_TRUE(is_asked("l1"));
}

/* A request that waits will end whatever epoch is up when its turn comes. */
TEST_F(end, nobody_is_admitted_to_a_link_whose_end_waits)
{
	end_all(self->all);
	EXPECT_FALSE(is_asked("l0"));
	EXPECT_EQ(-ENOENT, admit(self->all, &self->link[0], self->err));
	EXPECT_STREQ("link l0 is being set up", self->err);
	while (!is_asked("l0"))
		answer();
	EXPECT_EQ(0, admit(self->all, &self->link[0], self->err));
}

/* An exchange that the peer does not go on with takes its place for 30 s. */
TEST_F(end, one_peer_leaves_room_for_others)
{
	unsigned int admitted = 0;
	int i;

	for (i = 2; i < LINKS; i++)
		strcpy(self->link[i].pin, self->link[1].pin);
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	while (num)
		answer();
	for (i = 1; i < LINKS; i++)
		admitted += !admit(self->all, &self->link[i], self->err);
	EXPECT_EQ(24, admitted);
	EXPECT_NE(NULL, strstr(self->err, "with this peer; try again later"));
	EXPECT_EQ(0, admit(self->all, &self->link[0], self->err));
}

TEST_F(end, one_that_came_up_with_what_was_set_before_ends)
{
	const struct rch_call call = {
		.from = "198.51.100.1", .link = "l0", .epoch = 2,
	};

	EXPECT_EQ(0, admit(self->all, &self->link[0], self->err));
	rcd_links_answered(self->all, &call, 0, "");
	EXPECT_FALSE(is_asked("l0"));
	EXPECT_EQ(0, admit(self->all, &self->link[0], self->err));
	link_of(self->all, "l0")->outdated = true;
	rcd_links_answered(self->all, &call, 0, "");
	EXPECT_TRUE(is_asked("l0"));
}

/* Otherwise a later end would be taken for that of the previous peer. */
TEST_F(end, one_that_did_not_come_up_with_the_peer_before_ends_too)
{
	const struct rch_call call = {
		.from = "198.51.100.1", .link = "l0", .epoch = 2,
	};
	struct rcd_link *link = link_of(self->all, "l0");

	link->answering = true;
	link->outdated = true;
	rcd_links_answered(self->all, &call, -ECANCELED, "a test");
	EXPECT_FALSE(is_asked("l0"));
	/* The link ended meanwhile, as it has another peer now. */
	link->answering = true;
	link->other = true;
	rcd_links_answered(self->all, &call, -ECANCELED, "a test");
	ASSERT_TRUE(is_asked("l0"));
	answer();
	EXPECT_EQ(1, deletes);
}

/* The link stays, so its channels may go on. */
TEST_F(end, of_a_link_that_is_set_otherwise_the_epoch_ends)
{
	struct rcd_link *link = link_of(self->all, "l0");

	link->epoch = 5;
	rcd_link_end(link);
	answer();
	EXPECT_EQ(5, replaced);
	EXPECT_EQ(0, deletes);
	EXPECT_EQ(0, link->doomed);
	/* Another epoch is up by then, which is not the one to end. */
	refusal = -ESTALE;
	rcd_link_end(link);
	answer();
	EXPECT_EQ(0, link->doomed);
	refusal = -ENOMEM;
	rcd_link_end(link);
	answer();
	EXPECT_EQ(5, link->doomed);
}

/* Only the module knows the default of a new link. */
TEST_F(end, a_heartbeat_that_is_no_longer_configured_is_left_alone)
{
	struct rcl_policy *policy = &self->link[0].policy;

	policy->given = 1u << RCL_P_HEARTBEAT;
	policy->v[RCL_P_HEARTBEAT] = 500;
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	memset(policy, 0, sizeof(*policy));
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	EXPECT_FALSE(link_of(self->all, "l0")->stale);
	EXPECT_EQ(0, num);
}

/* Set another field of l0 in the file, and read it. */
static void give(struct rcd_links *all, const struct rcd_conf *conf, int field,
		 uint32_t value)
{
	struct rcl_policy *policy = &conf->link[0].policy;
	char err[RCL_ERR_LEN];

	policy->given |= 1u << field;
	policy->v[field] = value;
	if (rcd_links_set(all, conf, NULL, err))
		abort();
}

/* The module may have it already, for its next epoch. */
TEST_F(end, a_change_that_needs_another_epoch_is_remembered)
{
	struct rcd_link *link = link_of(self->all, "l0");

	link->epoch = 5;
	give(self->all, &self->conf, RCL_P_MTU, 1024);
	EXPECT_EQ(0, link->former);
	link->up = true;
	give(self->all, &self->conf, RCL_P_MODE, 0660);
	EXPECT_EQ(0, link->former);
	give(self->all, &self->conf, RCL_P_MTU, 2048);
	EXPECT_EQ(5, link->former);
	link->former = 0;
	/* It is the default, so nothing changes. */
	give(self->all, &self->conf, RCL_P_QPS, rcl_range_default(RCL_P_QPS));
	EXPECT_EQ(0, link->former);
	strcpy(self->link[0].policy.device, "rxe1");
	give(self->all, &self->conf, RCL_P_MODE, 0660);
	EXPECT_EQ(5, link->former);
	link->former = 0;
	strcpy(self->link[0].policy.netdev, "eth0.5");
	give(self->all, &self->conf, RCL_P_MODE, 0660);
	EXPECT_EQ(5, link->former);
	link->former = 0;
	/* The epoch never had what the module refused. */
	link->broken = true;
	give(self->all, &self->conf, RCL_P_MTU, 1024);
	EXPECT_EQ(0, link->former);
}

TEST_F(end, an_epoch_that_came_up_while_another_ended_is_to_end_too)
{
	const struct rch_call call = {
		.from = "198.51.100.1", .link = "l0", .epoch = 6,
	};
	struct rcd_link *link = link_of(self->all, "l0");

	link->epoch = 5;
	link->answering = true;
	rcd_link_end(link);
	link->outdated = true;
	rcd_links_answered(self->all, &call, 0, "");
	EXPECT_EQ(1, num);
	answer();
	EXPECT_EQ(5, replaced);
	EXPECT_EQ(6, link->doomed);
}

/* The old peer may have driven the epoch number up, beyond the new one's. */
TEST_F(end, a_link_whose_peer_becomes_another_one_is_made_anew)
{
	rcd_link_end(link_of(self->all, "l0"));
	name_link(&self->link[0], 0, 'b');
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	EXPECT_EQ(1, num);
	answer();
	EXPECT_EQ(0, deletes);
	EXPECT_EQ(1, num);
	EXPECT_EQ(-ENOENT, admit(self->all, &self->link[0], self->err));
	answer();
	EXPECT_EQ(1, deletes);
	EXPECT_EQ(1, news);
}

TEST_F(end, and_waits_for_no_other_link_then)
{
	const struct rcd_link *link;
	int i;

	end_all(self->all);
	link = asked[0]->request.ctx;
	i = atoi(link->conf.name + 1);
	name_link(&self->link[i], i, 'b');
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	answer();
	EXPECT_TRUE(is_asked(link->conf.name));
}

/* The deletion is the last request of the daemon. */
TEST_F(end, at_the_end_one_that_is_to_go_is_deleted_behind_what_is_asked)
{
	struct rcd_conf none = { .num = 0 };

	rcd_link_end(link_of(self->all, "l0"));
	EXPECT_EQ(0, rcd_links_set(self->all, &none, NULL, self->err));
	rcd_links_free(self->all);
	self->all = NULL;
	EXPECT_EQ(0, deletes);
	while (num)
		answer();
	EXPECT_EQ(1, deletes);
}

/* What waits for its turn would be too much for one after the other. */
TEST_F(end, at_the_end_none_waits_for_another_one)
{
	size_t i;

	end_all(self->all);
	EXPECT_EQ(AT_ONCE, num);
	rcd_links_free(self->all);
	self->all = NULL;
	EXPECT_EQ(LINKS, num);
	for (i = 0; i < num; i++)
		EXPECT_EQ(NULL, asked[i]->request.done);
}

TEST_F(end, at_the_end_the_loop_asks_if_there_is_no_thread)
{
	end_all(self->all);
	refuses = true;
	rcd_links_free(self->all);
	self->all = NULL;
	EXPECT_EQ(AT_ONCE, num);
	EXPECT_EQ(LINKS - AT_ONCE, replaces);
}

TEST_F(end, at_the_end_one_for_another_peer_is_made_anew)
{
	rcd_link_end(link_of(self->all, "l0"));
	name_link(&self->link[0], 0, 'b');
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	rcd_link_end(link_of(self->all, "l1"));
	EXPECT_EQ(2, num);
	rcd_links_free(self->all);
	self->all = NULL;
	EXPECT_EQ(3, num);
	while (num)
		answer();
	EXPECT_EQ(1, deletes);
	EXPECT_EQ(1, news);
}

/* Once is enough. */
TEST_F(end, unless_that_is_under_way)
{
	name_link(&self->link[0], 0, 'b');
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	EXPECT_EQ(1, num);
	rcd_links_free(self->all);
	self->all = NULL;
	EXPECT_EQ(1, num);
}

TEST_F(end, at_the_end_one_that_is_back_is_made_anew)
{
	struct rcd_conf none = { .num = 0 };

	EXPECT_EQ(0, rcd_links_set(self->all, &none, NULL, self->err));
	while (!is_asked("l0"))
		answer();
	EXPECT_EQ(0, rcd_links_set(self->all, &self->conf, NULL, self->err));
	rcd_links_free(self->all);
	self->all = NULL;
	while (num)
		answer();
	EXPECT_EQ(1, news);
}

/* A socket for requests would load it. */
TEST_F(end, a_module_that_was_unloaded_is_asked_for_nothing)
{
	struct rcd_conf none = { .num = 0 };

	loaded = false;
	EXPECT_EQ(0, rcd_links_set(self->all, &none, NULL, self->err));
	EXPECT_EQ(0, num);
	EXPECT_TRUE(LIST_EMPTY(&self->all->gone));
	EXPECT_EQ(0, deletes);
}

/* What becomes of l0, as the module has it in this state with that peer. */
static enum rcd_end ends_as(const struct rcd_link_conf *conf,
			    enum rclink_link_state state, const char *peer)
{
	struct rcl_link_info info = { .state = state };
	char err[RCL_ERR_LEN];
	enum rcd_end end;
	int field;

	for (field = 0; field < RCL_P_MAX; field++)
		info.policy.v[field] = rcl_range_default(field);
	strcpy(info.peer, peer);
	if (rcd_kernel_apply((struct rcl_nl *)&something, conf, &info, &end,
			     err))
		abort();
	return end;
}

TEST_F(end, one_whose_last_peer_was_another_ends_at_once)
{
	const struct rcd_link_conf *conf = &self->link[0];
	const char *other = self->link[1].pin;

	EXPECT_EQ(RCD_STAYS, ends_as(conf, RCLINK_LINK_STATE_UP, conf->pin));
	EXPECT_EQ(RCD_ENDS_NOW, ends_as(conf, RCLINK_LINK_STATE_UP, other));
	EXPECT_EQ(RCD_STAYS, ends_as(conf, RCLINK_LINK_STATE_DOWN, conf->pin));
	EXPECT_EQ(RCD_ENDS_NOW, ends_as(conf, RCLINK_LINK_STATE_DOWN, other));
	EXPECT_EQ(RCD_ENDS_NOW, ends_as(conf, RCLINK_LINK_STATE_UP, ""));
	/* It was given up before it had a peer. */
	EXPECT_EQ(RCD_STAYS, ends_as(conf, RCLINK_LINK_STATE_DOWN, ""));
	/* An exchange is under way, with whoever it may be. */
	EXPECT_EQ(RCD_STAYS, ends_as(conf, RCLINK_LINK_STATE_CONNECTED, other));
}

static void tell(uint32_t id, enum rclink_event_kind kind,
		 enum rclink_link_state state)
{
	const struct rcl_link_info info = {
		.id = id, .name = "l0", .event_kind = kind, .state = state,
	};

	watch->event(watch_ctx, &info);
}

TEST_F(end, of_the_one_that_had_the_name_before_nothing_counts)
{
	struct rcd_link *link = link_of(self->all, "l0");

	downs = 0;
	tell(1, RCLINK_EVENT_KIND_CREATED, RCLINK_LINK_STATE_IDLE);
	tell(1, RCLINK_EVENT_KIND_CHANGED, RCLINK_LINK_STATE_UP);
	EXPECT_EQ(0, downs);
	EXPECT_FALSE(link->broken);
	/* The new link is not up, and is as its creator wants it. */
	tell(2, RCLINK_EVENT_KIND_CREATED, RCLINK_LINK_STATE_IDLE);
	EXPECT_EQ(1, downs);
	EXPECT_TRUE(link->broken);
	link->broken = false;
	tell(2, RCLINK_EVENT_KIND_CHANGED, RCLINK_LINK_STATE_UP);
	tell(1, RCLINK_EVENT_KIND_CHANGED, RCLINK_LINK_STATE_DOWN);
	tell(1, RCLINK_EVENT_KIND_DELETED, RCLINK_LINK_STATE_DOWN);
	EXPECT_EQ(1, downs);
	EXPECT_FALSE(link->broken);
	tell(2, RCLINK_EVENT_KIND_DELETED, RCLINK_LINK_STATE_DOWN);
	EXPECT_EQ(2, downs);
	EXPECT_TRUE(link->broken);
	/* Nor does an event count of the link before that. */
	tell(1, RCLINK_EVENT_KIND_CHANGED, RCLINK_LINK_STATE_DOWN);
	EXPECT_EQ(2, downs);
}

TEST_HARNESS_MAIN
