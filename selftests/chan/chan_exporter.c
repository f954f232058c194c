// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of dma-bufs whose exporter pins, moves, fails and delays, as those of
 * accelerators do, on a device with DMA of its own. Whatever happens, the
 * exporter gets everything back.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dma.h"
#include "exporter.h"
#include "far.h"
#include "fault.h"
#include "harness.h"
#include "rig.h"
#include "sim.h"

#define PAGE		4096
#define PAGES		8
#define LEN		(PAGES * PAGE)
#define NAME		"exporter"
#define RW		(RCLINK_REGION_WRITE | RCLINK_REGION_READ)
#define GONE_MS		10000
#define LATE_MS		1000
#define SOON_MS		4000	/* the module gives up after 5 s */
#define WAITERS		4
#define STEPS_MAX	1000	/* more than a registration allocates */
#define IN_CALL		2	/* of them in the calling process */
#define SWEEP_S		600

FIXTURE(buf)
{
	struct rig r;
	struct exporter e;
	uint32_t region;
	struct rclink_remote remote;
};

FIXTURE_VARIANT(buf)
{
	uint32_t flags;
};

FIXTURE_VARIANT_ADD(buf, fixed) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(buf, fixed_without_pages) {
	.flags = EXPORTER_PAGELESS,
};

FIXTURE_VARIANT_ADD(buf, moving) {
	.flags = EXPORTER_DYNAMIC,
};

FIXTURE_VARIANT_ADD(buf, moving_without_pages) {
	.flags = EXPORTER_DYNAMIC | EXPORTER_PAGELESS,
};

/* 0 if the exporter counts @n registrations. */
static int is_had(struct exporter *e, uint32_t flags, unsigned int n)
{
	struct exporter_count want = {
		.attached = n, .mapped = n, .alive = 1,
		.pinned = n && flags & EXPORTER_DYNAMIC,
	};

	return exporter_has(e, &want, GONE_MS);
}

static int is_gone(struct exporter *e)
{
	const struct exporter_count none = { 0 };

	exporter_close(e);
	return exporter_has(e, &none, GONE_MS);
}

FIXTURE_SETUP(buf)
{
	ASSERT_EQ(0, dma_begin(&self->r));
	ASSERT_EQ(0, exporter_new(&self->e, LEN, variant->flags, 0, 0));
}

/* Whatever happened, the end of all channels releases the dma-buf. */
FIXTURE_TEARDOWN(buf)
{
	rig_end(&self->r);
	EXPECT_EQ(0, is_gone(&self->e));
	exporter_end(&self->e);
	sim_del_device("sim1");
	sim_del_device("sim0");
}

static int try(struct rig *r, const struct exporter *e, uint64_t len,
	       uint32_t *region)
{
	return rclink_dmabuf(r->far, e->fd, 0, len, NAME, RW, region);
}

/* Export the dma-buf at the far end, and import it at the near end. */
static int offer(struct _test_data_buf *self, uint64_t offset, uint64_t len)
{
	int ret = rclink_dmabuf(self->r.far, self->e.fd, offset, len, NAME, RW,
				&self->region);

	return ret ? ret : rclink_import(self->r.near, NAME, &self->remote);
}

TEST_F(buf, the_peer_writes_and_reads_it)
{
	const size_t at = 2 * PAGE + 24;
	uint8_t *m = self->e.memory;

	memset(m, 0xee, LEN);
	ASSERT_EQ(0, offer(self, 0, LEN));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 1));
	ASSERT_EQ(0, dma_write(&self->r, &self->remote, at, 2));
	EXPECT_TRUE(far_is(m + at, 2, RIG_MOVED));
	EXPECT_TRUE(dma_are(m, 0xee, at));
	EXPECT_TRUE(dma_are(m + at + RIG_MOVED, 0xee, LEN - at - RIG_MOVED));
	far_fill(m + LEN - RIG_MOVED, 3, RIG_MOVED);
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, LEN - RIG_MOVED, 3));
	ASSERT_EQ(0, rclink_withdraw(self->r.far, self->region));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));

	/* And a part of the dma-buf. */
	ASSERT_EQ(0, offer(self, at, RIG_MOVED));
	EXPECT_EQ(RIG_MOVED, self->remote.len);
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, 0, 2));
	EXPECT_EQ(0, dma_write(&self->r, &self->remote, 0, 4));
	EXPECT_TRUE(far_is(m + at, 4, RIG_MOVED));
	EXPECT_TRUE(dma_are(m, 0xee, at));
	EXPECT_EQ(0, rig_moves(&self->r, 5));
}

TEST_F(buf, it_may_be_registered_twice)
{
	uint32_t second;

	ASSERT_EQ(0, offer(self, 0, LEN));
	ASSERT_EQ(0, rclink_dmabuf(self->r.near, self->e.fd, PAGE, LEN - PAGE,
				   NULL, RCLINK_REGION_READ_ONLY, &second));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 2));
	ASSERT_EQ(0, rclink_withdraw(self->r.near, second));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 1));
	EXPECT_EQ(0, dma_write(&self->r, &self->remote, 0, 6));
	EXPECT_TRUE(far_is(self->e.memory, 6, RIG_MOVED));
}

/* An error of the exporter is returned; a mapping of no use is refused. */
TEST_F(buf, one_that_fails_is_refused)
{
	static const struct {
		uint32_t flags;
		int error;
		int ret;
	} cases[] = {
		{ EXPORTER_FAIL_ATTACH, ENODEV, -ENODEV },
		{ EXPORTER_FAIL_PIN, ENOSPC, -ENOSPC },
		{ EXPORTER_FAIL_MAP, ENXIO, -ENXIO },
		{ EXPORTER_FAIL_MAP, EBUSY, -EBUSY },
		{ EXPORTER_SHORT, 0, -EIO },
		{ EXPORTER_RAGGED, 0, -EIO },
	};
	unsigned int i;
	uint32_t region;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].flags == EXPORTER_FAIL_PIN &&
		    !(variant->flags & EXPORTER_DYNAMIC))
			continue;
		ASSERT_EQ(0, exporter_set(&self->e, variant->flags |
					  cases[i].flags, cases[i].error));
		EXPECT_EQ(cases[i].ret, try(&self->r, &self->e, LEN, &region))
			TH_LOG("case %u", i);
		EXPECT_EQ(0, is_had(&self->e, variant->flags, 0))
			TH_LOG("case %u", i);
	}
	/* Only half of the first page is there: the second does not follow. */
	EXPECT_EQ(-EINVAL, try(&self->r, &self->e, PAGE, &region));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
	/* The short mapping is enough for a region without the last page. */
	ASSERT_EQ(0, exporter_set(&self->e, variant->flags | EXPORTER_SHORT,
				  0));
	ASSERT_EQ(0, offer(self, 0, LEN - PAGE));
	EXPECT_EQ(0, dma_write(&self->r, &self->remote,
			       LEN - PAGE - RIG_MOVED, 7));
	EXPECT_TRUE(far_is(self->e.memory + LEN - PAGE - RIG_MOVED, 7,
			   RIG_MOVED));
	EXPECT_EQ(0, rig_moves(&self->r, 8));
}

/*
 * Make it happen, wherever: only then is the number of allocations known.
 * Return: whether it did; a registration may fail for nothing else.
 */
static bool let_it_fail(struct rig *r, const struct exporter *e,
			struct fault *f)
{
	uint32_t region;
	int ret = 0;

	while (fault_pending(f) && (!ret || ret == -ENOMEM)) {
		ret = rclink_dmabuf(r->far, e->fd, 0, LEN, NULL, 0, &region);
		if (!ret)
			ret = rclink_withdraw(r->far, region);
	}
	fault_disarm(f);
	return !ret || ret == -ENOMEM;
}

/* Return: whether there was a k-th allocation to fail. */
static bool fails_at(struct __test_metadata *_metadata,
		     struct _test_data_buf *self, uint32_t flags,
		     struct fault *f, unsigned int k, int *failed)
{
	uint32_t region;
	bool happened;
	int ret;

	fault_arm(f, k);
	ret = try(&self->r, &self->e, LEN, &region);
	happened = !fault_pending(f);
	EXPECT_TRUE(let_it_fail(&self->r, &self->e, f));
	*failed += ret != 0;
	EXPECT_TRUE(!ret || (happened && ret == -ENOMEM))
		TH_LOG("allocation %u: %d", k, ret);
	EXPECT_EQ(0, is_had(&self->e, flags, !ret))
		TH_LOG("allocation %u, which gave %d", k, ret);
	if (!ret)
		EXPECT_EQ(0, rclink_withdraw(self->r.far, region));
	EXPECT_EQ(0, is_had(&self->e, flags, 0))
		TH_LOG("allocation %u, which gave %d: undone", k, ret);
	return happened;
}

/*
 * Most of them are made by a thread of the module, on behalf of the caller. The
 * debugging of the DMA API gives up, and says so, if its own fail.
 */
TEST_F_TIMEOUT(buf, each_allocation_below_it_may_fail, SWEEP_S)
{
	struct fault f;
	int failed = 0;
	unsigned int k;

	if (!fault_there())
		SKIP(return, "the kernel has no failslab");
	ASSERT_EQ(0, fault_init_but(&f, "failslab", "add_dma_entry"));
	for (k = 1; k < STEPS_MAX; k++)
		if (!fails_at(_metadata, self, variant->flags, &f, k, &failed))
			break;
	EXPECT_GT(STEPS_MAX, k);
	TH_LOG("%u allocations, %d of them needed", k - 1, failed);
	EXPECT_LT(IN_CALL, failed);
	EXPECT_EQ(0, rig_moves(&self->r, 9));
}

/* A pinned dma-buf cannot be moved; after a withdrawal it can. */
TEST_F(buf, it_moves_when_nobody_has_it)
{
	if (!(variant->flags & EXPORTER_DYNAMIC)) {
		EXPECT_EQ(-EINVAL, exporter_move(&self->e));
		return;
	}
	ASSERT_EQ(0, offer(self, 0, LEN));
	ASSERT_EQ(0, dma_write(&self->r, &self->remote, 1, 9));
	EXPECT_EQ(-EBUSY, exporter_move(&self->e));
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, 1, 9));
	ASSERT_EQ(0, rclink_withdraw(self->r.far, self->region));
	ASSERT_EQ(0, exporter_move(&self->e));
	ASSERT_EQ(0, exporter_look(&self->e));
	ASSERT_EQ(0, offer(self, 0, LEN));
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, 1, 9));
	EXPECT_EQ(0, dma_write(&self->r, &self->remote, 2, 10));
	EXPECT_TRUE(far_is(self->e.memory + 2, 10, RIG_MOVED));
}

static void loses_epoch(struct __test_metadata *_metadata,
			struct _test_data_buf *self)
{
	struct rig *r = &self->r;

	ASSERT_EQ(0, sim_knob("sim0", "up", "0"));
	ASSERT_EQ(0, rcl_until(&r->s, RIG_NEAR, RCLINK_LINK_STATE_DOWN,
			       GONE_MS));
	ASSERT_EQ(0, rcl_until(&r->s, RIG_FAR, RCLINK_LINK_STATE_DOWN,
			       GONE_MS));
	ASSERT_EQ(0, sim_knob("sim0", "up", "1"));
}

TEST_F(buf, it_goes_on_elsewhere_in_the_next_epoch_and_on_another_device)
{
	ASSERT_EQ(0, offer(self, 24, LEN - 24));
	ASSERT_EQ(0, dma_write(&self->r, &self->remote, 0, 11));
	loses_epoch(_metadata, self);
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
	if (variant->flags & EXPORTER_DYNAMIC)
		EXPECT_EQ(0, exporter_move(&self->e));
	ASSERT_EQ(0, exporter_look(&self->e));
	ASSERT_EQ(0, dma_pair(&self->r));
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, 0, 11));
	EXPECT_EQ(0, dma_write(&self->r, &self->remote, 1, 12));
	EXPECT_TRUE(far_is(self->e.memory + 25, 12, RIG_MOVED));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 1));

	ASSERT_EQ(0, sim_del_device("sim0"));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
	ASSERT_EQ(0, sim_new_device("sim1 ib 2 dma=1"));
	ASSERT_EQ(0, dma_pair(&self->r));
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, 1, 12));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 1));
}

/* The channel cannot map its memory again, so it ends. */
TEST_F(buf, a_channel_ends_for_which_it_fails_in_the_next_epoch)
{
	ASSERT_EQ(0, offer(self, 0, LEN));
	loses_epoch(_metadata, self);
	ASSERT_EQ(0, exporter_set(&self->e, variant->flags | EXPORTER_FAIL_MAP,
				  ENOMEM));
	ASSERT_EQ(0, dma_pair(&self->r));
	EXPECT_EQ(-ECONNRESET, dma_write(&self->r, &self->remote, 0, 13));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
	EXPECT_EQ(0, rclink_withdraw(self->r.far, self->region));
	rig_close(&self->r);
	ASSERT_EQ(0, rig_open(&self->r));
	EXPECT_EQ(0, rig_moves(&self->r, 14));
}

/* The child registers over a channel of its own, and waits to be killed. */
static void register_and_wait(const struct exporter *e, int said)
{
	struct rclink_dev_dmabuf arg = {
		.name = NAME, .len = LEN, .rights = RW, .fd = e->fd,
	};
	int fd = rig_device();
	char done = fd >= 0 && !rig_connect(fd, RCLINK_CONNECT_WAIT) &&
		    !ioctl(fd, RCLINK_IOC_DMABUF, &arg);

	if (write(said, &done, 1) == 1)
		pause();
	_exit(1);
}

TEST_F(buf, its_process_is_killed)
{
	char done = 0;
	int said[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(said));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		register_and_wait(&self->e, said[1]);
	EXPECT_EQ(1, read(said[0], &done, 1));
	EXPECT_EQ(1, done);
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 1));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
	EXPECT_EQ(0, rig_moves(&self->r, 15));
	close(said[0]);
	close(said[1]);
}

TEST_F(buf, its_link_is_deleted)
{
	ASSERT_EQ(0, offer(self, 0, LEN));
	ASSERT_EQ(0, rcl_del(&self->r.s, RIG_FAR));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
	EXPECT_EQ(0, rclink_withdraw(self->r.far, self->region));
}

/* Registrations that wait for a fence of the exporter. */
FIXTURE(fence)
{
	struct rig r;
	struct exporter e;
};

FIXTURE_VARIANT(fence)
{
	uint32_t flags;
};

FIXTURE_VARIANT_ADD(fence, fixed) {
	.flags = 0,
};

FIXTURE_VARIANT_ADD(fence, moving) {
	.flags = EXPORTER_DYNAMIC,
};

FIXTURE_SETUP(fence)
{
	ASSERT_EQ(0, dma_begin(&self->r));
}

FIXTURE_TEARDOWN(fence)
{
	EXPECT_EQ(0, rig_moves(&self->r, 20));
	rig_end(&self->r);
	EXPECT_EQ(0, is_gone(&self->e));
	exporter_end(&self->e);
	sim_del_device("sim0");
}

static long ms_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin->tv_sec) * 1000 +
	       (now.tv_nsec - begin->tv_nsec) / 1000000;
}

TEST_F(fence, what_comes_late_is_waited_for)
{
	struct timespec begin;
	uint32_t region;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	ASSERT_EQ(0, exporter_new(&self->e, LEN, variant->flags |
				  EXPORTER_FENCE, 0, LATE_MS));
	EXPECT_EQ(0, try(&self->r, &self->e, LEN, &region));
	EXPECT_LE(LATE_MS - 10, ms_since(&begin));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 1));
}

TEST_F(fence, what_never_comes_is_given_up)
{
	uint32_t region;

	ASSERT_EQ(0, exporter_new(&self->e, LEN, variant->flags |
				  EXPORTER_FENCE, 0, 0));
	EXPECT_EQ(-ETIMEDOUT, try(&self->r, &self->e, LEN, &region));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
}

/* The fence signals an error: the memory never got its content. */
TEST_F(fence, what_could_not_come_is_refused)
{
	uint32_t region;

	ASSERT_EQ(0, exporter_new(&self->e, LEN, variant->flags |
				  EXPORTER_FENCE, EDEADLK, 300));
	EXPECT_EQ(-EIO, try(&self->r, &self->e, LEN, &region));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
	/* A second attempt is refused, too. */
	EXPECT_EQ(-EIO, try(&self->r, &self->e, LEN, &region));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
}

/* Writers must agree with the peer; the module does not wait for them. */
TEST_F(fence, what_others_write_is_not_waited_for)
{
	uint32_t region;

	ASSERT_EQ(0, exporter_new(&self->e, LEN, variant->flags |
				  EXPORTER_FENCE_USER, 0, 0));
	EXPECT_EQ(0, try(&self->r, &self->e, LEN, &region));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 1));
}

static void is_refused(struct __test_metadata *_metadata, pid_t pid)
{
	int status = -1;

	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Waiters delay neither the exporter nor the deletion of a link. */
TEST_F(fence, its_link_is_deleted_meanwhile)
{
	struct rig *r = &self->r;
	struct timespec begin;
	pid_t pid[WAITERS];
	uint32_t region;
	int i;

	ASSERT_EQ(0, exporter_new(&self->e, LEN, variant->flags |
				  EXPORTER_FENCE, 0, 0));
	for (i = 0; i < WAITERS; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i])
			_exit(!try(r, &self->e, LEN, &region));
	}
	usleep(500000);
	if (variant->flags & EXPORTER_DYNAMIC)
		EXPECT_EQ(0, exporter_pinned(&self->e, GONE_MS));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (variant->flags & EXPORTER_DYNAMIC)
		EXPECT_EQ(-EBUSY, exporter_move(&self->e));
	EXPECT_GT(SOON_MS, ms_since(&begin));
	EXPECT_EQ(0, rcl_del(&r->s, RIG_FAR));
	EXPECT_GT(SOON_MS, ms_since(&begin));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
	for (i = 0; i < WAITERS; i++)
		is_refused(_metadata, pid[i]);
	rig_close(r);
	ASSERT_EQ(0, rig_link(r));
	ASSERT_EQ(0, rig_open(r));
}

static void hear(int sig)
{
}

/* A signal in 200 ms, or every 200 ms, to a handler with these flags. */
static int signal_soon(int flags, bool again)
{
	const struct itimerval soon = {
		.it_value.tv_usec = 200000,
		.it_interval.tv_usec = again ? 200000 : 0,
	};
	const struct sigaction action = {
		.sa_handler = hear,
		.sa_flags = flags,
	};

	return sigaction(SIGALRM, &action, NULL) ?:
	       setitimer(ITIMER_REAL, &soon, NULL);
}

TEST_F(fence, a_signal_ends_the_wait)
{
	const struct itimerval never = { 0 };
	uint32_t region;

	ASSERT_EQ(0, exporter_new(&self->e, LEN, variant->flags |
				  EXPORTER_FENCE, 0, 0));
	/* The first signal may come before the call waits. */
	ASSERT_EQ(0, signal_soon(0, true));
	EXPECT_EQ(-EINTR, try(&self->r, &self->e, LEN, &region));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 0));
}

TEST_F(fence, one_that_restarts_does_not)
{
	uint32_t region;

	ASSERT_EQ(0, exporter_new(&self->e, LEN, variant->flags |
				  EXPORTER_FENCE, 0, LATE_MS));
	ASSERT_EQ(0, signal_soon(SA_RESTART, false));
	EXPECT_EQ(0, try(&self->r, &self->e, LEN, &region));
	EXPECT_EQ(0, is_had(&self->e, variant->flags, 1));
}

TEST_HARNESS_MAIN
