// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are closed while other threads poll them, wait for them in an
 * epoll set, and wait in their calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness.h"
#include "rig.h"

#define TIMEOUT_S	120
#define ROUNDS		40
#define RECVS		8
#define STEP_MS		1	/* timeout of each wait of a thread */
#define SERVICE		"close"
#define THREADS		3

/* What the threads share. */
struct work {
	void *(*run[THREADS])(void *arg);
	pthread_t thread[THREADS];
	int fd;
	int ep;			/* epoll set with fd */
	unsigned int began;	/* threads that are about to wait */
	unsigned int calls;	/* that have returned */
};

static void came_back(struct work *w)
{
	__atomic_add_fetch(&w->calls, 1, __ATOMIC_RELAXED);
}

static void begins(struct work *w)
{
	__atomic_add_fetch(&w->began, 1, __ATOMIC_RELEASE);
}

static void *polls(void *arg)
{
	struct work *w = arg;
	struct pollfd fd = { .fd = w->fd, .events = POLLIN };

	begins(w);
	do {
		poll(&fd, 1, STEP_MS);
		came_back(w);
	} while (!(fd.revents & POLLNVAL));
	return NULL;
}

static void *waits_in_set(void *arg)
{
	struct work *w = arg;
	struct epoll_event event;

	begins(w);
	while (fcntl(w->fd, F_GETFD) != -1) {
		epoll_wait(w->ep, &event, 1, STEP_MS);
		came_back(w);
	}
	return NULL;
}

static void *submits(void *arg)
{
	struct work *w = arg;
	struct rclink_dev_submit submit;
	int ret;

	begins(w);
	do {
		submit = (struct rclink_dev_submit) {
			.wait = RECVS, .timeout_ms = STEP_MS,
		};
		ret = ioctl(w->fd, RCLINK_IOC_SUBMIT, &submit);
		came_back(w);
	} while (!ret || errno != EBADF);
	return NULL;
}

static void *accepts(void *arg)
{
	struct work *w = arg;
	int fd;

	begins(w);
	do {
		fd = ioctl(w->fd, RCLINK_IOC_ACCEPT);
		came_back(w);
		if (fd >= 0)
			close(fd);
	} while (fd >= 0 || errno != EBADF);
	return NULL;
}

static bool have_begun(const struct work *w, unsigned int calls)
{
	return __atomic_load_n(&w->began, __ATOMIC_ACQUIRE) == THREADS &&
	       __atomic_load_n(&w->calls, __ATOMIC_RELAXED) >= calls;
}

/* Start the threads; return when all are about to wait, and some have. */
static int work_begins(struct work *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	unsigned int before;
	int i, ret = 0;

	w->fd = fd;
	w->began = 0;
	w->ep = epoll_create1(EPOLL_CLOEXEC);
	if (w->ep < 0 || epoll_ctl(w->ep, EPOLL_CTL_ADD, fd, &event))
		return -errno;
	for (i = 0; !ret && i < THREADS; i++)
		ret = -pthread_create(&w->thread[i], NULL, w->run[i], w);
	before = __atomic_load_n(&w->calls, __ATOMIC_RELAXED);
	while (!ret && !have_begun(w, before + 2 * THREADS))
		usleep(100);
	return ret;
}

/* Each thread ends when it finds the file closed. */
static void work_ends(struct work *w)
{
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_join(w->thread[i], NULL);
	close(w->ep);
}

FIXTURE(files)
{
	struct rig r;
	long pinned;
};

FIXTURE_SETUP(files)
{
	ASSERT_EQ(0, rig_begin(&self->r));
	ASSERT_EQ(0, rig_link(&self->r));
	self->pinned = rig_pinned();
}

FIXTURE_TEARDOWN(files)
{
	EXPECT_EQ(self->pinned, rig_pinned());
	rig_end(&self->r);
}

/* near has receives for what far sends. */
static int open_both(struct rig *r)
{
	int i, ret = rig_open(r);

	for (i = 0; !ret && i < RECVS; i++)
		ret = rclink_recv(r->near, rclink_none(), i);
	if (!ret)
		ret = rclink_submit(r->near, 0, 0);
	return ret == RECVS ? 0 : ret < 0 ? ret : -EIO;
}

static int far_sends(struct rig *r)
{
	int ret = rclink_send(r->far, rclink_none(), 0, 0);

	return ret ? ret : rclink_submit(r->far, 0, 0);
}

TEST_F_TIMEOUT(files, a_channel_that_others_look_at, TIMEOUT_S)
{
	struct work w = { .run = { polls, waits_in_set, submits } };
	struct rig *r = &self->r;
	int i, j;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, open_both(r));
		ASSERT_EQ(0, work_begins(&w, rclink_fd(r->near)));
		/* Some threads have something to wake up for just then. */
		for (j = 0; j < i % RECVS; j++)
			EXPECT_EQ(1, far_sends(r));
		rclink_close(r->near);
		r->near = NULL;
		work_ends(&w);
		rig_close(r);
	}
	TH_LOG("%u calls", w.calls);
}

/* Try again: QPs of channels before may be on their way back. */
static int connects(int fd)
{
	const struct rclink_dev_service s = {
		.link = RIG_NEAR, .service = SERVICE,
		.flags = RCLINK_CONNECT_WAIT,
	};
	int ret;

	do {
		ret = ioctl(fd, RCLINK_IOC_CONNECT, &s) ? -errno : 0;
	} while (ret == -EAGAIN);
	return ret;
}

TEST_F_TIMEOUT(files, a_listener_that_others_look_at, TIMEOUT_S)
{
	struct work w = { .run = { polls, waits_in_set, accepts } };
	int i, fd, near;

	for (i = 0; i < ROUNDS; i++) {
		fd = rig_device();
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, fcntl(fd, F_SETFL, O_NONBLOCK));
		ASSERT_EQ(0, rig_listen(fd, SERVICE));
		near = rig_device();
		ASSERT_LE(0, near);
		ASSERT_EQ(0, work_begins(&w, fd));
		if (i % 2)
			EXPECT_EQ(0, connects(near));
		close(fd);
		work_ends(&w);
		close(near);
	}
	TH_LOG("%u calls", w.calls);
}

TEST_HARNESS_MAIN
