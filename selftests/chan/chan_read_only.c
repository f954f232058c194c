// SPDX-License-Identifier: GPL-2.0
/* Memory that need not be writable: regions with RCLINK_REGION_READ_ONLY. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rclink_share.h>

#include "far.h"
#include "harness.h"
#include "maps.h"
#include "rig.h"

#define NEARBY	"nearby"
#define HUGE	(2 << 20)

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

/* Memory that is filled from the seed, and may only be read by the process. */
static uint8_t *private_anonymous(uint32_t seed)
{
	uint8_t *m = map_anonymous(PROT_READ | PROT_WRITE);

	if (m == MAP_FAILED)
		return m;
	far_fill(m, seed, LEN);
	return mprotect(m, LEN, PROT_READ) ? MAP_FAILED : m;
}

/* Fill and close the file @fd; returns a descriptor that can only read it. */
static int filled(int fd, uint32_t seed)
{
	uint8_t data[LEN];
	int other;
	char path[64];

	far_fill(data, seed, LEN);
	if (fd < 0 || write(fd, data, LEN) != LEN)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_RDONLY);
	close(fd);
	return other;
}

static int a_file(uint32_t seed)
{
	return filled(memfd_create("rclink", 0), seed);
}

static uint8_t *file(int fd, int flags)
{
	uint8_t *m = map(PROT_READ, flags, fd);

	close(fd);
	return m;
}

static uint8_t *private_file(uint32_t seed)
{
	return file(a_file(seed), MAP_PRIVATE);
}

static uint8_t *shared_file(uint32_t seed)
{
	return file(a_file(seed), MAP_SHARED);
}

static uint8_t *disk_file(uint32_t seed)
{
	return file(filled(disk(), seed), MAP_SHARED);
}

/* On 6.1 the core forces writes to other read-only pages, but not to these. */
static uint8_t *private_huge(uint32_t seed)
{
	uint8_t *m = mmap(NULL, HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			  MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (m == MAP_FAILED)
		return m;
	far_fill(m, seed, LEN);
	return mprotect(m, HUGE, PROT_READ) ? MAP_FAILED : m;
}

/* Half of it private, half shared. */
static uint8_t *both_files(uint32_t seed)
{
	int fd = a_file(seed);
	uint8_t *m = map(PROT_READ, MAP_PRIVATE, fd);

	if (m != MAP_FAILED &&
	    mmap(m + PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd,
		 PAGE) == MAP_FAILED)
		m = MAP_FAILED;
	close(fd);
	return m;
}

/* The process may write to this memory, but does not. */
static uint8_t *writable(uint32_t seed)
{
	uint8_t *m = map_anonymous(PROT_READ | PROT_WRITE);

	if (m != MAP_FAILED)
		far_fill(m, seed, LEN);
	return m;
}

FIXTURE(source)
{
	struct rig r;
	uint8_t *m, copy[LEN];
	uint32_t region, nearby_region;
	uint8_t nearby[LEN];
	struct rclink_remote remote, nearby_remote;
	long pinned;
};

FIXTURE_VARIANT(source)
{
	uint8_t *(*make)(uint32_t seed);
};

FIXTURE_VARIANT_ADD(source, private_anonymous)
{
	.make = private_anonymous,
};

FIXTURE_VARIANT_ADD(source, private_file)
{
	.make = private_file,
};

FIXTURE_VARIANT_ADD(source, shared_file)
{
	.make = shared_file,
};

FIXTURE_VARIANT_ADD(source, private_huge)
{
	.make = private_huge,
};

FIXTURE_VARIANT_ADD(source, disk_file)
{
	.make = disk_file,
};

FIXTURE_VARIANT_ADD(source, both_files)
{
	.make = both_files,
};

FIXTURE_VARIANT_ADD(source, writable)
{
	.make = writable,
};

FIXTURE_SETUP(source)
{
	if (variant->make == disk_file && !getenv("RIG_DISK"))
		SKIP(return, "this kernel has no ext4, or no loop device");
	ASSERT_EQ(0, rig_begin(&self->r));
	ASSERT_EQ(0, rig_link(&self->r));
	ASSERT_EQ(0, rig_open(&self->r));
	self->pinned = rig_pinned();
	self->m = variant->make(11);
	ASSERT_NE(MAP_FAILED, self->m);
	memcpy(self->copy, self->m, LEN);
	ASSERT_EQ(0, rclink_region(self->r.far, self->m, LEN, RIG_OFFERED,
				   RCLINK_REGION_READ |
				   RCLINK_REGION_READ_ONLY, &self->region));
	EXPECT_EQ(self->pinned + LEN / 1024, rig_pinned());
	ASSERT_EQ(0, rclink_import(self->r.near, RIG_OFFERED, &self->remote));
	ASSERT_EQ(0, rclink_region(self->r.near, self->nearby, LEN, NEARBY,
				   RCLINK_REGION_READ | RCLINK_REGION_WRITE |
				   RCLINK_REGION_ATOMIC,
				   &self->nearby_region));
	ASSERT_EQ(0, rclink_import(self->r.far, NEARBY, &self->nearby_remote));
}

FIXTURE_TEARDOWN(source)
{
	EXPECT_EQ(0, memcmp(self->copy, self->m, LEN));
	EXPECT_EQ(0, rclink_withdraw(self->r.near, self->nearby_region));
	EXPECT_EQ(0, rclink_withdraw(self->r.far, self->region));
	EXPECT_EQ(self->pinned, rig_pinned());
	rig_end(&self->r);
	munmap(self->m, LEN);
}

TEST_F(source, the_peer_reads_it)
{
	struct rclink_data data = rclink_piece(self->nearby_region, 0, LEN);

	EXPECT_EQ(RCLINK_REGION_READ, self->remote.rights);
	ASSERT_EQ(0, rclink_read(self->r.near, data, &self->remote, 0,
				 RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(self->r.near));
	EXPECT_EQ(0, memcmp(self->nearby, self->copy, LEN));
}

TEST_F(source, it_is_sent_and_written)
{
	struct rclink_data data = rclink_piece(self->region, 0, LEN);

	ASSERT_EQ(0, rclink_write(self->r.far, data, &self->nearby_remote, 0,
				  RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(self->r.far));
	EXPECT_EQ(0, memcmp(self->nearby, self->copy, LEN));

	memset(self->nearby, 0, LEN);
	ASSERT_EQ(0, rclink_recv(self->r.near,
				 rclink_piece(self->nearby_region, 0, LEN),
				 0));
	ASSERT_LE(0, rclink_submit(self->r.near, 0, 0));
	ASSERT_EQ(0, rclink_send(self->r.far, data, RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(self->r.far));
	ASSERT_EQ(0, rig_completes(self->r.near));
	EXPECT_EQ(0, memcmp(self->nearby, self->copy, LEN));
}

/* All that would write there is refused, and the channel goes on. */
TEST_F(source, nothing_is_written_to_it)
{
	struct rclink_data data = rclink_piece(self->region, 0, LEN);
	struct rclink_data word = rclink_piece(self->region, 8, 8);
	struct rclink_chan *far = self->r.far, *near = self->r.near;
	const struct rclink_remote *to = &self->nearby_remote;

#define REFUSED(chan, call) do {					\
	ASSERT_EQ(0, call);						\
	EXPECT_EQ(-EACCES, rclink_submit(chan, 0, 0)) TH_LOG(#call);	\
} while (0)

	REFUSED(far, rclink_recv(far, data, 0));
	REFUSED(far, rclink_read(far, data, to, 0, 0, 0));
	REFUSED(far, rclink_cas(far, word, to, 0, 0, 1, 0, 0));
	REFUSED(far, rclink_fadd(far, word, to, 0, 1, 0, 0));
	/* The peer's operations. */
	data = rclink_piece(self->nearby_region, 0, LEN);
	word = rclink_piece(self->nearby_region, 0, 8);
	REFUSED(near, rclink_write(near, data, &self->remote, 0, 0, 0));
	REFUSED(near, rclink_write_imm(near, data, &self->remote, 0, 1, 0, 0));
	REFUSED(near, rclink_fadd(near, word, &self->remote, 0, 1, 0, 0));
#undef REFUSED
	EXPECT_EQ(0, rig_moves(&self->r, 12));
}

/* One read-only piece among several is enough for a refusal. */
TEST_F(source, nothing_is_received_partly_into_it)
{
	struct rclink_dev_sge pieces[] = {
		{ .region = self->r.far_region, .len = 8 },
		{ .region = self->region, .len = 8 },
	};
	struct rclink_data data = { .sge = pieces, .num = 2 };

	ASSERT_EQ(0, rclink_read(self->r.far, data, &self->nearby_remote, 0, 0,
				 0));
	EXPECT_EQ(-EACCES, rclink_submit(self->r.far, 0, 0));
	EXPECT_EQ(0, rig_moves(&self->r, 13));
}

/* What has never been touched, or is of a file, has its own pages then. */
static void follows(struct __test_metadata *_metadata,
		    struct _test_data_channel *self, uint8_t *m)
{
	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, rclink_region(self->r.far, m, LEN, RIG_OFFERED,
				   RCLINK_REGION_READ |
				   RCLINK_REGION_READ_ONLY, &self->region));
	ASSERT_EQ(0, rclink_import(self->r.near, RIG_OFFERED, &self->remote));
	ASSERT_EQ(0, mprotect(m, LEN, PROT_READ | PROT_WRITE));
	far_fill(m, 14, RIG_MOVED);
	EXPECT_EQ(0, rig_reads(&self->r, &self->remote, 14));
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	munmap(m, LEN);
}

TEST_F(channel, what_becomes_writable_is_read_as_it_is_written)
{
	follows(_metadata, self, map_anonymous(PROT_READ));
	follows(_metadata, self, private_anonymous(15));
	follows(_metadata, self, private_file(16));
}

TEST_F(channel, memory_that_cannot_be_read_is_refused)
{
	uint8_t *m = map_anonymous(PROT_NONE);
	long pinned = rig_pinned();
	uint32_t region;

	ASSERT_NE(MAP_FAILED, m);
	EXPECT_EQ(-EFAULT, rclink_region(self->r.far, m, LEN, NULL,
					 RCLINK_REGION_READ_ONLY, &region));
	ASSERT_EQ(0, mprotect(m, PAGE, PROT_READ));
	EXPECT_EQ(-EFAULT, rclink_region(self->r.far, m, LEN, NULL,
					 RCLINK_REGION_READ_ONLY, &region));
	ASSERT_EQ(0, munmap(m + PAGE, PAGE));
	EXPECT_EQ(-EFAULT, rclink_region(self->r.far, m, LEN, NULL,
					 RCLINK_REGION_READ_ONLY, &region));
	EXPECT_EQ(pinned, rig_pinned());
	EXPECT_EQ(0, rig_moves(&self->r, 17));
	munmap(m, LEN);
}

TEST_F(channel, who_may_only_read_gives_no_right_to_write)
{
	static const uint32_t wrong[] = {
		RCLINK_REGION_WRITE, RCLINK_REGION_ATOMIC,
		RCLINK_REGION_READ | RCLINK_REGION_WRITE,
		RCLINK_REGION_READ | RCLINK_REGION_ATOMIC,
		RCLINK_REGION_INVALIDATE, 0, 0x20 | RCLINK_REGION_READ,
	};
	uint8_t *m = map_anonymous(PROT_READ | PROT_WRITE);
	uint32_t region;
	size_t i;

	ASSERT_NE(MAP_FAILED, m);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		EXPECT_EQ(-EINVAL,
			  rclink_region(self->r.far, m, LEN, RIG_OFFERED,
					wrong[i] | RCLINK_REGION_READ_ONLY,
					&region))
			TH_LOG("%x", wrong[i]);
	EXPECT_EQ(-EINVAL, rclink_region(self->r.far, m, LEN, NULL,
					 RCLINK_REGION_READ |
					 RCLINK_REGION_READ_ONLY, &region));
	EXPECT_EQ(0, rclink_region(self->r.far, m, LEN, NULL,
				   RCLINK_REGION_READ_ONLY, &region));
	EXPECT_EQ(0, rclink_withdraw(self->r.far, region));
	munmap(m, LEN);
}

TEST_F(channel, memory_of_the_kernel_that_is_only_read)
{
	void *m;

	ASSERT_EQ(0, rclink_memory(self->r.far, &m, LEN, RIG_OFFERED,
				   RCLINK_REGION_READ |
				   RCLINK_REGION_READ_ONLY, &self->region));
	ASSERT_EQ(0, rclink_import(self->r.near, RIG_OFFERED, &self->remote));
	/* The process itself may still write there. */
	far_fill(m, 18, RIG_MOVED);
	EXPECT_EQ(0, rig_reads(&self->r, &self->remote, 18));
	ASSERT_EQ(0, rclink_recv(self->r.far,
				 rclink_piece(self->region, 0, 8), 0));
	EXPECT_EQ(-EACCES, rclink_submit(self->r.far, 0, 0));
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	munmap(m, LEN);
}

TEST_F(channel, what_is_only_read_is_exported_to_all_links)
{
	uint8_t *m = shared_file(19);
	struct rclink_share *share;
	uint32_t region;

	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, rclink_share(&share));
	EXPECT_EQ(-EFAULT, rclink_share_region(share, m, LEN, RIG_OFFERED,
					       RCLINK_REGION_READ, &region));
	EXPECT_EQ(-EINVAL, rclink_share_region(share, m, LEN, RIG_OFFERED,
					       RCLINK_REGION_WRITE |
					       RCLINK_REGION_READ_ONLY,
					       &region));
	ASSERT_EQ(0, rclink_share_region(share, m, LEN, RIG_OFFERED,
					 RCLINK_REGION_READ |
					 RCLINK_REGION_READ_ONLY, &region));
	ASSERT_EQ(0, rclink_import(self->r.near, RIG_OFFERED, &self->remote));
	EXPECT_EQ(RCLINK_REGION_READ, self->remote.rights);
	EXPECT_EQ(0, rig_reads(&self->r, &self->remote, 19));
	EXPECT_EQ(0, rclink_release(self->r.near, &self->remote));
	EXPECT_EQ(0, rclink_share_withdraw(share, region));
	rclink_share_close(share);
	munmap(m, LEN);
}

/*
 * More than one extent, with neither end at a page border. It is read in parts:
 * all at once takes longer than the link of a slow kernel waits for.
 */
TEST_F(channel, a_large_file_that_is_only_read)
{
	const uint32_t size = (5 << 20) + 1234, len = size - 3;
	const uint32_t at[] = { 0, (2 << 20) - 5000, len - RIG_MOVED };
	uint8_t *all = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = memfd_create("rclink", 0);
	struct rclink_data data;
	uint8_t *m;
	size_t i;

	ASSERT_LE(0, fd);
	ASSERT_NE(MAP_FAILED, all);
	far_fill(all, 20, size);
	ASSERT_EQ(size, write(fd, all, size));
	m = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, rclink_region(self->r.far, m + 3, len, RIG_OFFERED,
				   RCLINK_REGION_READ |
				   RCLINK_REGION_READ_ONLY, &self->region));
	ASSERT_EQ(0, rclink_import(self->r.near, RIG_OFFERED, &self->remote));
	data = rclink_piece(self->r.near_region, 0, RIG_MOVED);
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		memset(self->r.near_memory, 0, RIG_MOVED);
		ASSERT_EQ(0, rclink_read(self->r.near, data, &self->remote,
					 at[i], RCLINK_SQE_SIGNALED, 0));
		ASSERT_EQ(0, rig_completes(self->r.near));
		EXPECT_EQ(0, memcmp(self->r.near_memory, all + 3 + at[i],
				    RIG_MOVED));
	}
	EXPECT_EQ(0, rig_take_back(&self->r, self->region, &self->remote));
	munmap(m, size);
	munmap(all, size);
	close(fd);
}

TEST_HARNESS_MAIN
