// SPDX-License-Identifier: GPL-2.0
/*
 * Slow requests to the module, each in a thread: the loop goes on meanwhile,
 * requests for one link keep their order, and the socket is handed back or
 * closed, whoever gives up first.
 */
#include "ask.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "nl.h"

#include <kselftest_harness.h>

#define TAKES_US	200000

/* In place of sockets: only the addresses are used. */
static int socket_of[3];
static int closed;
static int asked;	/* numbers of the requests made, a digit for each */
static bool no_threads;	/* the limit of processes is reached */
static bool late;	/* pthread_create() returns only after a while */
static int ticks;	/* of the loop */
static int wanted;	/* ticks before a thread gets its answer */

typeof(pthread_create) __real_pthread_create, __wrap_pthread_create;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*run)(void *), void *arg)
{
	int ret = no_threads ? EAGAIN :
			       __real_pthread_create(thread, attr, run, arg);

	if (late)
		usleep(2 * TAKES_US);
	return ret;
}

static struct rcl_nl *nl(int i)
{
	return (struct rcl_nl *)&socket_of[i];
}

struct question {
	int number;
	int answer;
};

static int ask(struct rcl_nl *by, void *what, char *err)
{
	struct question *q = what;

	usleep(TAKES_US);
	while (__atomic_load_n(&ticks, __ATOMIC_RELAXED) < wanted)
		usleep(1000);
	asked = asked * 10 + q->number;
	q->answer = q->number + 1;
	return by != nl(1) ? 0 : rcl_fail(err, -ETIMEDOUT, "nobody is there");
}

void rcl_nl_close(struct rcl_nl *by)
{
	closed += !!by;
}

struct answer {
	int times;
	struct rcl_nl *nl;
	int ret;
	int answer;
	char err[RCL_ERR_LEN];
};

static void on_asked(void *ctx, struct rcl_nl *by, int ret, const void *what,
		     const char *err)
{
	const struct question *q = what;
	struct answer *a = ctx;

	a->times++;
	a->nl = by;
	a->ret = ret;
	a->answer = q->answer;
	snprintf(a->err, sizeof(a->err), "%s", ret ? err : "");
}

static void count(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	++*(int *)arg;
}

FIXTURE(ask)
{
	struct event_base *base;
	struct rch_asks *all;
	struct answer answer;
	char err[RCL_ERR_LEN];
};

FIXTURE_SETUP(ask)
{
	memset(&self->answer, 0, sizeof(self->answer));
	closed = 0;
	asked = 0;
	no_threads = false;
	late = false;
	ticks = 0;
	wanted = 0;
	self->base = event_base_new();
	self->all = rch_asks_new(self->base);
	ASSERT_NE(NULL, self->all);
}

FIXTURE_TEARDOWN(ask)
{
	rch_asks_free(self->all);
	event_base_free(self->base);
}

/* Overwrites its own data at once, as the thread may look only later. */
static struct rch_ask *start(struct rch_asks *all, int i, const char *name,
			     bool must, struct answer *answer, char *err)
{
	struct question q = { .number = i + 1 };
	char link[] = "ab";
	const struct rch_request request = {
		.link = memcpy(link, name, 2),
		.must = must,
		.ask = ask,
		.what = &q,
		.size = sizeof(q),
		.done = answer ? on_asked : NULL,
		.ctx = answer,
	};
	struct rch_ask *a;

	a = rch_ask_start(all, nl(i), &request, err);
	memset(link, 'x', 2);
	memset(&q, 0xff, sizeof(q));
	return a;
}

static struct rch_ask *begin(struct rch_asks *all, int i, const char *name,
			     struct answer *answer, char *err)
{
	return start(all, i, name, false, answer, err);
}

TEST_F(ask, the_loop_goes_on_meanwhile)
{
	const struct timeval tick = { .tv_usec = TAKES_US / 10 };
	struct event *timer;

	wanted = 3;
	ASSERT_NE(NULL, begin(self->all, 0, "ab", &self->answer, self->err));
	EXPECT_TRUE(rch_asks_has(self->all, "ab"));
	EXPECT_FALSE(rch_asks_has(self->all, "a"));
	timer = event_new(self->base, -1, EV_PERSIST, count, &ticks);
	event_add(timer, &tick);
	while (!self->answer.times)
		event_base_loop(self->base, EVLOOP_ONCE);
	event_free(timer);
	EXPECT_LT(2, ticks);
	EXPECT_EQ(1, self->answer.times);
	EXPECT_EQ(0, self->answer.ret);
	EXPECT_EQ(2, self->answer.answer);
	EXPECT_EQ(nl(0), self->answer.nl);
	EXPECT_FALSE(rch_asks_has(self->all, "ab"));
	EXPECT_EQ(0, closed);
}

TEST_F(ask, a_refusal_comes_with_its_sentence)
{
	ASSERT_NE(NULL, begin(self->all, 1, "ab", &self->answer, self->err));
	event_base_dispatch(self->base);
	EXPECT_EQ(-ETIMEDOUT, self->answer.ret);
	EXPECT_STREQ("nobody is there", self->answer.err);
	EXPECT_EQ(nl(1), self->answer.nl);
}

TEST_F(ask, who_leaves_hears_nothing_and_the_socket_is_closed)
{
	struct rch_ask *a;

	a = begin(self->all, 2, "ab", &self->answer, self->err);
	ASSERT_NE(NULL, a);
	rch_ask_leave(a);
	EXPECT_TRUE(rch_asks_has(self->all, "ab"));
	EXPECT_EQ(0, closed);
	event_base_dispatch(self->base);
	EXPECT_EQ(0, self->answer.times);
	EXPECT_EQ(1, closed);
	EXPECT_EQ(3, asked);
}

TEST_F(ask, what_is_asked_of_one_link_keeps_its_order)
{
	struct answer second = {};

	ASSERT_NE(NULL, begin(self->all, 2, "ab", &self->answer, self->err));
	ASSERT_NE(NULL, begin(self->all, 0, "ab", NULL, self->err));
	ASSERT_NE(NULL, begin(self->all, 1, "ab", &second, self->err));
	event_base_loop(self->base, EVLOOP_ONCE);
	EXPECT_EQ(1, self->answer.times);
	/* The next request is not over. */
	EXPECT_EQ(3, asked);
	EXPECT_EQ(0, closed);
	event_base_dispatch(self->base);
	EXPECT_EQ(312, asked);
	EXPECT_EQ(1, closed);
	EXPECT_EQ(1, second.times);
	EXPECT_EQ(nl(1), second.nl);
}

TEST_F(ask, a_thread_that_is_over_at_once_keeps_its_answer)
{
	late = true;
	ASSERT_NE(NULL, begin(self->all, 0, "ab", NULL, self->err));
	ASSERT_NE(NULL, begin(self->all, 1, "ab", &self->answer, self->err));
	event_base_dispatch(self->base);
	EXPECT_EQ(1, self->answer.times);
	EXPECT_EQ(-ETIMEDOUT, self->answer.ret);
	EXPECT_STREQ("nobody is there", self->answer.err);
}

TEST_F(ask, one_that_has_not_begun_is_dropped)
{
	struct rch_ask *a;

	ASSERT_NE(NULL, begin(self->all, 0, "ab", NULL, self->err));
	a = begin(self->all, 1, "ab", &self->answer, self->err);
	ASSERT_NE(NULL, a);
	ASSERT_NE(NULL, begin(self->all, 2, "ab", NULL, self->err));
	rch_ask_leave(a);
	EXPECT_EQ(1, closed);
	event_base_dispatch(self->base);
	EXPECT_EQ(0, self->answer.times);
	EXPECT_EQ(13, asked);
	EXPECT_EQ(3, closed);
}

TEST_F(ask, links_do_not_wait_for_each_other)
{
	struct answer other = {};

	ASSERT_NE(NULL, begin(self->all, 0, "ab", NULL, self->err));
	ASSERT_NE(NULL, begin(self->all, 0, "ab", NULL, self->err));
	ASSERT_NE(NULL, begin(self->all, 0, "ab", &self->answer, self->err));
	ASSERT_NE(NULL, begin(self->all, 2, "cd", &other, self->err));
	while (!self->answer.times && !other.times)
		event_base_loop(self->base, EVLOOP_ONCE);
	EXPECT_EQ(1, other.times);
	EXPECT_EQ(0, self->answer.times);
}

TEST_F(ask, the_end_waits_for_what_has_begun)
{
	static const char * const links[] = { "ab", "cd", "ab" };
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_NE(NULL, begin(self->all, i, links[i], &self->answer,
				      self->err));
	rch_asks_free(self->all);
	self->all = NULL;
	EXPECT_EQ(0, self->answer.times);
	EXPECT_EQ(3, closed);
}

TEST_F(ask, what_must_be_done_is_done_by_the_end)
{
	struct rch_ask *a;

	ASSERT_NE(NULL, begin(self->all, 0, "ab", &self->answer, self->err));
	a = start(self->all, 1, "ab", true, &self->answer, self->err);
	ASSERT_NE(NULL, a);
	ASSERT_NE(NULL, start(self->all, 2, "ab", true, NULL, self->err));
	ASSERT_NE(NULL, begin(self->all, 0, "ab", &self->answer, self->err));
	rch_ask_leave(a);
	EXPECT_EQ(0, closed);
	rch_asks_free(self->all);
	self->all = NULL;
	EXPECT_EQ(123, asked);
	EXPECT_EQ(0, self->answer.times);
	EXPECT_EQ(4, closed);
}

TEST_F(ask, what_must_be_done_is_done_for_nobody)
{
	struct rch_ask *a;

	ASSERT_NE(NULL, begin(self->all, 0, "ab", NULL, self->err));
	a = start(self->all, 1, "ab", true, &self->answer, self->err);
	ASSERT_NE(NULL, a);
	rch_ask_leave(a);
	event_base_dispatch(self->base);
	EXPECT_EQ(12, asked);
	EXPECT_EQ(0, self->answer.times);
	EXPECT_EQ(2, closed);
}

TEST_F(ask, without_a_thread_nothing_begins)
{
	no_threads = true;
	EXPECT_EQ(NULL, begin(self->all, 0, "ab", &self->answer, self->err));
	EXPECT_STREQ("no more threads to ask the module; try again later",
		     self->err);
	EXPECT_FALSE(rch_asks_has(self->all, "ab"));
	EXPECT_EQ(0, closed);
	EXPECT_EQ(0, asked);
	no_threads = false;
	ASSERT_NE(NULL, begin(self->all, 0, "ab", &self->answer, self->err));
	event_base_dispatch(self->base);
	EXPECT_EQ(1, self->answer.times);
	EXPECT_EQ(0, self->answer.ret);
}

TEST_F(ask, without_a_thread_the_loop_does_what_must_be_done)
{
	struct answer second = {};

	ASSERT_NE(NULL, begin(self->all, 0, "ab", NULL, self->err));
	ASSERT_NE(NULL, begin(self->all, 1, "ab", &self->answer, self->err));
	ASSERT_NE(NULL, start(self->all, 2, "ab", true, &second, self->err));
	no_threads = true;
	event_base_dispatch(self->base);
	EXPECT_EQ(13, asked);
	EXPECT_EQ(1, self->answer.times);
	EXPECT_EQ(-EAGAIN, self->answer.ret);
	EXPECT_STREQ("no more threads to ask the module; try again later",
		     self->answer.err);
	EXPECT_EQ(nl(1), self->answer.nl);
	EXPECT_EQ(1, second.times);
	EXPECT_EQ(0, second.ret);
	EXPECT_EQ(4, second.answer);
	EXPECT_EQ(nl(2), second.nl);
	EXPECT_FALSE(rch_asks_has(self->all, "ab"));
}

TEST_HARNESS_MAIN
