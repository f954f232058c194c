// SPDX-License-Identifier: GPL-2.0
/*
 * A process that waits in a call can be stopped, traced or killed, or its file
 * be closed, and nobody else notices.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "rig.h"

#define ROUNDS		20
#define STATE_MS	10000
#define QUIET_MS	200	/* enough for anything to complete */
#define RECVS		5
#define SPARE		8	/* more than a pool has QPs */
#define WAIT_MAX	256	/* that may wait for a QP of a link */
#define TOO_MANY	20
#define ALL		(WAIT_MAX + TOO_MANY)
#define STACK		(64 * 1024)

/* State of a process or thread: R, S, T, Z; 0 when it is gone. */
static char state_of(pid_t task)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", task);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(f);
	return state;
}

static bool becomes(pid_t task, char state)
{
	int ms;

	for (ms = slow(STATE_MS); ms > 0 && state_of(task) != state; ms--)
		usleep(1000);
	return ms > 0;
}

FIXTURE(call)
{
	struct rig r;
	int spare[SPARE], num;
};

FIXTURE_VARIANT(call)
{
	void (*wait)(struct rig *r);	/* returns when it was interrupted */
	bool goes_on;			/* a mere stop does not interrupt */
	bool empty;			/* wait at an empty pool */
};

static void wait_in_submit(struct rig *r)
{
	rclink_submit(r->near, 1, 0);
}

FIXTURE_VARIANT_ADD(call, submit) {
	.wait = wait_in_submit,
};

static void wait_in_poll(struct rig *r)
{
	struct pollfd fd = { .fd = rclink_fd(r->near), .events = POLLIN };

	poll(&fd, 1, -1);
}

FIXTURE_VARIANT_ADD(call, poll) {
	.wait = wait_in_poll, .goes_on = true,
};

static void wait_in_epoll(struct rig *r)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	epoll_ctl(fd, EPOLL_CTL_ADD, rclink_fd(r->near), &event);
	epoll_wait(fd, &event, 1, -1);
	close(fd);
}

FIXTURE_VARIANT_ADD(call, epoll) {
	.wait = wait_in_epoll,
};

static void wait_in_accept(struct rig *r)
{
	int fd = rig_device();

	if (!rig_listen(fd, "block"))
		ioctl(fd, RCLINK_IOC_ACCEPT);
	close(fd);
}

FIXTURE_VARIANT_ADD(call, accept) {
	.wait = wait_in_accept, .goes_on = true,
};

static void wait_in_connect(struct rig *r)
{
	int fd = rig_device();

	rig_connect(fd, RCLINK_CONNECT_WAIT);
	close(fd);
}

FIXTURE_VARIANT_ADD(call, connect) {
	.wait = wait_in_connect, .goes_on = true, .empty = true,
};

FIXTURE_SETUP(call)
{
	int fd, ret = 0;

	ASSERT_EQ(0, rig_begin(&self->r));
	ASSERT_EQ(0, rig_link(&self->r));
	ASSERT_EQ(0, rig_open(&self->r));
	while (variant->empty && !ret) {
		ASSERT_GT(SPARE, self->num);
		fd = rig_device();
		ASSERT_LE(0, fd);
		ret = rig_connect(fd, 0);
		if (ret)
			close(fd);
		else
			self->spare[self->num++] = fd;
	}
	if (variant->empty)
		ASSERT_EQ(-EAGAIN, ret);
}

FIXTURE_TEARDOWN(call)
{
	while (self->num)
		close(self->spare[--self->num]);
	rig_end(&self->r);
}

TEST_F(call, who_waits_can_be_stopped_traced_and_killed)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		do
			variant->wait(&self->r);
		while (!variant->goes_on);
		_exit(1);
	}
	ASSERT_LT(0, pid);
	EXPECT_TRUE(becomes(pid, 'S'));
	EXPECT_EQ(0, kill(pid, SIGSTOP));
	EXPECT_TRUE(becomes(pid, 'T'));
	EXPECT_EQ(0, kill(pid, SIGCONT));
	EXPECT_TRUE(becomes(pid, 'S'));
	EXPECT_EQ(0, ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	EXPECT_EQ(0, ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, __WALL));
	EXPECT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(0, ptrace(PTRACE_DETACH, pid, NULL, NULL));
	EXPECT_TRUE(becomes(pid, 'S'));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_TRUE(becomes(pid, 'Z'));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, rig_moves(&self->r, 1));
}

FIXTURE(file)
{
	struct rig r;
	int near, far;
};

FIXTURE_SETUP(file)
{
	ASSERT_EQ(0, rig_begin(&self->r));
	ASSERT_EQ(0, rig_link(&self->r));
}

FIXTURE_TEARDOWN(file)
{
	rig_end(&self->r);
}

struct waiter {
	int fd, ret;
	pid_t tid;
	pthread_t thread;
};

static void *polls(void *arg)
{
	struct waiter *w = arg;
	struct pollfd fd = { .fd = w->fd };

	__atomic_store_n(&w->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	w->ret = poll(&fd, 1, slow(STATE_MS)) == 1 ? fd.revents : 0;
	return NULL;
}

static void *submits(void *arg)
{
	struct rclink_dev_submit submit = {
		.wait = 1, .timeout_ms = slow(STATE_MS),
	};
	struct waiter *w = arg;

	__atomic_store_n(&w->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	w->ret = ioctl(w->fd, RCLINK_IOC_SUBMIT, &submit) ? errno : 0;
	return NULL;
}

static bool sleeps(struct waiter *w)
{
	pid_t tid;

	while (!(tid = __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE)))
		usleep(100);
	return becomes(tid, 'S');
}

/* Threads wait for the end; in every other round their file closes first. */
TEST_F(file, close_while_others_wait)
{
	int i, ret;

	for (i = 0; i < ROUNDS; i++) {
		struct waiter p, s;

		self->near = rig_device();
		ASSERT_LE(0, self->near);
		do {
			ret = rig_connect(self->near, RCLINK_CONNECT_WAIT);
		} while (ret == -EAGAIN);
		ASSERT_EQ(0, ret);
		self->far = rig_accept(&self->r);
		ASSERT_LE(0, self->far);
		EXPECT_EQ(FD_CLOEXEC, fcntl(self->far, F_GETFD));
		p = (struct waiter){ .fd = self->near };
		s = p;
		ASSERT_EQ(0, pthread_create(&p.thread, NULL, polls, &p));
		ASSERT_EQ(0, pthread_create(&s.thread, NULL, submits, &s));
		EXPECT_TRUE(sleeps(&p));
		EXPECT_TRUE(sleeps(&s));
		if (i % 2)
			close(self->near);
		close(self->far);
		pthread_join(p.thread, NULL);
		pthread_join(s.thread, NULL);
		/* poll() looks up its descriptor again, which may be closed. */
		EXPECT_EQ(i % 2 ? POLLNVAL : POLLHUP | POLLERR, p.ret);
		EXPECT_EQ(ECONNRESET, s.ret);
		if (i % 2 == 0)
			close(self->near);
	}
}

/* Open both ends of a channel; a negative errno if there is none. */
static int open_pair(const struct rig *r, int pair[2])
{
	int ret;

	pair[0] = rig_device();
	if (pair[0] < 0)
		return pair[0];
	ret = rig_connect(pair[0], 0);
	if (ret) {
		close(pair[0]);
		return ret;
	}
	pair[1] = rig_accept(r);
	return pair[1] < 0 ? pair[1] : 0;
}

/* An open waits for a QP that a channel has just left, and for no other. */
TEST(a_qp_that_comes_back_is_waited_for)
{
	int pair[SPARE][2], num = 0, ret, i;
	struct rig r;

	ASSERT_EQ(0, rig_begin(&r));
	ASSERT_EQ(0, rig_link(&r));
	while (!(ret = open_pair(&r, pair[num])))
		ASSERT_GT(SPARE, ++num);
	ASSERT_EQ(-EAGAIN, ret);
	for (i = 0; i < ROUNDS; i++) {
		close(pair[i % num][i / num % 2]);
		close(pair[i % num][!(i / num % 2)]);
		ASSERT_EQ(0, open_pair(&r, pair[i % num]));
	}
	EXPECT_EQ(-EAGAIN, open_pair(&r, pair[num]));
	while (num--) {
		close(pair[num][0]);
		close(pair[num][1]);
	}
	rig_end(&r);
}

struct crowd {
	pthread_t thread[ALL];
	int refused, stopped, others;
};

static void is_told(int signal)
{
}

static void *joins_crowd(void *arg)
{
	struct crowd *crowd = arg;
	int fd = rig_device();
	int ret = rig_connect(fd, RCLINK_CONNECT_WAIT);

	__atomic_fetch_add(ret == -EAGAIN ? &crowd->refused :
			   ret == -EINTR ? &crowd->stopped : &crowd->others, 1,
			   __ATOMIC_RELAXED);
	close(fd);
	return NULL;
}

static bool reaches(const int *count, int num)
{
	int ms;

	for (ms = slow(STATE_MS); ms > 0; ms--) {
		if (__atomic_load_n(count, __ATOMIC_RELAXED) >= num)
			return true;
		usleep(1000);
	}
	return false;
}

static int crowd_comes(struct crowd *crowd)
{
	pthread_attr_t attr;
	int i, ret = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (i = 0; i < ALL && !ret; i++)
		ret = pthread_create(&crowd->thread[i], &attr, joins_crowd,
				     crowd);
	pthread_attr_destroy(&attr);
	return ret;
}

/* Signal a thread until it ends: it may not be in the call yet. */
static void crowd_goes(struct crowd *crowd)
{
	int i;

	for (i = 0; i < ALL; i++)
		while (pthread_tryjoin_np(crowd->thread[i], NULL)) {
			pthread_kill(crowd->thread[i], SIGUSR1);
			usleep(100);
		}
}

TEST(no_more_than_so_many_wait_for_a_qp)
{
	struct sigaction tell = { .sa_handler = is_told };
	struct crowd crowd = { .refused = 0 };
	int pair[SPARE][2], num = 0;
	struct rcl_view view;
	struct rig r;

	ASSERT_EQ(0, sigaction(SIGUSR1, &tell, NULL));
	ASSERT_EQ(0, rig_begin(&r));
	ASSERT_EQ(0, rig_link(&r));
	while (!open_pair(&r, pair[num]))
		ASSERT_GT(SPARE, ++num);
	ASSERT_EQ(0, crowd_comes(&crowd));
	EXPECT_TRUE(reaches(&crowd.refused, TOO_MANY));
	usleep(QUIET_MS * 1000);
	EXPECT_EQ(TOO_MANY, crowd.refused);
	crowd_goes(&crowd);
	EXPECT_EQ(WAIT_MAX, crowd.stopped);
	EXPECT_EQ(0, crowd.others);
	/* A returned QP can be leased again. */
	close(pair[0][0]);
	close(pair[0][1]);
	EXPECT_EQ(0, open_pair(&r, pair[0]));
	EXPECT_EQ(0, rcl_view(&r.s, RIG_NEAR, &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
	while (num--) {
		close(pair[num][0]);
		close(pair[num][1]);
	}
	rig_end(&r);
}

/* A channel with a polled near end, and with receives at the far end. */
static void open_polled(struct __test_metadata *_metadata, struct rig *r)
{
	int fd, i;

	ASSERT_EQ(0, rig_begin(r));
	ASSERT_EQ(0, rig_link(r));
	fd = rig_device();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rig_connect(fd, RCLINK_CONNECT_WAIT |
				 RCLINK_CHAN_POLLED));
	ASSERT_EQ(0, rclink_adopt(&r->near, fd));
	ASSERT_EQ(0, rclink_adopt(&r->far, rig_accept(r)));
	for (i = 0; i < RECVS; i++)
		ASSERT_EQ(0, rclink_recv(r->far, rclink_none(), i));
	ASSERT_EQ(RECVS, rclink_submit(r->far, 0, 0));
}

/* A completion is in the ring already when the process asks for edges. */
TEST(an_edge_comes_with_the_next_completion)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct rclink_dev_cqe cqe;
	struct rig r;
	int fd, i;

	ASSERT_LE(0, ep);
	open_polled(_metadata, &r);
	fd = rclink_fd(r.near);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, rclink_send(r.near, rclink_none(),
					 RCLINK_SQE_SIGNALED, i));
		ASSERT_EQ(1, rclink_submit(r.near, !i, slow(STATE_MS)));
		if (!i)
			ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event));
		ASSERT_EQ(1, epoll_wait(ep, &event, 1, slow(STATE_MS)));
		ASSERT_EQ(1, rclink_reap(r.near, &cqe, 1));
		EXPECT_EQ(i, cqe.user_data);
	}
	close(ep);
	rig_end(&r);
}

/* A process that only looks, without waiting, finds the completion. */
TEST(what_has_completed_is_there_for_who_does_not_wait)
{
	struct rclink_dev_cqe cqe = { 0 };
	int tries = slow(STATE_MS);
	struct rig r;

	open_polled(_metadata, &r);
	ASSERT_EQ(0, rclink_send(r.near, rclink_none(), RCLINK_SQE_SIGNALED,
				 6));
	ASSERT_EQ(1, rclink_submit(r.near, 0, 0));
	while (!rclink_reap(r.near, &cqe, 1)) {
		ASSERT_LT(0, tries--);
		usleep(1000);
		ASSERT_LE(0, rclink_submit(r.near, 0, 0));
	}
	EXPECT_EQ(6, cqe.user_data);
	EXPECT_EQ(0, cqe.status);
	rig_end(&r);
}

/* Does a send complete although nobody polls? */
static bool completes_by_itself(struct __test_metadata *_metadata,
				struct rig *r)
{
	struct rclink_dev_cqe cqe;
	int n;

	ASSERT_EQ(0, rclink_send(r->near, rclink_none(), RCLINK_SQE_SIGNALED,
				 6));
	ASSERT_EQ(1, rclink_submit(r->near, 0, 0));
	usleep(QUIET_MS * 1000);
	n = rclink_reap(r->near, &cqe, 1);
	if (!n) {
		EXPECT_EQ(0, rclink_submit(r->near, 1, slow(STATE_MS)));
		EXPECT_EQ(1, rclink_reap(r->near, &cqe, 1));
	}
	return n;
}

/*
 * A poll for the end only does not ask for completion events. (One may still
 * come that was asked for when a call slept before.)
 */
TEST(who_polls_for_the_end_still_has_a_polled_channel)
{
	bool quiet = false;
	struct pollfd fd;
	struct rig r;
	int i;

	open_polled(_metadata, &r);
	fd = (struct pollfd){ .fd = rclink_fd(r.near) };
	EXPECT_EQ(0, poll(&fd, 1, 0));
	for (i = 0; i < RECVS && !quiet; i++)
		quiet = !completes_by_itself(_metadata, &r);
	EXPECT_TRUE(quiet);
	rig_end(&r);
}

/* The parent counts the system calls between the stop and the end. */
static void submits_and_reaps(struct rig *r)
{
	struct rclink_dev_cqe cqe[RECVS];
	int i, n;

	for (i = 0; i < RECVS; i++)
		rclink_send(r->near, rclink_none(), RCLINK_SQE_SIGNALED, i);
	kill(getpid(), SIGSTOP);
	n = rclink_submit(r->near, RECVS, slow(STATE_MS));
	n += rclink_reap(r->near, cqe, RECVS);
	_exit(n != 2 * RECVS);
}

TEST(a_batch_takes_one_system_call_and_to_reap_it_none)
{
	int status, stops = 0;
	struct rig r;
	pid_t pid;

	open_polled(_metadata, &r);
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		submits_and_reaps(&r);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, ptrace(PTRACE_SETOPTIONS, pid, NULL,
			    PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
	while (WIFSTOPPED(status)) {
		stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
		ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
	}
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	/* Into the submit and out of it, and into the exit. */
	EXPECT_EQ(3, stops);
	rig_end(&r);
}

TEST_HARNESS_MAIN
