// SPDX-License-Identifier: GPL-2.0
/*
 * The conversation between two ends that keep the rules: what is asked of the
 * owner and when, and what becomes of it when either owner cannot go on.
 */
#include "exchange_lib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "ident.h"

#include <kselftest_harness.h>

FIXTURE(session)
{
	struct world w;
	char err[RCX_ERR_LEN];
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

static void cancel_later(evutil_socket_t fd, short what, void *arg)
{
	struct owner *o = arg;

	(void)fd;
	(void)what;
	rcx_session_cancel(o->session, "interrupted");
}

TEST_F(session, cancel_from_outside_is_done_when_it_returns)
{
	const struct timeval soon = { .tv_usec = 500000 };
	struct owner *o = &self->w.dialler;

	o->stay_down = true;
	event_base_once(self->w.base, -1, EV_TIMEOUT, cancel_later, o, &soon);
	both(&self->w);
	HOLDS(o);
	EXPECT_EQ(-ECANCELED, o->result);
	EXPECT_EQ(1, o->aborts);
	SAYS("peer: interrupted", self->w.listener_end.err);

	/* Before anything was connected. */
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

TEST_F(session, a_link_that_does_not_come_up_is_given_up)
{
	struct owner *i = &self->w.dialler, *r = &self->w.listener_end;

	self->w.timeout_ms = 1000;
	i->stay_down = true;
	both(&self->w);
	HOLDS(i);
	HOLDS(r);
	EXPECT_EQ(-ETIMEDOUT, i->result);
	SAYS("timed out", i->err);
	SAYS("RDMA path", i->err);
	/* Its own link was up and stays so: the kernel looks after it. */
	EXPECT_EQ(0, r->aborts);
	EXPECT_NE(0, r->result);
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
