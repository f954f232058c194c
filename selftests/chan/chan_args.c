// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments that the calls of /dev/rclink refuse, and indexes of the ring that
 * SUBMIT does. After each refusal the same call with a right argument works, on
 * the same file.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness.h"
#include "raw_rig.h"

#define PAGE		4096
#define NUM(a)		(sizeof(a) / sizeof((a)[0]))
#define DONE_MS		20000
#define SERVICE		"args"
#define REGION		"args"

FIXTURE(args)
{
	struct raw raw;
	int fd;			/* of a file that is nothing yet */
};

FIXTURE_SETUP(args)
{
	ASSERT_EQ(0, raw_begin(&self->raw, false));
	self->fd = rig_device();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(args)
{
	close(self->fd);
	EXPECT_EQ(0, rig_moves(&self->raw.r, 99));
	raw_end(&self->raw);
}

static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

/*
 * @arg, which is right, with each wrong name: empty, or without an end. A name
 * is the first thing in each argument that has one, but for a service.
 */
static void names(struct __test_metadata *_metadata, int fd,
		  unsigned long request, const void *arg, size_t size,
		  size_t at, bool may_be_empty)
{
	uint8_t bad[128];

	ASSERT_GE(sizeof(bad), size);
	memcpy(bad, arg, size);
	memset(bad + at, 'x', RCLINK_DEV_LINK_LEN);
	EXPECT_EQ(-EINVAL, call(fd, request, bad)) TH_LOG("no end, %zu", at);
	if (may_be_empty)
		return;
	memset(bad + at, 0, RCLINK_DEV_LINK_LEN);
	EXPECT_EQ(-EINVAL, call(fd, request, bad)) TH_LOG("empty, %zu", at);
}

/* @arg with each bit that the 32 bits at @at may not have. */
static void bits(struct __test_metadata *_metadata, int fd,
		 unsigned long request, const void *arg, size_t size,
		 size_t at, uint32_t may)
{
	uint8_t bad[128];
	uint32_t word;
	int i;

	ASSERT_GE(sizeof(bad), size);
	for (i = 0; i < 32; i++) {
		if (may & 1U << i)
			continue;
		memcpy(bad, arg, size);
		memcpy(&word, bad + at, sizeof(word));
		word |= 1U << i;
		memcpy(bad + at, &word, sizeof(word));
		EXPECT_EQ(-EINVAL, call(fd, request, bad))
			TH_LOG("bit %d at %zu", i, at);
	}
}

#define NAMES(fd, request, arg, field, may_be_empty) \
	names(_metadata, fd, request, &(arg), sizeof(arg), \
	      offsetof(typeof(arg), field), may_be_empty)
#define BITS(fd, request, arg, field, may) \
	bits(_metadata, fd, request, &(arg), sizeof(arg), \
	     offsetof(typeof(arg), field), may)

TEST_F(args, connect)
{
	struct rclink_dev_service arg = {
		.link = RIG_NEAR, .service = RIG_SERVICE,
		.flags = RCLINK_CONNECT_WAIT,
	};
	int objects = rcl_all_objects();
	int far;

	NAMES(self->fd, RCLINK_IOC_CONNECT, arg, link, false);
	NAMES(self->fd, RCLINK_IOC_CONNECT, arg, service, false);
	BITS(self->fd, RCLINK_IOC_CONNECT, arg, flags,
	     RCLINK_CONNECT_WAIT | RCLINK_CHAN_FLAGS);
	BITS(self->fd, RCLINK_IOC_CONNECT, arg, backlog, 0);
	EXPECT_EQ(-EFAULT, call(self->fd, RCLINK_IOC_CONNECT, NULL));
	EXPECT_EQ(objects, rcl_all_objects());
	EXPECT_EQ(-EAGAIN, rig_accept(&self->raw.r));
	ASSERT_EQ(0, call(self->fd, RCLINK_IOC_CONNECT, &arg));
	far = rig_accept(&self->raw.r);
	ASSERT_LE(0, far);
	close(far);
}

TEST_F(args, listen)
{
	struct rclink_dev_service to = {
		.link = RIG_NEAR, .service = SERVICE,
		.flags = RCLINK_CONNECT_WAIT,
	};
	struct rclink_dev_service arg = {
		.link = RIG_FAR, .service = SERVICE,
		.backlog = RCLINK_DEV_BACKLOG_MAX,
	};
	const uint32_t backlogs[] = {
		0, RCLINK_DEV_BACKLOG_MAX + 1, UINT32_MAX,
	};
	int near = rig_device();
	unsigned int i;
	int far;

	NAMES(self->fd, RCLINK_IOC_LISTEN, arg, link, false);
	NAMES(self->fd, RCLINK_IOC_LISTEN, arg, service, false);
	BITS(self->fd, RCLINK_IOC_LISTEN, arg, flags, RCLINK_CHAN_FLAGS);
	for (i = 0; i < NUM(backlogs); i++) {
		struct rclink_dev_service bad = arg;

		bad.backlog = backlogs[i];
		EXPECT_EQ(-EINVAL, call(self->fd, RCLINK_IOC_LISTEN, &bad))
			TH_LOG("%u", bad.backlog);
	}
	EXPECT_EQ(-EFAULT, call(self->fd, RCLINK_IOC_LISTEN, NULL));
	/* Nobody listens there. */
	EXPECT_EQ(-ECONNREFUSED, call(near, RCLINK_IOC_CONNECT, &to));
	ASSERT_EQ(0, call(self->fd, RCLINK_IOC_LISTEN, &arg));
	EXPECT_EQ(0, call(near, RCLINK_IOC_CONNECT, &to));
	far = ioctl(self->fd, RCLINK_IOC_ACCEPT);
	EXPECT_LE(0, far);
	close(far);
	close(near);
}

/* A right one finds no group, so the file can still become something else. */
TEST_F(args, join)
{
	struct rclink_dev_group arg = { .group = "none", .service = SERVICE };
	int far;

	NAMES(self->fd, RCLINK_IOC_JOIN, arg, group, false);
	NAMES(self->fd, RCLINK_IOC_JOIN, arg, service, false);
	BITS(self->fd, RCLINK_IOC_JOIN, arg, flags, 0);
	BITS(self->fd, RCLINK_IOC_JOIN, arg, pad, 0);
	EXPECT_EQ(-EFAULT, call(self->fd, RCLINK_IOC_JOIN, NULL));
	EXPECT_EQ(-ENODEV, call(self->fd, RCLINK_IOC_JOIN, &arg));
	ASSERT_EQ(0, rig_connect(self->fd, RCLINK_CONNECT_WAIT));
	far = rig_accept(&self->raw.r);
	EXPECT_LE(0, far);
	close(far);
}

static void memory_is_refused(struct __test_metadata *_metadata, int fd,
			      unsigned long request,
			      const struct rclink_dev_region *arg)
{
	uint32_t peers = RCLINK_REGION_RIGHTS;
	struct rclink_dev_region bad;

	NAMES(fd, request, *arg, name, true);
	/* Rights that do not exist, and those of memory that is read-only. */
	BITS(fd, request, *arg, rights, peers | RCLINK_REGION_READ_ONLY);
	bad = *arg;
	bad.rights = RCLINK_REGION_READ_ONLY;
	BITS(fd, request, bad, rights, RCLINK_REGION_READ_ONLY |
	     RCLINK_REGION_READ);
	bad.rights = RCLINK_REGION_INVALIDATE;
	EXPECT_EQ(-EINVAL, call(fd, request, &bad));
	bad.rights = 0;
	EXPECT_EQ(-EINVAL, call(fd, request, &bad));
	bad = *arg;
	bad.name[0] = 0;
	EXPECT_EQ(-EINVAL, call(fd, request, &bad));
	bad = *arg;
	bad.len = 0;
	EXPECT_EQ(-EINVAL, call(fd, request, &bad));
	EXPECT_EQ(-EFAULT, call(fd, request, NULL));
}

TEST_F(args, region)
{
	struct rclink_dev_region bad, arg = {
		.name = REGION, .rights = RCLINK_REGION_WRITE, .len = PAGE,
		.addr = (uintptr_t)self->raw.r.near_memory,
	};
	int objects = rcl_all_objects(), fd = self->raw.fd;
	long pinned = rig_pinned();

	memory_is_refused(_metadata, fd, RCLINK_IOC_REGION, &arg);
	bad = arg;
	bad.len = UINT64_MAX - bad.addr + 1;
	EXPECT_EQ(-EINVAL, rig_region(fd, &bad));
	bad.len = UINT64_MAX;
	EXPECT_EQ(-EINVAL, rig_region(fd, &bad));
	bad.len = UINT64_MAX - bad.addr;
	EXPECT_EQ(-EMSGSIZE, rig_region(fd, &bad));
	EXPECT_EQ(pinned, rig_pinned());
	EXPECT_EQ(objects, rcl_all_objects());
	ASSERT_EQ(0, rig_region(fd, &arg));
	EXPECT_EQ(-ESTALE, rig_withdraw(fd, ~arg.handle));
	EXPECT_EQ(-ESTALE, rig_withdraw(fd, self->raw.handle[OF_FAR]));
	EXPECT_EQ(-EFAULT, call(fd, RCLINK_IOC_WITHDRAW, NULL));
	EXPECT_EQ(0, rig_withdraw(fd, arg.handle));
	EXPECT_EQ(pinned, rig_pinned());
}

TEST_F(args, memory)
{
	struct rclink_dev_region bad, arg = {
		.name = REGION, .rights = RCLINK_REGION_WRITE, .len = PAGE,
	};
	int objects = rcl_all_objects(), fd = self->raw.fd;
	long pinned = rig_pinned();

	memory_is_refused(_metadata, fd, RCLINK_IOC_MEMORY, &arg);
	bad = arg;
	bad.addr = PAGE;
	EXPECT_EQ(-EINVAL, rig_memory(fd, &bad));
	bad = arg;
	bad.len = PAGE + 1;
	EXPECT_EQ(-EINVAL, rig_memory(fd, &bad));
	bad.len = PAGE - 1;
	EXPECT_EQ(-EINVAL, rig_memory(fd, &bad));
	bad.len = -(uint64_t)PAGE;
	EXPECT_EQ(-EMSGSIZE, rig_memory(fd, &bad));
	EXPECT_EQ(pinned, rig_pinned());
	EXPECT_EQ(objects, rcl_all_objects());
	ASSERT_EQ(0, rig_memory(fd, &arg));
	EXPECT_EQ(0, rig_withdraw(fd, arg.handle));
	EXPECT_EQ(pinned, rig_pinned());
}

TEST_F(args, import)
{
	struct rclink_dev_region bad, arg = { .name = RIG_REGION };
	int fd = self->raw.fd;

	NAMES(fd, RCLINK_IOC_IMPORT, arg, name, false);
	BITS(fd, RCLINK_IOC_IMPORT, arg, rights, 0);
	bad = arg;
	bad.addr = 1;
	EXPECT_EQ(-EINVAL, call(fd, RCLINK_IOC_IMPORT, &bad));
	bad = arg;
	bad.len = RIG_MEMORY;
	EXPECT_EQ(-EINVAL, call(fd, RCLINK_IOC_IMPORT, &bad));
	EXPECT_EQ(-EFAULT, call(fd, RCLINK_IOC_IMPORT, NULL));
	ASSERT_EQ(0, call(fd, RCLINK_IOC_IMPORT, &arg));
	EXPECT_EQ(RIG_MEMORY, arg.len);
	EXPECT_EQ(RCLINK_REGION_WRITE | RCLINK_REGION_READ, arg.rights);
	EXPECT_EQ(-EFAULT, call(fd, RCLINK_IOC_RELEASE, NULL));
	EXPECT_EQ(0, call(fd, RCLINK_IOC_RELEASE, &arg.handle));
	EXPECT_EQ(-ESTALE, call(fd, RCLINK_IOC_RELEASE, &arg.handle));
}

/* An entry that is in the ring meanwhile stays there. */
TEST_F(args, submit)
{
	struct rclink_dev_submit bad, arg = { .count = 1, .timeout_ms = 1 };
	struct raw *raw = &self->raw;
	struct rclink_dev_sqe sqe;
	uint32_t taken, at;
	uint64_t before;

	raw_fill(raw, 1);
	sqe = raw_right(raw, RCLINK_OP_WRITE);
	raw_put(raw, &sqe);
	at = raw_head(raw);
	before = raw_moved(raw);
	BITS(raw->fd, RCLINK_IOC_SUBMIT, arg, pad, 0);
	bad = arg;
	bad.wait = RCLINK_DEV_CQ_DEPTH + 1;
	EXPECT_EQ(-EINVAL, call(raw->fd, RCLINK_IOC_SUBMIT, &bad));
	bad.wait = UINT32_MAX;
	EXPECT_EQ(-EINVAL, call(raw->fd, RCLINK_IOC_SUBMIT, &bad));
	EXPECT_EQ(-EFAULT, call(raw->fd, RCLINK_IOC_SUBMIT, NULL));
	EXPECT_EQ(0, raw_submit(raw, 0, &taken));
	EXPECT_EQ(0, taken);
	EXPECT_EQ(at, raw_head(raw));
	EXPECT_EQ(before, raw_moved(raw));
	EXPECT_EQ(0, raw_submit(raw, UINT32_MAX, &taken));
	EXPECT_EQ(1, taken);
	EXPECT_EQ(0, raw_completes(raw));
	/* It waits for as many as the ring has, and not for ever. */
	arg.wait = RCLINK_DEV_CQ_DEPTH;
	EXPECT_EQ(-ETIME, call(raw->fd, RCLINK_IOC_SUBMIT, &arg));
}

static void all_are_taken(struct __test_metadata *_metadata, struct raw *raw)
{
	struct pollfd fd = { .fd = raw->fd, .events = POLLOUT };
	uint32_t taken, sum = 0;
	int ret;

	while (sum < RCLINK_DEV_DEPTH) {
		ret = raw_submit(raw, UINT32_MAX, &taken);
		sum += taken;
		if (!ret)
			continue;
		ASSERT_EQ(-EBUSY, ret);
		ASSERT_EQ(1, poll(&fd, 1, slow(DONE_MS)));
	}
	EXPECT_EQ(RCLINK_DEV_DEPTH, sum);
}

/* As many entries as the ring has are carried out; with more, none is. */
TEST_F(args, the_tail_of_the_ring)
{
	const uint32_t beyond[] = {
		RCLINK_DEV_DEPTH + 1, 2 * RCLINK_DEV_DEPTH, 1U << 31,
		UINT32_MAX,
	};
	struct raw *raw = &self->raw;
	uint32_t i, taken, at;
	uint64_t before;

	raw_fill(raw, 1);
	at = raw_head(raw);
	for (i = 0; i < RCLINK_DEV_DEPTH; i++) {
		struct rclink_dev_sqe sqe = raw_right(raw, RCLINK_OP_WRITE);

		sqe.flags = i + 1 < RCLINK_DEV_DEPTH ? 0 : RCLINK_SQE_SIGNALED;
		sqe.sge[0].len = 8;
		sqe.sge[0].offset = 8 * i;
		sqe.remote_offset = 8 * (i + 1);
		*raw_entry(raw, i) = sqe;
	}
	before = raw_moved(raw);
	for (i = 0; i < NUM(beyond); i++) {
		raw_set_tail(raw, at + beyond[i]);
		EXPECT_EQ(-EINVAL, raw_submit(raw, UINT32_MAX, &taken))
			TH_LOG("%x", beyond[i]);
		EXPECT_EQ(0, taken);
		EXPECT_EQ(at, raw_head(raw));
	}
	EXPECT_EQ(before, raw_moved(raw));
	EXPECT_EQ(0, memcmp(raw->far, raw->r.far_memory, RIG_MEMORY));
	raw_set_tail(raw, at + RCLINK_DEV_DEPTH);
	all_are_taken(_metadata, raw);
	EXPECT_EQ(0, raw_completes(raw));
	memcpy(raw->far + 8, raw->near, 8 * RCLINK_DEV_DEPTH);
	EXPECT_EQ(0, memcmp(raw->far, raw->r.far_memory, RIG_MEMORY));
}

TEST_HARNESS_MAIN
