// SPDX-License-Identifier: GPL-2.0
/*
 * Registered memory counts for RLIMIT_MEMLOCK, page by page, until it is given
 * back in whatever way.
 */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "rig.h"

#define PAGE		4096
#define PAGES		20
#define KIB		(PAGES * PAGE / 1024)
#define TIMES		20
#define BACK_MS		10000	/* until a QP has been leased again */

FIXTURE(channel)
{
	struct rig r;
	int fd;
	uint8_t *memory;
	struct rclink_dev_region region;
};

FIXTURE_VARIANT(channel)
{
	rlim_t limit;		/* bytes */
	uint32_t pages;		/* that may be locked without the capability */
};

FIXTURE_VARIANT_ADD(channel, nothing) {
	.limit = 0, .pages = 0,
};

FIXTURE_VARIANT_ADD(channel, a_byte_less_than_a_page) {
	.limit = PAGE - 1, .pages = 0,
};

FIXTURE_VARIANT_ADD(channel, sixteen_pages) {
	.limit = 16 * PAGE, .pages = 16,
};

FIXTURE_VARIANT_ADD(channel, a_page_less) {
	.limit = (PAGES - 1) * PAGE, .pages = PAGES - 1,
};

FIXTURE_VARIANT_ADD(channel, all_pages) {
	.limit = PAGES * PAGE, .pages = PAGES,
};

static int set_limit(rlim_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return -errno;
	limit.rlim_cur = bytes;
	return setrlimit(RLIMIT_MEMLOCK, &limit) ? -errno : 0;
}

static int drop_capability(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	data[0].effective &= ~(1U << CAP_IPC_LOCK);
	data[0].permitted &= ~(1U << CAP_IPC_LOCK);
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

FIXTURE_SETUP(channel)
{
	ASSERT_EQ(0, rig_begin(&self->r));
	ASSERT_EQ(0, rig_link(&self->r));
	self->fd = rig_device();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rig_connect(self->fd, RCLINK_CONNECT_WAIT));
	self->memory = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->memory);
	ASSERT_EQ(0, rig_pinned());
	ASSERT_EQ(0, set_limit(variant->limit));
}

FIXTURE_TEARDOWN(channel)
{
	close(self->fd);
	rig_end(&self->r);
}

static int hold(struct _test_data_channel *self, size_t offset,
		uint32_t pages)
{
	self->region = (struct rclink_dev_region){
		.addr = (uintptr_t)self->memory + offset,
		.len = (uint64_t)pages * PAGE,
	};
	return rig_region(self->fd, &self->region);
}

static int let_go(struct _test_data_channel *self)
{
	return rig_withdraw(self->fd, self->region.handle);
}

TEST_F(channel, with_the_capability_there_is_no_limit)
{
	ASSERT_EQ(0, hold(self, 0, PAGES));
	EXPECT_EQ(KIB, rig_pinned());
	EXPECT_EQ(0, let_go(self));
	EXPECT_EQ(0, rig_pinned());
}

TEST_F(channel, without_it_the_limit_is_exact)
{
	ASSERT_EQ(0, drop_capability());
	EXPECT_EQ(-EDQUOT, hold(self, 0, variant->pages + 1));
	EXPECT_EQ(0, rig_pinned());
	if (!variant->pages)
		return;
	ASSERT_EQ(0, hold(self, 0, variant->pages));
	EXPECT_EQ(variant->pages * PAGE / 1024, rig_pinned());
	EXPECT_EQ(0, let_go(self));
	EXPECT_EQ(0, rig_pinned());
	/* a page that is registered in part counts whole */
	EXPECT_EQ(-EDQUOT, hold(self, 1, variant->pages));
	EXPECT_EQ(0, rig_pinned());
	/* a page that is registered twice counts twice */
	ASSERT_EQ(0, hold(self, 0, variant->pages));
	EXPECT_EQ(-EDQUOT, rig_region(self->fd, &(struct rclink_dev_region) {
		.addr = (uintptr_t)self->memory, .len = 1,
	}));
	EXPECT_EQ(variant->pages * PAGE / 1024, rig_pinned());
}

TEST_F(channel, close_gives_it_back_at_once)
{
	unsigned int i;

	for (i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, hold(self, 0, PAGES));
		EXPECT_EQ(KIB, rig_pinned());
		close(self->fd);
		EXPECT_EQ(0, rig_pinned());
		/* close the other end, which nobody has accepted */
		rig_close(&self->r);
		self->fd = rig_device();
		ASSERT_LE(0, self->fd);
		ASSERT_EQ(0, rig_connect(self->fd, RCLINK_CONNECT_WAIT));
	}
}

TEST_F(channel, a_link_that_ends_gives_nothing_back_before_close)
{
	ASSERT_EQ(0, hold(self, 0, PAGES));
	ASSERT_EQ(0, rcl_clean(&self->r.s));
	EXPECT_EQ(KIB, rig_pinned());
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(0, rig_pinned());
}

/* The channel is the parent's, too, and ends later. */
TEST_F(channel, a_process_that_is_killed_leaves_nothing)
{
	int status, objects, pipes[2];
	char word;
	pid_t pid;

	ASSERT_EQ(0, hold(self, 0, 1));
	objects = rcl_all_objects();
	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		word = hold(self, 0, PAGES) ? 'x' : rig_pinned() == KIB;
		if (write(pipes[1], &word, 1) == 1)
			pause();
		_exit(1);
	}
	ASSERT_EQ(1, read(pipes[0], &word, 1));
	EXPECT_EQ(1, word);
	EXPECT_EQ(objects + 1, rcl_all_objects());
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(PAGE / 1024, rig_pinned());
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(0, rig_pinned());
	EXPECT_EQ(objects - 1, rig_until_objects(objects - 1, BACK_MS));
}

TEST_HARNESS_MAIN
