// SPDX-License-Identifier: GPL-2.0
/*
 * An exchange between two ends that keep the rules: which calls the owners get
 * and when, and how the exchange ends when either owner cannot go on.
 */
#include "exchange_lib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "ident.h"

#include <kselftest_harness.h>

FIXTURE(session)
{
	struct world w;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(session)
{
	scratch_enter();
	ASSERT_EQ(0, rcx_ident_generate("a", self->err));
	ASSERT_EQ(0, rcx_ident_generate("b", self->err));
	world_open_pinned(&self->w, true);
}

FIXTURE_TEARDOWN(session)
{
	world_close(&self->w);
	scratch_leave();
}

static void both(struct world *w)
{
	world_listen(w);
	if (!world_dial(w))
		abort();
	world_run(w);
}

TEST_F(session, both_ends_come_up_with_the_same_key)
{
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;
	static const uint8_t zero[RCLINK_KEY_LEN];
	char pin[RCX_PIN_LEN];

	both(&self->w);
	HOLDS(i);
	HOLDS(r);
	EXPECT_EQ(0, i->result);
	EXPECT_EQ(0, r->result);
	EXPECT_EQ(9, i->agreed);
	EXPECT_EQ(9, r->agreed);
	EXPECT_EQ(0, memcmp(i->key, r->key, RCLINK_KEY_LEN));
	EXPECT_NE(0, memcmp(i->key, zero, RCLINK_KEY_LEN));
	EXPECT_EQ(0, memcmp(&i->remote, &r->endpoint, sizeof(i->remote)));
	EXPECT_EQ(0, memcmp(&r->remote, &i->endpoint, sizeof(i->remote)));
	EXPECT_STREQ("yours", r->wanted);
	EXPECT_EQ(0, rcx_ident_pin("a", pin, self->err));
	EXPECT_STREQ(pin, r->identity);
	EXPECT_EQ(0, rcx_ident_pin("b", pin, self->err));
	EXPECT_STREQ(pin, i->identity);
}

TEST_F(session, every_exchange_has_a_key_of_its_own)
{
	uint8_t key[RCLINK_KEY_LEN];

	both(&self->w);
	memcpy(key, self->w.dialler.key, sizeof(key));
	world_open_pinned(&self->w, false);
	both(&self->w);
	EXPECT_NE(0, memcmp(key, self->w.dialler.key, sizeof(key)));
}

TEST_F(session, an_end_that_is_busy_says_so)
{
	self->w.listener_end.fail_at = AT_ADMIT;
	self->w.listener_end.fail_with = -EBUSY;
	both(&self->w);
	EXPECT_EQ(-EBUSY, self->w.listener_end.result);
	EXPECT_EQ(-EBUSY, self->w.dialler.result);
	EXPECT_EQ(0, self->w.dialler.prepares);
}

TEST_F(session, who_has_what_it_dials_for_gives_up)
{
	self->w.dialler.fail_at = AT_OFFER;
	self->w.dialler.fail_with = -EISCONN;
	both(&self->w);
	EXPECT_EQ(-EISCONN, self->w.dialler.result);
	EXPECT_EQ(-ECANCELED, self->w.listener_end.result);
}

TEST_F(session, an_end_that_dials_itself_says_so)
{
	self->w.listener_end.fail_at = AT_ADMIT;
	self->w.listener_end.fail_with = -EALREADY;
	both(&self->w);
	EXPECT_EQ(-EALREADY, self->w.listener_end.result);
	EXPECT_EQ(-EALREADY, self->w.dialler.result);
	SAYS("peer: it was told", self->w.dialler.err);
	EXPECT_EQ(0, self->w.dialler.prepares);
}

TEST_F(session, a_failure_of_either_owner_reaches_the_other)
{
	enum stage stage;
	int end;

	for (end = 0; end < 2; end++) {
		for (stage = AT_ADMIT; stage <= AT_ACTIVATE; stage++) {
			struct owner *bad, *other;

			if (!end && stage == AT_ADMIT)
				continue;
			world_open_pinned(&self->w, false);
			bad = end ? &self->w.listener_end : &self->w.dialler;
			other = end ? &self->w.dialler : &self->w.listener_end;
			bad->fail_at = stage;
			both(&self->w);
			HOLDS(bad);
			HOLDS(other);
			EXPECT_EQ(-EIO, bad->result);
			SAYS("was told to fail", bad->err);
			EXPECT_GT(0, other->result);
			SAYS("peer: it was told", other->err);
			EXPECT_FALSE(self->w.stuck);
		}
	}
}

TEST_F(session, cancel_within_a_callback_ends_it)
{
	enum stage stage;
	int end;

	for (end = 0; end < 2; end++) {
		for (stage = AT_ADMIT; stage <= AT_ACTIVATE; stage++) {
			struct owner *bad, *other;

			if (!end && stage == AT_ADMIT)
				continue;
			world_open_pinned(&self->w, false);
			bad = end ? &self->w.listener_end : &self->w.dialler;
			other = end ? &self->w.dialler : &self->w.listener_end;
			bad->cancel_at = stage;
			bad->stay_down = true;
			both(&self->w);
			HOLDS(bad);
			HOLDS(other);
			EXPECT_EQ(-ECANCELED, bad->result)
				TH_LOG("%d %s", stage, bad->err);
			EXPECT_EQ(-ECANCELED, other->result);
			SAYS("peer: interrupted", other->err);
		}
	}
}

/* The owner has its answer later, and cancels when it hears of that step. */
TEST_F(session, cancel_at_the_step_of_a_late_answer_ends_it)
{
	static const enum rcx_step steps[] = {
		RCX_STEP_PREPARED, RCX_STEP_CONNECTED, RCX_STEP_ACTIVATED,
	};
	struct owner *bad, *other;
	size_t i;

	for (i = 0; i < 2 * sizeof(steps) / sizeof(steps[0]); i++) {
		world_open_pinned(&self->w, false);
		bad = i % 2 ? &self->w.listener_end : &self->w.dialler;
		other = i % 2 ? &self->w.dialler : &self->w.listener_end;
		bad->prepare_ms = 20;
		bad->late_ms = 20;
		bad->activate_ms = 20;
		bad->cancel_steps = 1u << steps[i / 2];
		bad->stay_down = true;
		both(&self->w);
		HOLDS(bad);
		HOLDS(other);
		EXPECT_EQ(-ECANCELED, bad->result)
			TH_LOG("step %d: %s", steps[i / 2], bad->err);
		SAYS("peer: interrupted", other->err);
	}
}

static void cancel_later(evutil_socket_t fd, short what, void *arg)
{
	struct owner *o = arg;

	(void)fd;
	(void)what;
	rcx_session_cancel(o->session, "interrupted");
}

static struct world *current_world;	/* of cancel_when_active() */

/* Cancel once the dialler, arg, was told to activate the link. */
static void cancel_when_active(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval soon = { .tv_usec = 100000 };
	struct owner *o = arg;

	if (o->activates)
		cancel_later(fd, what, arg);
	else
		event_base_once(current_world->base, -1, EV_TIMEOUT,
				cancel_when_active, arg, &soon);
}

static void down_later(evutil_socket_t fd, short what, void *arg)
{
	struct owner *o = arg;

	(void)fd;
	(void)what;
	rcx_session_link_down(o->session, "the cable was pulled");
}

TEST_F(session, cancel_from_outside_is_done_when_it_returns)
{
	const struct timeval soon = { .tv_usec = 500000 };
	struct owner *o = &self->w.dialler;

	o->stay_down = true;
	current_world = &self->w;
	event_base_once(self->w.base, -1, EV_TIMEOUT, cancel_when_active, o,
			&soon);
	both(&self->w);
	HOLDS(o);
	EXPECT_EQ(-ECANCELED, o->result);
	EXPECT_EQ(1, o->aborts);
	SAYS("peer: interrupted", self->w.listener_end.err);

	/* Cancel before anything is connected. */
	world_open_pinned(&self->w, false);
	ASSERT_TRUE(world_dial(&self->w));
	rcx_session_cancel(o->session, "never mind");
	EXPECT_EQ(1, o->dones);
	EXPECT_EQ(-ECANCELED, o->result);
}

TEST_F(session, a_link_that_goes_down_ends_both)
{
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;

	i->go_down = true;
	both(&self->w);
	HOLDS(i);
	EXPECT_EQ(-ENOLINK, i->result);
	EXPECT_EQ(1, i->aborts);
	SAYS("the cable was pulled", i->err);
	SAYS("peer: the link went down", r->err);
}

/* Let only this stage of the owner take time; 0 ms: none. */
static void takes(struct owner *o, enum stage at, int ms)
{
	o->prepare_ms = at == AT_PREPARE ? ms : 0;
	o->late_ms = at == AT_CONNECT ? ms : 0;
	o->activate_ms = at == AT_ACTIVATE ? ms : 0;
}

static const enum stage slow[] = { AT_PREPARE, AT_CONNECT, AT_ACTIVATE };

/* The other end is ready at once, and says so before this one reads it. */
TEST_F(session, what_takes_the_owner_time)
{
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;
	unsigned int n;
	clock_t begin;

	for (n = 0; n < ARRAY_SIZE(slow); n++) {
		begin = clock();
		takes(i, slow[n], 400);
		both(&self->w);
		HOLDS(i);
		HOLDS(r);
		EXPECT_EQ(0, i->result);
		EXPECT_EQ(0, r->result);
		EXPECT_EQ(0, memcmp(i->key, r->key, RCLINK_KEY_LEN));
		/* The process slept meanwhile. */
		EXPECT_GT(CLOCKS_PER_SEC / 4, clock() - begin);

		world_open_pinned(&self->w, false);
		takes(i, slow[n], 100);
		takes(r, slow[n], 100);
		r->fail_at = slow[n];
		both(&self->w);
		HOLDS(i);
		HOLDS(r);
		EXPECT_EQ(-EIO, r->result);
		/* A prepare that failed leaves nothing to undo. */
		EXPECT_EQ(r->prepares, r->aborts);
		EXPECT_EQ(slow[n] != AT_PREPARE, r->aborts);
		SAYS("peer: it was told to fail", i->err);
		world_open_pinned(&self->w, false);
	}
}

TEST_F(session, what_ends_what_takes_the_owner_time)
{
	struct owner *i = &self->w.dialler;
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(slow); n++) {
		takes(i, slow[n], 900);
		i->meanwhile = cancel_later;
		both(&self->w);
		HOLDS(i);
		EXPECT_EQ(-ECANCELED, i->result);
		EXPECT_EQ(1, i->aborts);

		/* What the module did afterwards comes after its answer. */
		world_open_pinned(&self->w, false);
		takes(i, slow[n], 900);
		i->meanwhile = down_later;
		both(&self->w);
		HOLDS(i);
		EXPECT_EQ(-ENOLINK, i->result);
		EXPECT_EQ(1, i->aborts);
		SAYS("the cable was pulled", i->err);

		world_open_pinned(&self->w, false);
		self->w.timeout_ms = 2500;
		takes(i, slow[n], 6000);
		both(&self->w);
		EXPECT_EQ(-ETIMEDOUT, i->result);
		EXPECT_EQ(1, i->aborts);
		SAYS("waiting for the module", i->err);
		world_open_pinned(&self->w, false);
	}
}

static void up_later(evutil_socket_t fd, short what, void *arg)
{
	struct owner *o = arg;

	(void)fd;
	(void)what;
	rcx_session_link_up(o->session);
}

static void up_and_cancel_later(evutil_socket_t fd, short what, void *arg)
{
	up_later(fd, what, arg);
	cancel_later(fd, what, arg);
}

/* News of the link comes on another socket than the module's answer. */
TEST_F(session, what_comes_up_before_it_is_known_to_be_activated)
{
	struct owner *i = &self->w.dialler;

	takes(i, AT_ACTIVATE, 400);
	i->meanwhile = up_later;
	i->stay_down = true;
	both(&self->w);
	HOLDS(i);
	EXPECT_EQ(0, i->result);
	EXPECT_EQ(0, i->aborts);

	/* A session cancelled before the answer undoes the activation. */
	world_open_pinned(&self->w, false);
	takes(i, AT_ACTIVATE, 400);
	i->meanwhile = up_and_cancel_later;
	both(&self->w);
	HOLDS(i);
	EXPECT_EQ(-ECANCELED, i->result);
	EXPECT_EQ(1, i->aborts);
}

TEST_F(session, a_link_that_does_not_come_up_is_given_up)
{
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;

	self->w.timeout_ms = 3000;
	i->stay_down = true;
	both(&self->w);
	HOLDS(i);
	HOLDS(r);
	EXPECT_EQ(-ETIMEDOUT, i->result);
	SAYS("timed out", i->err);
	SAYS("RDMA path", i->err);
	EXPECT_NE(0, r->result);
}

/* Paths that match in pairs; pairs across networks come last. */
static void give_paths(struct world *w, unsigned int num)
{
	unsigned int i;

	w->dialler.paths.num = num;
	w->listener_end.paths.num = num;
	for (i = 0; i < num; i++) {
		w->dialler.paths.path[i] = path_make("10.0.0.1");
		w->listener_end.paths.path[i] = path_make("10.0.0.2");
		w->dialler.paths.path[i].gid[13] = i;
		w->listener_end.paths.path[i].gid[13] = i;
	}
}

/* Whichever end fails, at whatever stage, both go on with the next path. */
TEST_F(session, a_path_that_fails_is_followed_by_the_next_one)
{
	enum stage stage;
	int end;

	for (end = 0; end < 2; end++) {
		for (stage = AT_PREPARE; stage <= AT_ACTIVATE + 1; stage++) {
			struct owner *bad, *other;

			world_open_pinned(&self->w, false);
			give_paths(&self->w, 3);
			bad = end ? &self->w.listener_end : &self->w.dialler;
			other = end ? &self->w.dialler : &self->w.listener_end;
			bad->fail_at = stage;
			bad->bad_hello = stage > AT_ACTIVATE;
			bad->bad_paths = 2;
			both(&self->w);
			HOLDS(bad);
			HOLDS(other);
			EXPECT_EQ(0, bad->result)
				TH_LOG("%d %d: %s", end, stage, bad->err);
			EXPECT_EQ(0, other->result);
			EXPECT_EQ(2, bad->failed);
			EXPECT_EQ(2, other->failed);
			EXPECT_EQ(2, bad->remote.gid[13]);
			EXPECT_EQ(2, other->remote.gid[13]);
			EXPECT_EQ(bad->agreed, other->agreed);
			EXPECT_EQ(0, memcmp(bad->key, other->key,
					    sizeof(bad->key)));
			SAYS("path 1 of 4, from 10.0.0.", bad->tried);
			SAYS("path 2 of 4, from 10.1.0.", other->tried);
			SAYS("(rxe0 port 1), failed: peer: ", other->tried);
		}
	}
}

TEST_F(session, both_ends_may_fail_on_the_same_path)
{
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;
	enum stage stage;

	for (stage = AT_PREPARE; stage <= AT_ACTIVATE; stage++) {
		world_open_pinned(&self->w, false);
		give_paths(&self->w, 2);
		i->fail_at = stage;
		i->bad_paths = 1;
		r->fail_at = stage;
		r->bad_paths = 1;
		both(&self->w);
		HOLDS(i);
		HOLDS(r);
		EXPECT_EQ(0, i->result) TH_LOG("%d: %s", stage, i->err);
		EXPECT_EQ(0, r->result) TH_LOG("%d: %s", stage, r->err);
		EXPECT_EQ(1, i->failed);
		EXPECT_EQ(1, r->failed);
	}
}

TEST_F(session, when_no_path_works_one_sentence_has_all)
{
	static const char *const want[] = {
		"no path to the peer works: 10.0.0.1 to 10.0.0.2: it was told to fail at stage 4; 2001:db8::1 to 2001:db8::2: the same; 2 more GIDs of the initiator were not offered, set netdev or gid-index there",
		"no path to the peer works: 10.0.0.2 to 10.0.0.1: peer: it was told to fail at stage 4; 2001:db8::2 to 2001:db8::1: the same",
	};
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;

	give_paths(&self->w, 1);
	i->paths.path[1] = path_make("2001:db8::1");
	i->paths.num = 2;
	i->paths.left = 2;
	r->paths.path[1] = path_make("2001:db8::2");
	r->paths.num = 2;
	i->fail_at = AT_CONNECT;
	both(&self->w);
	HOLDS(i);
	HOLDS(r);
	EXPECT_EQ(-EIO, i->result);
	EXPECT_EQ(-EREMOTEIO, r->result);
	EXPECT_STREQ(want[0], i->err);
	EXPECT_STREQ(want[1], r->err);
}

/* The first path leads nowhere, and nobody says so. */
TEST_F(session, a_path_that_proves_nothing_leaves_time_for_the_next_one)
{
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;

	self->w.timeout_ms = 3000;
	give_paths(&self->w, 2);
	i->silent_paths = 1;
	r->silent_paths = 1;
	both(&self->w);
	HOLDS(i);
	HOLDS(r);
	EXPECT_EQ(0, i->result) TH_LOG("%s", i->err);
	EXPECT_EQ(0, r->result);
	EXPECT_EQ(1, i->failed);
	EXPECT_EQ(1, r->failed);
}

TEST_F(session, hosts_without_a_path_in_common_say_what_they_have)
{
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;

	give_paths(&self->w, 1);
	r->paths.path[0] = path_make("2001:db8::2");
	r->paths.left = 3;
	both(&self->w);
	HOLDS(i);
	HOLDS(r);
	EXPECT_EQ(-EHOSTUNREACH, r->result);
	SAYS("no path in common", r->err);
	SAYS("`rclink dev` or `rclink dev --verbs`", r->err);
	SAYS("the responder has 2001:db8::2 (rxe0 port 1)", r->err);
	SAYS("the other end 10.0.0.1 (rxe0 port 1)", r->err);
	SAYS("3 more GIDs of the responder were not offered", r->err);
	SAYS("peer: no path in common", i->err);
	EXPECT_EQ(0, i->prepares + r->prepares);
}

TEST_F(session, a_refusal_that_is_not_of_the_path_ends_it)
{
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;

	give_paths(&self->w, 3);
	i->fail_at = AT_PREPARE;
	i->fail_with = -EBUSY;
	both(&self->w);
	HOLDS(i);
	HOLDS(r);
	EXPECT_EQ(-EBUSY, i->result);
	EXPECT_EQ(0, i->failed);
	EXPECT_EQ(-EBUSY, r->result);
	SAYS("peer: it was told to fail", r->err);
}

TEST_F(session, nobody_listens)
{
	struct owner *o = &self->w.dialler;

	close(self->w.listener);
	ASSERT_TRUE(world_dial(&self->w));
	world_run(&self->w);
	EXPECT_EQ(1, o->dones);
	SAYS("cannot connect to 127.0.0.1 port", o->err);
	SAYS("refused", o->err);
	self->w.listener = dup(0);
}

TEST_F(session, a_name_that_does_not_exist)
{
	struct rcx_session *s;
	struct owner *o = &self->w.dialler;
	const struct rcx_ops *ops = world_ops();

	s = rcx_session_dial(self->w.base, self->w.dial_tls, "no such host",
			     1, "a", "b", 5000, ops, o, self->err);
	ASSERT_NE(NULL, s);
	self->w.left = 1;
	world_run(&self->w);
	EXPECT_EQ(1, o->dones);
	SAYS("cannot find the address of no such host", o->err);
	EXPECT_EQ(NULL, rcx_session_dial(self->w.base, self->w.dial_tls, "h",
					 1, "a/b", "b", 5000, ops, o,
					 self->err));
	SAYS("letters", self->err);
}

TEST_HARNESS_MAIN
