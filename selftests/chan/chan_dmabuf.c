// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of dma-bufs, on a device with DMA of its own. The dma-bufs are of
 * RAM, which the processor can look at beside the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dma.h"
#include "far.h"
#include "harness.h"
#include "rig.h"
#include "sim.h"
#include "udmabuf.h"

#define PAGE		4096
#define LEN		(8 * PAGE)
#define BIG		(6 << 20)	/* more than one registration takes */
#define NAME		"dmabuf"
#define OTHER		"dmabuf.2"
#define RW		(RCLINK_REGION_WRITE | RCLINK_REGION_READ)
#define ALL		(RW | RCLINK_REGION_ATOMIC)
#define GONE_MS		10000
#define LATE		"delay 1 8 4000"	/* the next eight, in ms */

FIXTURE(dma)
{
	struct rig r;
	struct udmabuf u;
	uint32_t region;
	struct rclink_remote remote;
	int attached, count;	/* what others have */
};

FIXTURE_SETUP(dma)
{
	ASSERT_EQ(0, dma_begin(&self->r));
	ASSERT_EQ(0, udmabuf_new(&self->u, LEN));
	self->attached = udmabuf_attached();
	self->count = udmabuf_count();
	ASSERT_LE(0, self->attached);
	ASSERT_LE(1, self->count);
}

/* Whatever happened, the end of all channels releases the dma-buf. */
FIXTURE_TEARDOWN(dma)
{
	rig_end(&self->r);
	EXPECT_EQ(self->attached, udmabuf_until_attached(self->attached,
							 GONE_MS));
	udmabuf_end(&self->u);
	EXPECT_EQ(self->count - 1, udmabuf_count());
	sim_del_device("sim1");
	sim_del_device("sim0");
}

/* Export the dma-buf at the far end, and import it at the near end. */
static int offer(struct _test_data_dma *self, uint64_t offset, uint64_t len,
		 unsigned int rights)
{
	int ret = rclink_dmabuf(self->r.far, self->u.fd, offset, len, NAME,
				rights, &self->region);

	return ret ? ret : rclink_import(self->r.near, NAME, &self->remote);
}

TEST_F(dma, the_peer_writes_and_reads_it)
{
	ASSERT_EQ(0, offer(self, 0, LEN, RW));
	EXPECT_EQ(LEN, self->remote.len);
	EXPECT_EQ(self->attached + 1, udmabuf_attached());
	ASSERT_EQ(0, dma_write(&self->r, &self->remote, 1, 2));
	EXPECT_TRUE(far_is(self->u.memory + 1, 2, RIG_MOVED));
	EXPECT_TRUE(dma_are(self->u.memory + 1 + RIG_MOVED, 0,
			    LEN - 1 - RIG_MOVED));
	far_fill(self->u.memory + LEN - RIG_MOVED, 3, RIG_MOVED);
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, LEN - RIG_MOVED, 3));
	ASSERT_EQ(0, rclink_withdraw(self->r.far, self->region));
	EXPECT_EQ(self->attached, udmabuf_attached());
	EXPECT_EQ(0, rig_moves(&self->r, 4));
}

TEST_F(dma, the_peer_changes_a_word_of_it)
{
	struct rclink_data old = rclink_piece(self->r.near_region, 0, 8);
	uint64_t *word = (uint64_t *)(self->u.memory + 3 * PAGE - 8);

	ASSERT_EQ(0, offer(self, PAGE, LEN - PAGE, ALL));
	*word = 40;
	ASSERT_EQ(0, rclink_fadd(self->r.near, old, &self->remote, 2 * PAGE - 8,
				 2, RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(self->r.near));
	EXPECT_EQ(42, *word);
	EXPECT_EQ(40, *(uint64_t *)self->r.near_memory);
	ASSERT_EQ(0, rclink_cas(self->r.near, old, &self->remote, 2 * PAGE - 8,
				42, 1, RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(self->r.near));
	EXPECT_EQ(1, *word);
	EXPECT_EQ(42, *(uint64_t *)self->r.near_memory);
}

TEST_F(dma, a_part_of_it_begins_anywhere)
{
	const size_t at = 2 * PAGE + 24;

	memset(self->u.memory, 0xee, LEN);
	ASSERT_EQ(0, offer(self, at, RIG_MOVED, RW));
	EXPECT_EQ(RIG_MOVED, self->remote.len);
	ASSERT_EQ(0, dma_write(&self->r, &self->remote, 0, 5));
	EXPECT_TRUE(far_is(self->u.memory + at, 5, RIG_MOVED));
	EXPECT_TRUE(dma_are(self->u.memory, 0xee, at));
	EXPECT_TRUE(dma_are(self->u.memory + at + RIG_MOVED, 0xee,
			    LEN - at - RIG_MOVED));
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, 0, 5));
	/* And the region ends where that part does. */
	EXPECT_EQ(-EINVAL, dma_write(&self->r, &self->remote, 1, 6));
	EXPECT_EQ(0, rig_moves(&self->r, 7));
}

TEST_F(dma, it_is_the_near_end_of_operations)
{
	struct rclink_data data;

	ASSERT_EQ(0, rclink_dmabuf(self->r.near, self->u.fd, 100, RIG_MOVED,
				   NULL, 0, &self->region));
	data = rclink_piece(self->region, 0, RIG_MOVED);
	far_fill(self->u.memory + 100, 8, RIG_MOVED);
	ASSERT_EQ(0, rclink_write(self->r.near, data, &self->r.remote, 0,
				  RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(self->r.near));
	EXPECT_TRUE(far_is(self->r.far_memory, 8, RIG_MOVED));
	far_fill(self->r.far_memory, 9, RIG_MOVED);
	ASSERT_EQ(0, rclink_read(self->r.near, data, &self->r.remote, 0,
				 RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(self->r.near));
	EXPECT_TRUE(far_is(self->u.memory + 100, 9, RIG_MOVED));
	EXPECT_TRUE(dma_are(self->u.memory, 0, 100));
}

TEST_F(dma, it_may_take_several_registrations)
{
	const uint32_t from = 5, to = 1234567, moved = 4 << 20;
	struct rclink_data data;
	struct udmabuf near, far;
	uint32_t region;

	ASSERT_EQ(0, udmabuf_new(&near, BIG));
	ASSERT_EQ(0, udmabuf_new(&far, BIG));
	far_fill(near.memory, 10, BIG);
	ASSERT_EQ(0, rclink_dmabuf(self->r.near, near.fd, from, BIG - from,
				   NULL, 0, &region));
	ASSERT_EQ(0, rclink_dmabuf(self->r.far, far.fd, 0, BIG, NAME, RW,
				   &self->region));
	ASSERT_EQ(0, rclink_import(self->r.near, NAME, &self->remote));
	data = rclink_piece(region, 0, moved);
	ASSERT_EQ(0, rclink_write(self->r.near, data, &self->remote, to,
				  RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(self->r.near));
	EXPECT_EQ(0, memcmp(near.memory + from, far.memory + to, moved));
	EXPECT_TRUE(dma_are(far.memory, 0, to));
	EXPECT_TRUE(dma_are(far.memory + to + moved, 0, BIG - to - moved));
	EXPECT_EQ(-EOPNOTSUPP, rclink_dmabuf(self->r.far, far.fd, 0, BIG, OTHER,
					     RW | RCLINK_REGION_INVALIDATE,
					     &region));
	udmabuf_end(&near);
	udmabuf_end(&far);
}

TEST_F(dma, rights_are_kept)
{
	ASSERT_EQ(0, offer(self, 0, LEN, RCLINK_REGION_READ));
	EXPECT_EQ(-EACCES, dma_write(&self->r, &self->remote, 0, 11));
	far_fill(self->u.memory, 12, RIG_MOVED);
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, 0, 12));
}

static int try(struct _test_data_dma *self, int fd, uint64_t offset,
	       uint64_t len, const char *name, unsigned int rights)
{
	uint32_t region;

	return rclink_dmabuf(self->r.far, fd, offset, len, name, rights,
			     &region);
}

TEST_F(dma, nonsense_is_refused)
{
	struct rclink_dev_dmabuf arg = { .len = LEN, .fd = self->u.fd };
	int chan = rclink_fd(self->r.far), fd = self->u.fd;
	int memfd = memfd_create("rclink", MFD_CLOEXEC);

	ASSERT_LE(0, memfd);
	ASSERT_EQ(0, ftruncate(memfd, LEN));
	EXPECT_EQ(-EINVAL, try(self, memfd, 0, LEN, NULL, 0));
	EXPECT_EQ(-EINVAL, try(self, chan, 0, LEN, NULL, 0));
	close(memfd);
	EXPECT_EQ(-EBADF, try(self, memfd, 0, LEN, NULL, 0));
	EXPECT_EQ(-EBADF, try(self, -1, 0, LEN, NULL, 0));

	EXPECT_EQ(-EINVAL, try(self, fd, 0, 0, NULL, 0));
	EXPECT_EQ(-EINVAL, try(self, fd, 0, LEN + 1, NULL, 0));
	EXPECT_EQ(-EINVAL, try(self, fd, 1, LEN, NULL, 0));
	EXPECT_EQ(-EINVAL, try(self, fd, LEN, 1, NULL, 0));
	EXPECT_EQ(-EINVAL, try(self, fd, UINT64_MAX, 1, NULL, 0));
	EXPECT_EQ(-EINVAL, try(self, fd, UINT64_MAX - LEN, LEN, NULL, 0));
	EXPECT_EQ(-EINVAL, try(self, fd, LEN, UINT64_MAX - LEN + 1, NULL, 0));
	EXPECT_EQ(-EINVAL, try(self, fd, LEN, UINT64_MAX, NULL, 0));
	EXPECT_EQ(-EMSGSIZE, try(self, fd, 0, UINT64_MAX, NULL, 0));

	EXPECT_EQ(-EINVAL, try(self, fd, 0, LEN, NULL, RW));
	EXPECT_EQ(-EINVAL, try(self, fd, 0, LEN, NAME, 0));
	EXPECT_EQ(-EINVAL, try(self, fd, 0, LEN, NAME, 0x10));
	EXPECT_EQ(-EEXIST, try(self, fd, 0, LEN, RIG_REGION, RW));
	arg.pad = 1;
	EXPECT_EQ(-1, ioctl(chan, RCLINK_IOC_DMABUF, &arg));
	EXPECT_EQ(EINVAL, errno);
	arg.pad = 0;
	memset(arg.name, 'x', sizeof(arg.name));
	EXPECT_EQ(-1, ioctl(chan, RCLINK_IOC_DMABUF, &arg));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(chan, RCLINK_IOC_DMABUF, NULL));
	EXPECT_EQ(EFAULT, errno);

	EXPECT_EQ(self->attached, udmabuf_attached());
	EXPECT_EQ(self->count, udmabuf_count());
	EXPECT_EQ(0, rig_moves(&self->r, 13));
}

TEST_F(dma, one_that_may_not_be_written_is_refused)
{
	int fd = udmabuf_of_heap(LEN, O_RDONLY);

	if (fd == -ENOENT)
		SKIP(return, "no /dev/dma_heap/system");
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EACCES, try(self, fd, 0, LEN, NAME, RCLINK_REGION_READ));
	EXPECT_EQ(self->attached, udmabuf_attached());
	close(fd);
}

TEST_F(dma, one_that_may_not_be_written_can_be_read_alone)
{
	int fd = udmabuf_of_heap(LEN, O_RDONLY);
	uint8_t zero[8] = { 1 };
	uint32_t region;

	if (fd == -ENOENT)
		SKIP(return, "no /dev/dma_heap/system");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rclink_dmabuf(self->r.far, fd, 0, LEN, NULL,
				   RCLINK_REGION_READ_ONLY, &region));
	close(fd);
	ASSERT_EQ(0, rclink_recv(self->r.far, rclink_piece(region, 0, 8), 0));
	EXPECT_EQ(-EACCES, rclink_submit(self->r.far, 0, 0));
	memcpy(self->r.near_memory, zero, 8);
	ASSERT_EQ(0, rclink_recv(self->r.near,
				 rclink_piece(self->r.near_region, 0, 8), 0));
	ASSERT_LE(0, rclink_submit(self->r.near, 0, 0));
	ASSERT_EQ(0, rclink_send(self->r.far, rclink_piece(region, 0, 8),
				 RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(0, rig_completes(self->r.far));
	ASSERT_EQ(0, rig_completes(self->r.near));
	zero[0] = 0;
	EXPECT_EQ(0, memcmp(self->r.near_memory, zero, 8));
	EXPECT_EQ(0, rclink_withdraw(self->r.far, region));
	EXPECT_EQ(self->attached, udmabuf_attached());
}

TEST_F(dma, it_may_be_of_another_exporter)
{
	struct dma_buf_sync sync = {
		.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ,
	};
	int fd = udmabuf_of_heap(LEN, O_RDWR);
	uint8_t *m;

	if (fd == -ENOENT)
		SKIP(return, "no /dev/dma_heap/system");
	ASSERT_LE(0, fd);
	m = mmap(NULL, LEN, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, m);
	ASSERT_EQ(0, rclink_dmabuf(self->r.far, fd, 0, LEN, NAME, RW,
				   &self->region));
	ASSERT_EQ(0, rclink_import(self->r.near, NAME, &self->remote));
	EXPECT_EQ(0, dma_write(&self->r, &self->remote, 4321, 14));
	EXPECT_EQ(0, ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync));
	EXPECT_TRUE(far_is(m + 4321, 14, RIG_MOVED));
	sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ;
	EXPECT_EQ(0, ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync));
	munmap(m, LEN);
	close(fd);
}

TEST_F(dma, its_descriptor_may_be_closed)
{
	ASSERT_EQ(0, offer(self, 0, LEN, RW));
	udmabuf_close(&self->u);
	EXPECT_EQ(self->count, udmabuf_count());
	EXPECT_EQ(0, dma_write(&self->r, &self->remote, 0, 15));
	EXPECT_TRUE(far_is(self->u.memory, 15, RIG_MOVED));
	ASSERT_EQ(0, rclink_withdraw(self->r.far, self->region));
	EXPECT_EQ(self->attached, udmabuf_attached());
	EXPECT_EQ(self->count - 1, udmabuf_count());
}

TEST_F(dma, it_may_be_registered_twice_and_counts_for_no_limit)
{
	long pinned = rig_pinned();
	uint32_t second;

	ASSERT_EQ(0, offer(self, 0, LEN, RW));
	ASSERT_EQ(0, rclink_dmabuf(self->r.far, self->u.fd, PAGE, LEN - PAGE,
				   OTHER, RW, &second));
	EXPECT_EQ(self->attached + 2, udmabuf_attached());
	EXPECT_EQ(pinned, rig_pinned());
	ASSERT_EQ(0, rclink_withdraw(self->r.far, second));
	EXPECT_EQ(-ESTALE, rclink_withdraw(self->r.far, second));
	EXPECT_EQ(self->attached + 1, udmabuf_attached());
	EXPECT_EQ(0, dma_write(&self->r, &self->remote, 0, 16));
	EXPECT_TRUE(far_is(self->u.memory, 16, RIG_MOVED));
}

/* The delayed WRITE finds no region; the memory is released before. */
TEST_F(dma, it_is_withdrawn_with_an_operation_under_way)
{
	struct rclink_data data = rclink_piece(self->r.near_region, 0,
					       RIG_MOVED);

	memset(self->u.memory, 0xee, LEN);
	ASSERT_EQ(0, offer(self, 0, LEN, RW));
	ASSERT_EQ(0, sim_knob("sim0", "fault", LATE));
	ASSERT_EQ(0, rclink_write(self->r.near, data, &self->remote, 0,
				  RCLINK_SQE_SIGNALED, 0));
	ASSERT_EQ(1, rclink_submit(self->r.near, 0, 0));
	ASSERT_EQ(0, rclink_withdraw(self->r.far, self->region));
	EXPECT_EQ(self->attached, udmabuf_attached());
	EXPECT_EQ(-EREMOTEIO, rig_completes(self->r.near));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "delay 1 0"));
	EXPECT_TRUE(dma_are(self->u.memory, 0xee, LEN));
}

/* The child registers over a channel of its own, and waits to be killed. */
static void register_and_wait(struct _test_data_dma *self, int said)
{
	struct rclink_dev_dmabuf arg = {
		.name = NAME, .len = LEN, .rights = RW, .fd = self->u.fd,
	};
	int fd = rig_device();
	char done = fd >= 0 && !rig_connect(fd, RCLINK_CONNECT_WAIT) &&
		    !ioctl(fd, RCLINK_IOC_DMABUF, &arg);

	if (write(said, &done, 1) == 1)
		pause();
	_exit(1);
}

TEST_F(dma, its_process_is_killed)
{
	char done = 0;
	int said[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(said));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		register_and_wait(self, said[1]);
	EXPECT_EQ(1, read(said[0], &done, 1));
	EXPECT_EQ(1, done);
	EXPECT_EQ(self->attached + 1, udmabuf_attached());
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EQ(self->attached, udmabuf_until_attached(self->attached,
							 GONE_MS));
	EXPECT_EQ(0, rig_moves(&self->r, 17));
	/* Its name is free again, too. */
	EXPECT_EQ(0, offer(self, 0, LEN, RW));
	close(said[0]);
	close(said[1]);
}

TEST_F(dma, it_goes_on_in_the_next_epoch_and_on_another_device)
{
	ASSERT_EQ(0, offer(self, 24, LEN - 24, RW));
	ASSERT_EQ(0, dma_write(&self->r, &self->remote, 0, 18));
	ASSERT_EQ(0, sim_knob("sim0", "up", "0"));
	ASSERT_EQ(0, rcl_until(&self->r.s, RIG_NEAR, RCLINK_LINK_STATE_DOWN,
			       GONE_MS));
	ASSERT_EQ(0, rcl_until(&self->r.s, RIG_FAR, RCLINK_LINK_STATE_DOWN,
			       GONE_MS));
	EXPECT_EQ(self->attached, udmabuf_until_attached(self->attached,
							 GONE_MS));
	ASSERT_EQ(0, sim_knob("sim0", "up", "1"));
	ASSERT_EQ(0, dma_pair(&self->r));
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, 0, 18));
	EXPECT_EQ(0, dma_write(&self->r, &self->remote, 1, 19));
	EXPECT_EQ(self->attached + 1, udmabuf_attached());

	ASSERT_EQ(0, sim_del_device("sim0"));
	EXPECT_EQ(self->attached, udmabuf_attached());
	ASSERT_EQ(0, sim_new_device("sim1 ib 2 dma=1"));
	ASSERT_EQ(0, dma_pair(&self->r));
	EXPECT_EQ(0, dma_read(&self->r, &self->remote, 1, 19));
	EXPECT_EQ(0, dma_write(&self->r, &self->remote, 2, 20));
	EXPECT_EQ(self->attached + 1, udmabuf_attached());
	EXPECT_TRUE(far_is(self->u.memory + 24 + 2, 20, RIG_MOVED));
	ASSERT_EQ(0, rclink_withdraw(self->r.far, self->region));
	EXPECT_EQ(self->attached, udmabuf_attached());
}

/* The device may still use the memory, so it stays attached. */
TEST_F(dma, it_is_lost_when_its_registration_does_not_end)
{
	if (self->u.control >= 0)
		SKIP(return, "the exporter could not be unloaded any more");
	ASSERT_EQ(0, offer(self, 0, LEN, RW));
	ASSERT_EQ(0, sim_knob("sim0", "fault", "dereg_mr 1 1 -5"));
	EXPECT_EQ(-EIO, rclink_withdraw(self->r.far, self->region));
	EXPECT_EQ(0, rig_moves(&self->r, 22));
	rig_close(&self->r);
	EXPECT_EQ(self->attached + 1, udmabuf_attached());
	udmabuf_close(&self->u);
	EXPECT_EQ(self->count, udmabuf_count());
	/* Both are lost for good. */
	self->attached++;
	self->count++;
}

/* Without DMA the channel cannot have its memory back, so it ends. */
TEST_F(dma, it_does_not_go_on_where_there_is_no_dma)
{
	ASSERT_EQ(0, offer(self, 0, LEN, RW));
	ASSERT_EQ(0, sim_del_device("sim0"));
	ASSERT_EQ(0, sim_new_device("sim1 ib 2"));
	ASSERT_EQ(0, dma_pair(&self->r));
	EXPECT_EQ(-ECONNRESET, dma_write(&self->r, &self->remote, 0, 21));
	EXPECT_EQ(self->attached, udmabuf_attached());
	EXPECT_EQ(0, rclink_withdraw(self->r.far, self->region));
}

TEST_HARNESS_MAIN
