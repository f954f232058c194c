// SPDX-License-Identifier: GPL-2.0
/*
 * The limit of imports is for those held at a time: a released one is refused,
 * and makes room; operations in flight go on.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
#include "rig.h"
#include "slow.h"

#define TIMES	100	/* more than the slots, and than one byte of numbers */
#define ROUNDS	3
#define SLOTS	64
#define FLIGHT	24	/* reads of RIG_MOVED bytes */
#define PAGE	4096
#define DONE_MS	20000

FIXTURE(channel)
{
	struct rig r;
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

static int import(struct rig *r, struct rclink_remote *remote)
{
	return rclink_import(r->near, RIG_REGION, remote);
}

static struct rclink_data piece(struct rig *r)
{
	return rclink_piece(r->near_region, 0, RIG_MOVED);
}

/* Is this import refused by a submission and by a release? */
static bool is_stale(struct rig *r, const struct rclink_remote *remote)
{
	return !rclink_read(r->near, piece(r), remote, 0, 0, 0) &&
	       rclink_submit(r->near, 0, 0) == -ESTALE &&
	       rclink_release(r->near, remote) == -ESTALE;
}

TEST_F(channel, import_and_release_a_hundred_times)
{
	struct rclink_remote mine = self->r.remote, last = { 0 };
	uint32_t i;

	for (i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, import(&self->r, &self->r.remote));
		EXPECT_NE(mine.handle, self->r.remote.handle);
		EXPECT_NE(last.handle, self->r.remote.handle);
		if (i % 10 == 0)
			EXPECT_EQ(0, rig_moves(&self->r, i));
		/* The previous import had the same slot. */
		if (i)
			ASSERT_TRUE(is_stale(&self->r, &last));
		last = self->r.remote;
		ASSERT_EQ(0, rclink_release(self->r.near, &last));
		ASSERT_TRUE(is_stale(&self->r, &last));
	}
	self->r.remote = mine;
	EXPECT_EQ(0, rig_moves(&self->r, TIMES));
}

/* A region of this end, whose slot the next one gets */
TEST_F(channel, the_handle_of_a_region_is_good_for_no_other)
{
	struct rig *r = &self->r;
	uint32_t now, last = 0;
	int i;

	for (i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, rclink_region(r->near, r->near_memory, PAGE, NULL,
					   0, &now));
		if (i) {
			ASSERT_NE(last, now);
			ASSERT_EQ(0, rclink_write(r->near,
						  rclink_piece(last, 0, 8),
						  &r->remote, 0, 0, 0));
			ASSERT_EQ(-ESTALE, rclink_submit(r->near, 0, 0));
			ASSERT_EQ(-ESTALE, rclink_withdraw(r->near, last));
		}
		last = now;
		ASSERT_EQ(0, rclink_withdraw(r->near, now));
	}
	EXPECT_EQ(0, rig_moves(r, 1));
}

TEST_F(channel, so_many_at_a_time_again_and_again)
{
	struct rclink_remote remote[SLOTS], none;
	uint32_t i, round;

	remote[0] = self->r.remote;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 1; i < SLOTS; i++)
			ASSERT_EQ(0, import(&self->r, &remote[i]));
		EXPECT_EQ(-ENOSPC, import(&self->r, &none));
		/* One free slot in the middle is enough. */
		ASSERT_EQ(0, rclink_release(self->r.near, &remote[7]));
		ASSERT_EQ(0, import(&self->r, &remote[7]));
		for (i = 1; i < SLOTS; i++) {
			self->r.remote = remote[i];
			EXPECT_EQ(0, i % 9 ? 0 : rig_moves(&self->r, i));
			ASSERT_EQ(0, rclink_release(self->r.near, &remote[i]));
		}
	}
}

TEST_F(channel, what_is_in_flight_goes_on)
{
	struct rig *r = &self->r;
	uint32_t i, round;

	for (round = 0; round < ROUNDS; round++) {
		far_fill(r->far_memory, round, RIG_MOVED);
		memset(r->near_memory, 0xee, RIG_MOVED);
		for (i = 0; i < FLIGHT; i++)
			ASSERT_EQ(0, rclink_read(r->near, piece(r), &r->remote,
						 0, i == FLIGHT - 1 ?
						 RCLINK_SQE_SIGNALED : 0, i));
		ASSERT_EQ(FLIGHT, rclink_submit(r->near, 0, 0));
		ASSERT_EQ(0, rclink_release(r->near, &r->remote));
		EXPECT_TRUE(is_stale(r, &r->remote));
		EXPECT_EQ(0, rig_completes(r->near));
		EXPECT_TRUE(far_is(r->near_memory, round, RIG_MOVED));
		ASSERT_EQ(0, import(r, &r->remote));
	}
}

static int lend(struct rig *r, void **memory, uint32_t *region)
{
	return rclink_memory(r->far, memory, PAGE, "brief",
			     RCLINK_REGION_READ | RCLINK_REGION_INVALIDATE,
			     region);
}

/* Both imports share a registration, which some devices would end twice. */
TEST_F(channel, both_handles_are_over_when_the_region_is_ended)
{
	struct rig *r = &self->r;
	struct rclink_remote brief[2];
	struct rclink_dev_cqe cqe;
	uint32_t region, i;
	void *memory;

	ASSERT_EQ(0, lend(r, &memory, &region));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, rclink_import(r->near, "brief", &brief[i]));
		ASSERT_EQ(0, rclink_recv(r->far, rclink_none(), i));
		ASSERT_EQ(0, rclink_send_inv(r->near, rclink_none(), &brief[i],
					     RCLINK_SQE_SIGNALED, i));
	}
	ASSERT_EQ(2, rclink_submit(r->far, 0, 0));
	EXPECT_EQ(1, rclink_submit(r->near, 0, 0));
	EXPECT_EQ(-ESTALE, rclink_submit(r->near, 0, 0));
	EXPECT_EQ(0, rig_completes(r->near));
	EXPECT_EQ(0, rclink_submit(r->far, 1, slow(DONE_MS)));
	ASSERT_EQ(1, rclink_reap(r->far, &cqe, 1));
	EXPECT_EQ(RCLINK_CQE_INVALIDATED, cqe.flags);
	EXPECT_EQ(region, cqe.imm);
	/* The link goes on. */
	EXPECT_EQ(0, rig_moves(r, 1));
	EXPECT_EQ(0, rclink_withdraw(r->far, region));
	EXPECT_EQ(0, munmap(memory, PAGE));
}

/* Another channel of the same link, of which the test uses only one end */
static int open_other(struct rig *r, struct rclink_chan **near, int *far)
{
	int fd = rig_device();
	int ret = fd < 0 ? fd : rig_connect(fd, RCLINK_CONNECT_WAIT);

	if (ret)
		return ret;
	*far = rig_accept(r);
	return *far < 0 ? *far : rclink_adopt(near, fd);
}

/* Any use of the ended region's key would end the channel. */
TEST_F(channel, nobody_finds_a_region_that_was_ended)
{
	struct rig *r = &self->r;
	struct rclink_remote brief;
	struct rclink_chan *other;
	struct rclink_dev_cqe cqe;
	uint32_t region, none;
	void *memory, *more;
	int far;

	ASSERT_EQ(0, open_other(r, &other, &far));
	ASSERT_EQ(0, lend(r, &memory, &region));
	ASSERT_EQ(0, rclink_import(r->near, "brief", &brief));
	ASSERT_EQ(0, rclink_recv(r->far, rclink_none(), 0));
	ASSERT_EQ(1, rclink_submit(r->far, 0, 0));
	ASSERT_EQ(0, rclink_send_inv(r->near, rclink_none(), &brief, 0, 0));
	ASSERT_EQ(1, rclink_submit(r->near, 0, 0));
	EXPECT_EQ(0, rclink_submit(r->far, 1, slow(DONE_MS)));
	ASSERT_EQ(1, rclink_reap(r->far, &cqe, 1));
	EXPECT_EQ(RCLINK_CQE_INVALIDATED, cqe.flags);

	EXPECT_EQ(-ENOENT, rclink_import(r->near, "brief", &brief));
	EXPECT_EQ(-ENOENT, rclink_import(other, "brief", &brief));
	/* The owner has the name until the withdrawal. */
	EXPECT_EQ(-EEXIST, lend(r, &more, &none));
	EXPECT_EQ(0, rclink_withdraw(r->far, region));
	EXPECT_EQ(0, lend(r, &more, &region));
	EXPECT_EQ(0, rclink_import(other, "brief", &brief));
	EXPECT_EQ(0, rig_moves(r, 1));
	rclink_close(other);
	close(far);
	EXPECT_EQ(0, munmap(memory, PAGE));
	EXPECT_EQ(0, munmap(more, PAGE));
}

TEST_F(channel, nonsense_is_refused)
{
	const uint32_t handles[] = { 0, 1, 63, 64, 255, 256, UINT32_MAX };
	struct rclink_remote remote = self->r.remote;
	uint32_t i;

	for (i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		remote.handle = self->r.remote.handle ^ handles[i];
		if (handles[i])
			EXPECT_EQ(-ESTALE, rclink_release(self->r.near,
							  &remote));
	}
	/* Handles of regions and of the other end are not imports. */
	remote.handle = self->r.near_region;
	EXPECT_EQ(-ESTALE, rclink_release(self->r.far, &remote));
	EXPECT_EQ(-ESTALE, rclink_release(self->r.far, &self->r.remote));
	EXPECT_EQ(0, rig_moves(&self->r, 1));
}

TEST_F(channel, when_it_is_over)
{
	struct rclink_dev_cqe cqe;
	struct rclink_remote none;

	rclink_close(self->r.far);
	self->r.far = NULL;
	while (rclink_submit(self->r.near, 1, 0) >= 0)
		rclink_reap(self->r.near, &cqe, 1);
	EXPECT_EQ(-ECONNRESET, import(&self->r, &none));
	EXPECT_EQ(0, rclink_release(self->r.near, &self->r.remote));
	EXPECT_EQ(-ESTALE, rclink_release(self->r.near, &self->r.remote));
}

TEST_HARNESS_MAIN
