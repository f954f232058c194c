// SPDX-License-Identifier: GPL-2.0
/*
 * Connecting in a thread, with a module that takes its time: the loop goes on,
 * and the socket comes back or is closed, whoever gives up first.
 */
#include "connect.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "call.h"

#include <kselftest_harness.h>

#define TAKES_US	200000

/* A socket, as far as this test needs one. */
static int socket_of[3];
static int closed;
static char asked_for[RCLINK_NAME_MAX + 1];

static struct rcl_nl *nl(int i)
{
	return (struct rcl_nl *)&socket_of[i];
}

int rcl_call_connect(struct rcl_nl *by, const struct rcl_connect *c,
		     uint64_t *agreed, char *err)
{
	usleep(TAKES_US);
	snprintf(asked_for, sizeof(asked_for), "%s", c->link);
	*agreed = c->remote->epoch;
	return by == nl(0) ? 0 : rcl_fail(err, -ETIMEDOUT, "nobody is there");
}

void rcl_nl_close(struct rcl_nl *by)
{
	closed += !!by;
}

struct answer {
	int times;
	struct rcl_nl *nl;
	int ret;
	uint64_t agreed;
	char err[RCL_ERR_LEN];
};

static void on_connected(void *ctx, struct rcl_nl *by, int ret,
			 uint64_t agreed, const char *err)
{
	struct answer *a = ctx;

	a->times++;
	a->nl = by;
	a->ret = ret;
	a->agreed = agreed;
	snprintf(a->err, sizeof(a->err), "%s", ret ? err : "");
}

static void count(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	++*(int *)arg;
}

FIXTURE(connect)
{
	struct event_base *base;
	struct rch_connects *all;
	struct answer answer;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(connect)
{
	memset(&self->answer, 0, sizeof(self->answer));
	closed = 0;
	self->base = event_base_new();
	self->all = rch_connects_new(self->base);
	ASSERT_NE(NULL, self->all);
}

FIXTURE_TEARDOWN(connect)
{
	rch_connects_free(self->all);
	event_base_free(self->base);
}

/* What the caller has may be gone before the module looks at it. */
static struct rch_connect *begin(struct rch_connects *all, int i,
				 struct answer *answer, char *err)
{
	char link[] = "ab", peer[] = "somebody";
	struct rcl_endpoint remote = { .epoch = 7 };
	const struct rcl_connect request = {
		.link = link,
		.peer = peer,
		.remote = &remote,
	};
	struct rch_connect *c;

	c = rch_connect_start(all, nl(i), &request, on_connected, answer, err);
	memset(link, 'x', 2);
	memset(&remote, 0xff, sizeof(remote));
	return c;
}

TEST_F(connect, the_loop_goes_on_meanwhile)
{
	const struct timeval tick = { .tv_usec = TAKES_US / 10 };
	struct event *timer;
	int ticks = 0;

	ASSERT_NE(NULL, begin(self->all, 0, &self->answer, self->err));
	EXPECT_TRUE(rch_connects_has(self->all, "ab"));
	EXPECT_FALSE(rch_connects_has(self->all, "a"));
	timer = event_new(self->base, -1, EV_PERSIST, count, &ticks);
	event_add(timer, &tick);
	while (!self->answer.times)
		event_base_loop(self->base, EVLOOP_ONCE);
	event_free(timer);
	EXPECT_LT(2, ticks);
	EXPECT_EQ(1, self->answer.times);
	EXPECT_EQ(0, self->answer.ret);
	EXPECT_EQ(7, self->answer.agreed);
	EXPECT_EQ(nl(0), self->answer.nl);
	EXPECT_STREQ("ab", asked_for);
	EXPECT_FALSE(rch_connects_has(self->all, "ab"));
	EXPECT_EQ(0, closed);
}

TEST_F(connect, a_refusal_comes_with_its_sentence)
{
	ASSERT_NE(NULL, begin(self->all, 1, &self->answer, self->err));
	event_base_dispatch(self->base);
	EXPECT_EQ(-ETIMEDOUT, self->answer.ret);
	EXPECT_STREQ("nobody is there", self->answer.err);
	EXPECT_EQ(nl(1), self->answer.nl);
}

TEST_F(connect, who_leaves_hears_nothing_and_the_socket_is_closed)
{
	struct rch_connect *c;

	c = begin(self->all, 2, &self->answer, self->err);
	ASSERT_NE(NULL, c);
	rch_connect_leave(c);
	EXPECT_TRUE(rch_connects_has(self->all, "ab"));
	EXPECT_EQ(0, closed);
	event_base_dispatch(self->base);
	EXPECT_EQ(0, self->answer.times);
	EXPECT_EQ(1, closed);
}

TEST_F(connect, the_end_waits_for_all)
{
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_NE(NULL, begin(self->all, i, &self->answer, self->err));
	rch_connects_free(self->all);
	self->all = NULL;
	EXPECT_EQ(0, self->answer.times);
	EXPECT_EQ(3, closed);
}

TEST_HARNESS_MAIN
