// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that is mapped anew while it is registered and written to: by another
 * thread at the same time, by fork() and by exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "rig.h"

#define PAGE		4096
#define PAGES		8
#define LEN		(PAGES * PAGE)
#define TIMEOUT_S	120
#define ROUNDS		200
#define LIMIT_S		10	/* for ROUNDS; then ENOUGH will do */
#define ENOUGH		20	/* rounds that moved data, or changes */
#define FILES		256	/* more than any open descriptor */
#define END_MS		5000
#define MARK		0xa5	/* byte that is written */

FIXTURE(channel)
{
	struct rig r;
	uint32_t region;
	struct rclink_remote remote;
	/* For the test with a second thread. */
	uint8_t *m;
	bool over;
	unsigned int changes;
	unsigned int stray;	/* times that fresh pages were written to */
};

FIXTURE_SETUP(channel)
{
	ASSERT_EQ(0, rig_begin(&self->r));
	ASSERT_EQ(0, rig_link(&self->r));
	ASSERT_EQ(0, rig_open(&self->r));
}

FIXTURE_TEARDOWN(channel)
{
	rig_end(&self->r);
}

static bool are(const uint8_t *m, uint8_t byte, size_t len)
{
	return m[0] == byte && !memcmp(m, m + 1, len - 1);
}

/* Writes RIG_MOVED times @byte to the imported region. */
static int write_there(struct _test_data_channel *self, uint8_t byte,
		       uint64_t at)
{
	struct rclink_data data;
	int ret;

	memset(self->r.near_memory, byte, RIG_MOVED);
	data = rclink_piece(self->r.near_region, 0, RIG_MOVED);
	ret = rclink_write(self->r.near, data, &self->remote, at,
			   RCLINK_SQE_SIGNALED, 0);
	return ret ? ret : rig_completes(self->r.near);
}

/* Changes the mapping at @m in one of six ways; its pages may be freed. */
static void change(struct _test_data_channel *self, unsigned int how, int fd)
{
	const int prot = PROT_READ | PROT_WRITE;
	const int fixed = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;
	uint8_t *m = self->m, *moved;

	switch (how) {
	case 0:
		munmap(m, LEN);
		mmap(m, LEN, prot, fixed, -1, 0);
		break;
	case 1:
		moved = mremap(m, LEN, LEN, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
		if (moved != MAP_FAILED)
			munmap(moved, LEN);
		break;
	case 2:
		mprotect(m, LEN, PROT_NONE);
		mprotect(m, LEN, PROT_READ);
		mprotect(m, LEN, prot);
		break;
	case 3:
		madvise(m, LEN, MADV_DONTNEED);
		break;
	case 4:
		mmap(m, LEN, prot, MAP_FIXED | MAP_SHARED, fd, 0);
		if (!ftruncate(fd, 0))
			ftruncate(fd, LEN);
		break;
	default:
		munmap(m + PAGE, PAGE);
		mmap(m, LEN, prot, fixed, -1, 0);
	}
}

/* Fresh pages, maybe just freed by change(), must be zero and stay as set. */
static bool are_fresh(void)
{
	uint8_t *m = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	bool ok;

	if (m == MAP_FAILED)
		return true;
	sched_yield();
	ok = are(m, 0, LEN);
	memset(m, 1, LEN);
	sched_yield();
	ok = ok && are(m, 1, LEN);
	munmap(m, LEN);
	return ok;
}

static void *changes(void *arg)
{
	struct _test_data_channel *self = arg;
	int fd = memfd_create("race", MFD_CLOEXEC);
	unsigned int how;

	ftruncate(fd, LEN);
	while (!__atomic_load_n(&self->over, __ATOMIC_RELAXED)) {
		how = self->changes++ % 6;
		change(self, how, fd);
		self->stray += !are_fresh();
	}
	close(fd);
	return NULL;
}

/* A write reaches the pages that were registered, or registering failed. */
TEST_F_TIMEOUT(channel, memory_that_changes_all_the_time, TIMEOUT_S)
{
	time_t end = time(NULL) + slow(LIMIT_S);
	long pinned = rig_pinned();
	unsigned int i, moved = 0;
	pthread_t thread;
	int ret;

	self->m = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->m);
	ASSERT_EQ(0, pthread_create(&thread, NULL, changes, self));
	for (i = 0; moved < ROUNDS && (time(NULL) < end || moved < ENOUGH);
	     i++) {
		ret = rig_offer(&self->r, self->m, LEN, &self->region,
				&self->remote);
		if (ret) {
			EXPECT_EQ(-EFAULT, ret);
			sched_yield();
			continue;
		}
		EXPECT_EQ(0, write_there(self, MARK, random() % PAGE));
		EXPECT_EQ(0, write_there(self, MARK, LEN - RIG_MOVED));
		EXPECT_EQ(0, rig_take_back(&self->r, self->region,
					   &self->remote));
		moved++;
	}
	__atomic_store_n(&self->over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	TH_LOG("%u rounds, %u moved data, %u changes", i, moved, self->changes);
	EXPECT_LE(ENOUGH, moved);
	EXPECT_LE(ENOUGH, self->changes);
	EXPECT_EQ(0, self->stray);
	EXPECT_EQ(pinned, rig_pinned());
	EXPECT_EQ(0, rig_moves(&self->r, 1));
	munmap(self->m, LEN);
}

/* It sends a byte after each step, and waits for one before the next. */
struct child {
	pid_t pid;
	int sock;
};

static bool meets(int sock)
{
	char c = 0;

	return write(sock, &c, 1) == 1 && read(sock, &c, 1) == 1;
}

static bool child_exits(struct child *child)
{
	int status;

	return meets(child->sock) && waitpid(child->pid, &status, 0) > 0 &&
	       WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The child has nothing pinned, and a copy of the memory that is its own. */
static void child_runs(int sock, uint8_t *m)
{
	if (rig_pinned() || !are(m, 1, LEN))
		_exit(1);
	memset(m, 2, LEN);
	if (!meets(sock))
		_exit(2);
	_exit(!are(m, 2, LEN));
}

static struct child bear(uint8_t *m)
{
	struct child child;
	int pair[2];

	socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	child.pid = fork();
	if (!child.pid)
		child_runs(pair[1], m);
	close(pair[1]);
	child.sock = pair[0];
	return child;
}

TEST_F(channel, what_the_parent_unmaps_is_not_the_child_s)
{
	long pinned = rig_pinned();
	struct child child;
	uint8_t *m;

	m = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	ASSERT_NE(MAP_FAILED, m);
	memset(m, 1, LEN);
	ASSERT_EQ(0, rig_offer(&self->r, m, LEN, &self->region,
			       &self->remote));
	EXPECT_EQ(pinned + LEN / 1024, rig_pinned());
	child = bear(m);
	EXPECT_EQ(0, write_there(self, MARK, 0));
	EXPECT_TRUE(are(m, MARK, RIG_MOVED));
	ASSERT_EQ(0, munmap(m, LEN));
	EXPECT_EQ(pinned + LEN / 1024, rig_pinned());
	EXPECT_EQ(0, write_there(self, MARK, LEN - RIG_MOVED));
	EXPECT_TRUE(child_exits(&child));
	/* Writing works even when no process has the memory mapped. */
	EXPECT_EQ(0, write_there(self, MARK, 0));
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	EXPECT_EQ(pinned, rig_pinned());
}

/* After MADV_DONTFORK, the child has nothing mapped there. */
TEST_F(channel, what_a_child_does_not_get_stays_with_the_parent)
{
	unsigned char there[PAGES];
	uint8_t *m;
	int status;
	pid_t pid;

	m = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, madvise(m, LEN, MADV_DONTFORK));
	ASSERT_EQ(0, rig_offer(&self->r, m, LEN, &self->region,
			       &self->remote));
	pid = fork();
	if (!pid)
		_exit(mincore(m, LEN, there) != -1 || errno != ENOMEM);
	EXPECT_EQ(0, write_there(self, MARK, 0));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, write_there(self, MARK, LEN - RIG_MOVED));
	EXPECT_TRUE(are(m, MARK, RIG_MOVED));
	EXPECT_TRUE(are(m + LEN - RIG_MOVED, MARK, RIG_MOVED));
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	munmap(m, LEN);
}

/* Registers memory, then becomes cat, which runs until its stdin is closed. */
static void child_executes(struct rclink_chan *far, int in, int out)
{
	uint8_t *m = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t region;

	if (m == MAP_FAILED ||
	    rclink_region(far, m, LEN, RIG_OFFERED, RCLINK_REGION_WRITE |
			  RCLINK_REGION_READ, &region) ||
	    write(out, &region, sizeof(region)) != sizeof(region) ||
	    dup2(in, STDIN_FILENO) < 0)
		_exit(1);
	execlp("cat", "cat", NULL);
	_exit(2);
}

/* The peer and the device still reach its old pages, and no others. */
TEST_F(channel, what_a_process_registered_stays_when_it_executes_another)
{
	struct pollfd over = { .events = POLLIN };
	struct rig *r = &self->r;
	int in[2], out[2], status, i;
	pid_t pid;

	ASSERT_EQ(0, pipe2(in, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(out, O_CLOEXEC));
	pid = fork();
	if (!pid)
		child_executes(r->far, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	ASSERT_EQ(sizeof(self->region),
		  read(out[0], &self->region, sizeof(self->region)));
	ASSERT_EQ(0, rclink_import(r->near, RIG_OFFERED, &self->remote));
	/* The other end is closed when the child becomes cat. */
	over.fd = out[0];
	do {
		ASSERT_EQ(0, write_there(self, MARK, 0));
	} while (!poll(&over, 1, 0));
	for (i = 0; i < ENOUGH; i++) {
		ASSERT_EQ(0, write_there(self, MARK, LEN - RIG_MOVED));
		EXPECT_TRUE(are_fresh());
	}
	far_fill(r->near_memory, 5, RIG_MOVED);
	ASSERT_EQ(0, rclink_write(r->near, rclink_piece(r->near_region, 0,
							RIG_MOVED),
				  &self->remote, 0, RCLINK_SQE_SIGNALED, 0));
	EXPECT_EQ(0, rig_completes(r->near));
	EXPECT_EQ(0, rig_reads(r, &self->remote, 5));
	close(in[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, write_there(self, MARK, 0));
	EXPECT_EQ(0, rig_take_back(r, self->region, &self->remote));
	close(out[0]);
}

static int module_users(void)
{
	FILE *in = fopen("/sys/module/rclink/refcnt", "r");
	int n = -1;

	if (in && fscanf(in, "%d", &n) != 1)
		n = -1;
	if (in)
		fclose(in);
	return n;
}

/* The child closes all files, and only has the mapped rings. */
static void child_closes(int sock, struct rclink_chan *near)
{
	struct rclink_dev_cqe cqe;
	int fd;

	for (fd = STDERR_FILENO + 1; fd < FILES; fd++)
		if (fd != sock)
			close(fd);
	_exit(!meets(sock) || rclink_reap(near, &cqe, 1) < 0);
}

TEST_F(channel, a_child_without_files_keeps_none_open)
{
	struct rig *r = &self->r;
	int pair[2], status;
	char c = 0;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	if (!pid)
		child_closes(pair[1], r->near);
	ASSERT_EQ(1, read(pair[0], &c, 1));
	rclink_close(r->near);
	r->near = NULL;
	EXPECT_EQ(-ECONNRESET, rclink_submit(r->far, 1, slow(END_MS)));
	/* The child's mapped rings keep the module in use. */
	rig_close(r);
	close(r->listener);
	r->listener = -1;
	EXPECT_LT(0, module_users());
	EXPECT_EQ(1, write(pair[0], &c, 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, module_users());
	close(pair[0]);
	close(pair[1]);
}

TEST_HARNESS_MAIN
