// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that breaks no rule, but would keep the module waiting without end:
 * imports that nobody waits for any more are few, and connecting fails in time.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rclink.h>

#include "harness.h"
#include "hostile.h"
#include "slow.h"

#define TIMEOUT_S	400
#define SERVICE		"s"
#define QPN		17	/* any */
#define QUIET_MS	200
#define KILLED		100	/* processes that import */
#define LEFT		64	/* RCL_HANDLE_SLOTS of the module */
#define KILL_US		5000
#define KILL_S		4	/* for all: the first answer is due in 10 s */
#define TURNS		25	/* of a second: more than twice what one has */

#define SAY(t, ...)	{ .type = RCL_MSG_##t, ##__VA_ARGS__ }
#define NAME(n)		.data = (const uint8_t *)(n), .len = sizeof(n) - 1
#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

FIXTURE(load)
{
	struct hostile h;
	struct rclink_chan *chan;
	struct rclink_remote remote;
	pthread_t thread;
	int ret;			/* of the thread */
	bool listens;			/* the accepting thread does */
	bool over;			/* it is to stop */
};

/* The module is the responder, and so the end that gives way. */
FIXTURE_SETUP(load)
{
	ASSERT_EQ(0, hostile_begin(&self->h, RCLINK_ROLE_INITIATOR + 1));
	ASSERT_EQ(0, hostile_up(&self->h));
}

FIXTURE_TEARDOWN(load)
{
	if (self->chan)
		rclink_close(self->chan);
	EXPECT_EQ(0, hostile_end(&self->h));
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void *connects(void *arg)
{
	struct _test_data_load *self = arg;

	self->ret = rclink_connect(&self->chan, HOSTILE_LINK, SERVICE, 0);
	return NULL;
}

/* Answers @to with @status. */
static int answer(struct hostile *h, const struct rcl_msg *to, uint8_t status)
{
	struct rcl_msg msg = {
		.type = to->type + 1, .status = status, .cookie = to->cookie,
	};

	if (to->type != RCL_MSG_IMPORT)
		msg.offset = to->offset;
	return peer_say(&h->p, &msg);
}

static void opens(struct __test_metadata *_metadata,
		  struct _test_data_load *self)
{
	struct rcl_msg msg;

	ASSERT_EQ(0, pthread_create(&self->thread, NULL, connects, self));
	ASSERT_EQ(0, peer_await(&self->h.p, RCL_MSG_OPEN, &msg));
	ASSERT_EQ(0, answer(&self->h, &msg, RCL_MSG_OK));
	pthread_join(self->thread, NULL);
	ASSERT_EQ(0, self->ret);
}

TEST_F_TIMEOUT(load, many_who_import_are_killed, TIMEOUT_S)
{
	struct hostile *h = &self->h;
	struct rcl_msg msg;
	int status, i, n;
	double begin;
	pid_t pid;

	opens(_metadata, self);
	begin = seconds();
	for (i = 0; i < KILLED && seconds() - begin < KILL_S; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			rclink_import(self->chan, "r", &self->remote);
			_exit(EXIT_SUCCESS);
		}
		usleep(KILL_US);
		EXPECT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
	}
	/* No process waits for these answers. */
	for (n = 0; !peer_hear(&h->p, &msg, slow(QUIET_MS)); n++) {
		ASSERT_EQ(RCL_MSG_IMPORT, msg.type);
		ASSERT_EQ(0, answer(h, &msg, RCL_MSG_REFUSED));
	}
	TH_LOG("%d of %d were asked for", n, i);
	EXPECT_GE(LEFT, n);
	EXPECT_EQ(0, hostile_lives(h, "killed"));
}

static void *accepts(void *arg)
{
	struct _test_data_load *self = arg;
	struct rclink_listener *listener;
	struct rclink_chan *chan;
	struct pollfd fd;

	if (rclink_listen(&listener, HOSTILE_LINK, SERVICE, LEFT, 0))
		return NULL;
	__atomic_store_n(&self->listens, true, __ATOMIC_RELEASE);
	fd = (struct pollfd){
		.fd = rclink_listener_fd(listener), .events = POLLIN,
	};
	while (!__atomic_load_n(&self->over, __ATOMIC_ACQUIRE))
		if (poll(&fd, 1, QUIET_MS) == 1 &&
		    !rclink_accept(listener, &chan))
			rclink_close(chan);
	rclink_listener_close(listener);
	return NULL;
}

/*
 * The peer leases QP @i of the pool and gives it back, after GO if it has done
 * so before. All requests of the module meanwhile are answered RCL_MSG_BUSY.
 */
static int takes(struct hostile *h, uint32_t i, bool again)
{
	struct rcl_msg say[] = {
		SAY(GO, .offset = i), SAY(OPEN, .offset = i, NAME(SERVICE)),
		SAY(RECYCLE, .offset = i, .len = QPN),
	};
	struct rcl_msg msg;
	int ret = 0;
	size_t n;

	for (n = !again; n < COUNT(say) && !ret; n++)
		ret = peer_say(&h->p, &say[n]);
	do {
		if (!ret)
			ret = peer_hear(&h->p, &msg, slow(HOSTILE_MS));
		if (!ret && !rcl_msg_is_answer(msg.type))
			ret = answer(h, &msg, RCL_MSG_BUSY);
	} while (!ret && msg.type != RCL_MSG_RECYCLED);
	return ret ? ret : -msg.status;
}

TEST_F_TIMEOUT(load, each_qp_that_comes_back_is_taken, TIMEOUT_S)
{
	struct hostile *h = &self->h;
	pthread_t taker;
	int i;

	ASSERT_EQ(0, pthread_create(&taker, NULL, accepts, self));
	for (i = slow(HOSTILE_MS); i > 0; i--) {
		if (__atomic_load_n(&self->listens, __ATOMIC_ACQUIRE))
			break;
		usleep(1000);
	}
	ASSERT_EQ(0, takes(h, 0, false));
	ASSERT_EQ(0, takes(h, 1, false));
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, connects, self));
	for (i = 0; i < TURNS; i++) {
		ASSERT_EQ(0, takes(h, i % 2, true));
		sleep(1);
		if (!pthread_tryjoin_np(self->thread, NULL))
			break;
	}
	EXPECT_GT(TURNS, i);
	EXPECT_EQ(-EAGAIN, self->ret);
	__atomic_store_n(&self->over, true, __ATOMIC_RELEASE);
	pthread_join(taker, NULL);
	EXPECT_EQ(0, hostile_lives(h, "turns"));
}

TEST_HARNESS_MAIN
