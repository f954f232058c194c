// SPDX-License-Identifier: GPL-2.0
/*
 * Which memory may be registered, and what may happen to it afterwards: the
 * device reaches the pages that were registered, and never others.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rclink_share.h>

#include "far.h"
#include "harness.h"
#include "maps.h"
#include "rig.h"

FIXTURE(channel)
{
	struct rig r;
	uint32_t region;
	struct rclink_remote remote;
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

/* Write RIG_MOVED bytes, made from the seed, to the imported region. */
static int write_there(struct _test_data_channel *self, uint32_t seed)
{
	struct rclink_data data;
	int ret;

	data = rclink_piece(self->r.near_region, 0, RIG_MOVED);
	far_fill(self->r.near_memory, seed, RIG_MOVED);
	ret = rclink_write(self->r.near, data, &self->remote, 0,
			   RCLINK_SQE_SIGNALED, 0);
	return ret ? ret : rig_completes(self->r.near);
}

static bool is_zero(const uint8_t *m)
{
	return !m[0] && !memcmp(m, m + 1, LEN - 1);
}

/* The memory is refused, nothing stays pinned, and the channel still works. */
static void refuses(struct __test_metadata *_metadata,
		    struct _test_data_channel *self, uint8_t *m, size_t len,
		    int error)
{
	long pinned = rig_pinned();
	uint32_t region;

	ASSERT_NE(MAP_FAILED, m);
	EXPECT_EQ(-error, rclink_region(self->r.far, m, len, NULL, 0,
					&region));
	EXPECT_EQ(pinned, rig_pinned());
	EXPECT_EQ(0, rig_moves(&self->r, 1));
	munmap(m, len);
}

TEST_F(channel, memory_that_cannot_be_written_is_refused)
{
	refuses(_metadata, self, map_anonymous(PROT_READ), LEN, EFAULT);
	refuses(_metadata, self, map_anonymous(PROT_NONE), LEN, EFAULT);
}

TEST_F(channel, a_hole_is_refused)
{
	uint8_t *m = map_anonymous(PROT_READ | PROT_WRITE);

	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, munmap(m + PAGE, PAGE));
	refuses(_metadata, self, m, LEN, EFAULT);
}

TEST_F(channel, memory_of_a_device_is_refused)
{
	uint8_t *m = MAP_FAILED;
	glob_t files;
	size_t i;
	int fd;

	ASSERT_EQ(0, glob("/sys/bus/pci/devices/*/resource[0-9]", 0, NULL,
			  &files));
	for (i = 0; i < files.gl_pathc && m == MAP_FAILED; i++) {
		fd = open(files.gl_pathv[i], O_RDWR);
		if (fd < 0)
			continue;
		m = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	globfree(&files);
	if (m == MAP_FAILED)
		SKIP(return, "no PCI device has memory to map");
	refuses(_metadata, self, m, PAGE, EFAULT);
}

/* Its pages are those of the disk: the file system could not move them. */
TEST_F(channel, a_file_on_dax_is_refused)
{
	const char *dir = getenv("RIG_DAX");
	uint8_t *m;
	int fd;

	if (!dir)
		SKIP(return, "no file system with DAX");
	fd = open(dir, O_TMPFILE | O_RDWR, 0600);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, LEN));
	m = map(PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd);
	close(fd);
	ASSERT_NE(MAP_FAILED, m);
	memset(m, 1, LEN);
	refuses(_metadata, self, m, LEN, EOPNOTSUPP);
}

TEST_F(channel, a_file_in_memory_has_what_the_peer_writes)
{
	int fd = memfd_create("rclink", 0);
	uint8_t *m, copy[RIG_MOVED];

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, LEN));
	m = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, rig_offer(&self->r, m, LEN, &self->region,
			       &self->remote));
	ASSERT_EQ(0, write_there(self, 2));
	ASSERT_EQ(RIG_MOVED, pread(fd, copy, RIG_MOVED, 0));
	EXPECT_TRUE(far_is(copy, 2, RIG_MOVED));

	/* The pages leave the file, and stay for the device. */
	ASSERT_EQ(0, ftruncate(fd, 0));
	EXPECT_EQ(0, rig_reads(&self->r, &self->remote, 2));
	EXPECT_EQ(0, write_there(self, 3));
	ASSERT_EQ(0, ftruncate(fd, LEN));
	ASSERT_EQ(RIG_MOVED, pread(fd, copy, RIG_MOVED, 0));
	EXPECT_FALSE(far_is(copy, 3, RIG_MOVED));
	EXPECT_TRUE(is_zero(m));
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	munmap(m, LEN);
	close(fd);
}

/* Since Linux 6.5 pages of such files cannot be pinned long to be written. */
static bool disks_are_refused(void)
{
	struct utsname name;
	int major, minor;

	return !uname(&name) &&
	       sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
	       major * 100 + minor >= 605;
}

TEST_F(channel, a_file_on_a_disk_is_refused_or_has_what_the_peer_writes)
{
	uint8_t *m, copy[RIG_MOVED];
	int fd = disk();

	if (fd < 0)
		SKIP(return, "this kernel has no ext4, or no loop device");
	ASSERT_EQ(0, ftruncate(fd, LEN));
	m = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	ASSERT_NE(MAP_FAILED, m);
	if (disks_are_refused()) {
		refuses(_metadata, self, m, LEN, EFAULT);
		close(fd);
		return;
	}
	ASSERT_EQ(0, rig_offer(&self->r, m, LEN, &self->region,
			       &self->remote));
	ASSERT_EQ(0, write_there(self, 2));
	ASSERT_EQ(RIG_MOVED, pread(fd, copy, RIG_MOVED, 0));
	EXPECT_TRUE(far_is(copy, 2, RIG_MOVED));
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	munmap(m, LEN);
	close(fd);
}

TEST_F(channel, a_file_that_is_mapped_privately_does_not_change)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	uint8_t *m, before[LEN], after[LEN];

	ASSERT_LE(0, fd);
	ASSERT_EQ(LEN, pread(fd, before, LEN, 0));
	m = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, rig_offer(&self->r, m, LEN, &self->region,
			       &self->remote));
	ASSERT_EQ(0, write_there(self, 4));
	EXPECT_TRUE(far_is(m, 4, RIG_MOVED));
	ASSERT_EQ(LEN, pread(fd, after, LEN, 0));
	EXPECT_EQ(0, memcmp(before, after, LEN));
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	munmap(m, LEN);
	close(fd);
}

TEST_F(channel, what_is_mapped_there_later_is_not_reached)
{
	uint8_t *m = map_anonymous(PROT_READ | PROT_WRITE);

	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, rig_offer(&self->r, m, LEN, &self->region,
			       &self->remote));
	ASSERT_EQ(0, write_there(self, 5));
	ASSERT_EQ(0, munmap(m, LEN));
	EXPECT_EQ(0, rig_reads(&self->r, &self->remote, 5));
	ASSERT_EQ(m, mmap(m, LEN, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(0, write_there(self, 6));
	EXPECT_EQ(0, rig_reads(&self->r, &self->remote, 6));
	EXPECT_TRUE(is_zero(m));
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	munmap(m, LEN);
}

TEST_F(channel, what_the_process_gives_up_is_not_reached)
{
	uint8_t *m = map_anonymous(PROT_READ | PROT_WRITE), *moved;

	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, rig_offer(&self->r, m, LEN, &self->region,
			       &self->remote));
	ASSERT_EQ(0, write_there(self, 7));
	/* Protection concerns only the process; the pages are the same. */
	ASSERT_EQ(0, mprotect(m, LEN, PROT_NONE));
	EXPECT_EQ(0, write_there(self, 8));
	ASSERT_EQ(0, mprotect(m, LEN, PROT_READ | PROT_WRITE));
	EXPECT_TRUE(far_is(m, 8, RIG_MOVED));
	moved = mremap(m, LEN, 2 * LEN, MREMAP_MAYMOVE);
	ASSERT_NE(MAP_FAILED, moved);
	EXPECT_EQ(0, write_there(self, 9));
	EXPECT_TRUE(far_is(moved, 9, RIG_MOVED));
	ASSERT_EQ(0, madvise(moved, LEN, MADV_DONTNEED));
	EXPECT_EQ(0, rig_reads(&self->r, &self->remote, 9));
	EXPECT_EQ(0, write_there(self, 10));
	EXPECT_TRUE(is_zero(moved));
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	munmap(moved, 2 * LEN);
}

TEST_HARNESS_MAIN
