// SPDX-License-Identifier: GPL-2.0
/*
 * Regions that one registration of the device is too small for, and operations
 * across the places where the next one begins, at either end. The far end is
 * the program far; the link is l.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "far.h"
#include "near.h"

#define LINK		"l"
#define PAGE		4096
#define NEAR_AT		333		/* in its first page */
#define NUM(a)		(sizeof(a) / sizeof((a)[0]))
#define KIB		1024

/* Where extent number i begins: rxe registers 512 pages at once. */
#define EXTENT		(2 << 20)
#define FAR_EXTENT(i)	((i) * EXTENT - FAR_BIG_AT)
#define NEAR_EXTENT(i)	((i) * EXTENT - NEAR_AT)

/* Of enum ib_wc_status. */
#define FLUSHED		5
#define REMOTE_ACCESS	10

static const struct {
	uint32_t far, near, size;
} moves[] = {
	/* Up to a place, from it on, and across it, at the far end. */
	{ FAR_EXTENT(1) - 4096, 0, 4096 },
	{ FAR_EXTENT(1), 0, 4096 },
	{ FAR_EXTENT(1) - 1, 0, 2 },
	{ FAR_EXTENT(2) - 50000, 7, 100000 },
	/* At this end. */
	{ 100, NEAR_EXTENT(1) - 4096, 4096 },
	{ 100, NEAR_EXTENT(1), 4096 },
	{ 100, NEAR_EXTENT(1) - 1, 2 },
	{ 5000, NEAR_EXTENT(2) - 30000, 65536 },
	/* Both at once, or one before the other. */
	{ FAR_EXTENT(1) - 1000, NEAR_EXTENT(1) - 1000, 3000 },
	{ FAR_EXTENT(2) - 1000, NEAR_EXTENT(3) - 2000, 3000 },
	{ FAR_EXTENT(2) - 2000, NEAR_EXTENT(3) - 1000, 3000 },
	/* Several, the end of the region, and as many as there may be. */
	{ 33, 44, 5 << 20 },
	{ FAR_EXTENT(8) - 1, 1, FAR_BIG_SIZE - FAR_EXTENT(8) + 1 },
	{ 0, 0, FAR_EXTENT(8) },
};

FIXTURE(chan)
{
	struct rclink_chan *chan;
	struct near near;
	uint8_t *memory;
	uint32_t region;
	struct rclink_remote far;
};

static long pinned(void)
{
	char line[128];
	long kib = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmPin: %ld kB", &kib);
	if (f)
		fclose(f);
	return kib;
}

#define TELL(...) \
	ASSERT_EQ(0, near_tells(&self->near, (struct order) { __VA_ARGS__ }))

FIXTURE_SETUP(chan)
{
	ASSERT_EQ(0, rclink_connect(&self->chan, LINK, FAR_SERVICE,
				    RCLINK_CONNECT_WAIT));
	ASSERT_EQ(0, near_greet(&self->near, self->chan));
	TELL(.what = FAR_GROW);
	self->memory = mmap(NULL, FAR_BIG_SIZE + PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->memory);
	self->memory += NEAR_AT;
	ASSERT_EQ(0, rclink_region(self->chan, self->memory, FAR_BIG_SIZE,
				   NULL, 0, &self->region));
	ASSERT_EQ(0, rclink_import(self->chan, FAR_BIG, &self->far));
	EXPECT_EQ(FAR_BIG_SIZE, self->far.len);
}

FIXTURE_TEARDOWN(chan)
{
	rclink_close(self->chan);
}

static void good(struct __test_metadata *_metadata,
		 struct _test_data_chan *self, unsigned int op, uint64_t tag,
		 uint32_t len)
{
	struct rclink_dev_cqe cqe;

	ASSERT_EQ(0, near_next(&self->near, &cqe));
	ASSERT_EQ(0, cqe.status)
		TH_LOG("%s: %s", rclink_op_name(cqe.op),
		       rclink_status_name(cqe.status));
	EXPECT_EQ(op, cqe.op);
	EXPECT_EQ(tag, cqe.user_data);
	EXPECT_EQ(len, cqe.len);
}

#define GOOD(op, tag, len) \
	good(_metadata, self, RCLINK_OP_##op, tag, len)

TEST_F_TIMEOUT(chan, write_across_extents, 120)
{
	uint32_t i;

	for (i = 0; i < NUM(moves); i++) {
		uint32_t size = moves[i].size;

		far_fill(self->memory + moves[i].near, i, size);
		ASSERT_EQ(0, rclink_write(self->chan,
					  rclink_piece(self->region,
						       moves[i].near, size),
					  &self->far, moves[i].far,
					  RCLINK_SQE_SIGNALED, i));
		GOOD(WRITE, i, size);
		TELL(.what = FAR_CHECK, .offset = moves[i].far, .size = size,
		     .seed = i);
	}
}

TEST_F_TIMEOUT(chan, read_across_extents, 120)
{
	uint32_t i;

	for (i = 0; i < NUM(moves); i++) {
		uint8_t *to = self->memory + moves[i].near;
		uint32_t size = moves[i].size;

		TELL(.what = FAR_FILL, .offset = moves[i].far, .size = size,
		     .seed = i + 50);
		memset(self->memory, 0, FAR_BIG_SIZE);
		ASSERT_EQ(0, rclink_read(self->chan,
					 rclink_piece(self->region,
						      moves[i].near, size),
					 &self->far, moves[i].far,
					 RCLINK_SQE_SIGNALED, i));
		GOOD(READ, i, size);
		EXPECT_TRUE(far_is(to, i + 50, size))
			TH_LOG("%u", i);
		/* Nothing beside it. */
		EXPECT_EQ(0, to[size]);
		if (moves[i].near)
			EXPECT_EQ(0, to[-1]);
	}
}

TEST_F_TIMEOUT(chan, write_with_immediate_across_extents, 120)
{
	struct answer answer;
	uint32_t i;

	for (i = 0; i < NUM(moves); i++) {
		uint32_t size = moves[i].size;

		far_fill(self->memory + moves[i].near, i + 9, size);
		TELL(.what = FAR_RECV, .offset = moves[i].far, .size = size,
		     .seed = i + 9);
		ASSERT_EQ(0, near_listens(&self->near));
		ASSERT_EQ(0, rclink_write_imm(self->chan,
					      rclink_piece(self->region,
							   moves[i].near, size),
					      &self->far, moves[i].far, ~i, 0,
					      i));
		/* All of it was there when that came. */
		ASSERT_EQ(0, near_hears(&self->near, &answer))
			TH_LOG("%u", i);
		EXPECT_EQ(RCLINK_CQE_IMM, answer.flags);
		EXPECT_EQ(~i, answer.imm);
		EXPECT_LT(0, answer.len);
		EXPECT_GE(size, answer.len);
	}
}

/* The receive begins at the begin of the far region. */
TEST_F_TIMEOUT(chan, send_across_extents, 120)
{
	static const uint32_t sizes[] = {
		4096, FAR_EXTENT(1), FAR_EXTENT(1) + 1, 5 << 20,
	};
	uint32_t i, near = NEAR_EXTENT(2) - 1000;
	struct answer answer;

	for (i = 0; i < NUM(sizes); i++) {
		far_fill(self->memory + near, i, sizes[i]);
		TELL(.what = FAR_RECV, .post = sizes[i], .size = sizes[i],
		     .seed = i);
		ASSERT_EQ(0, near_listens(&self->near));
		ASSERT_EQ(0, rclink_send(self->chan,
					 rclink_piece(self->region, near,
						      sizes[i]), 0, 0));
		ASSERT_EQ(0, near_hears(&self->near, &answer));
		EXPECT_EQ(sizes[i], answer.len);
	}
}

TEST_F_TIMEOUT(chan, receive_across_extents, 120)
{
	uint32_t i, size = 5 << 20;
	struct rclink_dev_sge sge[RCLINK_DEV_SGE_MAX];
	struct order order = { .what = FAR_SEND, .size = size, .seed = 3 };
	struct answer answer;

	/* Each piece in two extents: that is as many parts as there may be. */
	for (i = 0; i < NUM(sge); i++) {
		sge[i].region = self->region;
		sge[i].offset = NEAR_EXTENT(2 * i + 1) - size / 8;
		sge[i].len = size / 4;
	}
	ASSERT_EQ(0, near_listens(&self->near));
	ASSERT_EQ(0, rclink_recv(self->chan, rclink_pieces(sge, NUM(sge)), 7));
	ASSERT_EQ(0, rclink_send(self->chan,
				 rclink_bytes(&order, sizeof(order)), 0, 0));
	ASSERT_EQ(0, near_hears(&self->near, &answer));
	GOOD(RECV, 7, size);
	for (i = 0; i < size; i++)
		ASSERT_EQ(far_byte(3, i),
			  self->memory[sge[i / (size / 4)].offset +
				       i % (size / 4)]);
}

TEST_F(chan, inline_write_and_atomics_at_the_end_of_an_extent)
{
	uint64_t *old = (void *)(self->memory + 8 - NEAR_AT % 8);
	uint8_t bytes[RCLINK_DEV_INLINE_MAX];
	struct rclink_data to;

	far_fill(bytes, 5, sizeof(bytes));
	ASSERT_EQ(0, rclink_write(self->chan,
				  rclink_bytes(bytes, sizeof(bytes)),
				  &self->far, FAR_EXTENT(3) - 13,
				  RCLINK_SQE_SIGNALED, 1));
	GOOD(WRITE, 1, sizeof(bytes));
	TELL(.what = FAR_CHECK, .offset = FAR_EXTENT(3) - 13,
	     .size = sizeof(bytes), .seed = 5);

	TELL(.what = FAR_POKE, .offset = FAR_EXTENT(4) - 8, .value = 41);
	to = rclink_piece(self->region, (uint8_t *)old - self->memory, 8);
	ASSERT_EQ(0, rclink_fadd(self->chan, to, &self->far, FAR_EXTENT(4) - 8,
				 1, RCLINK_SQE_SIGNALED, 2));
	GOOD(FADD, 2, 8);
	EXPECT_EQ(41, *old);
	to = rclink_piece(self->region, NEAR_EXTENT(1) - 1, 8);
	ASSERT_EQ(0, rclink_fadd(self->chan, to, &self->far, FAR_EXTENT(4) - 8,
				 1, 0, 3));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(self->chan, 0, 0));
}

/* Two parts each, and many more than can be in flight. */
TEST_F(chan, parts_count_as_operations_in_flight)
{
	uint32_t i, done = 0, offset;
	struct rclink_dev_cqe cqe;
	int ret;

	for (i = 0; i < 100; i++) {
		far_fill(self->memory + i * 64, i, 64);
		offset = FAR_EXTENT(1 + i % 8) - 2 - i % 60;
		ASSERT_EQ(0, rclink_write(self->chan,
					  rclink_piece(self->region, i * 64,
						       64),
					  &self->far, offset,
					  RCLINK_SQE_SIGNALED, i));
	}
	while (done < 100) {
		ret = rclink_submit(self->chan, 0, 0);
		ASSERT_TRUE(ret >= 0 || ret == -EBUSY);
		while (rclink_reap(self->chan, &cqe, 1) == 1) {
			ASSERT_EQ(0, cqe.status);
			ASSERT_EQ(done, cqe.user_data);
			done++;
		}
	}
	for (i = 92; i < 100; i++)
		TELL(.what = FAR_CHECK, .size = 64, .seed = i,
		     .offset = FAR_EXTENT(1 + i % 8) - 2 - i % 60);
}

TEST_F(chan, what_touches_too_many_extents_is_refused)
{
	struct rclink_data all = rclink_piece(self->region, 0, FAR_BIG_SIZE);
	struct rclink_chan *c = self->chan;

	ASSERT_EQ(0, rclink_write(c, all, &self->far, 0, 0, 0));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(c, 0, 0));
	ASSERT_EQ(0, rclink_read(c, all, &self->far, 0, 0, 0));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(c, 0, 0));
	ASSERT_EQ(0, rclink_send(c, all, 0, 0));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(c, 0, 0));
	ASSERT_EQ(0, rclink_recv(c, all, 0));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(c, 0, 0));
	/* Too many of the peer's alone. */
	ASSERT_EQ(0, rclink_write(c, rclink_piece(self->region, NEAR_EXTENT(1),
						  FAR_EXTENT(8) - EXTENT),
				  &self->far, EXTENT, RCLINK_SQE_SIGNALED, 1));
	GOOD(WRITE, 1, FAR_EXTENT(8) - EXTENT);
	TELL(.what = FAR_PEEK);
}

TEST_F(chan, what_cannot_be_registered)
{
	uint32_t region;

	/* One key is all that a message can end. */
	EXPECT_EQ(-EOPNOTSUPP,
		  rclink_region(self->chan, self->memory, FAR_BIG_SIZE, "x",
				RCLINK_REGION_READ | RCLINK_REGION_INVALIDATE,
				&region));
	EXPECT_EQ(-EMSGSIZE,
		  rclink_region(self->chan, self->memory, 4096ULL * EXTENT,
				NULL, 0, &region));
	EXPECT_EQ(-EFAULT,
		  rclink_region(self->chan, self->memory, 4095ULL * EXTENT,
				NULL, 0, &region));
	/* A name that is taken is found last: all before is undone. */
	EXPECT_EQ(0, rclink_region(self->chan, self->memory, PAGE, "x",
				   RCLINK_REGION_READ, &region));
	EXPECT_EQ(-EEXIST,
		  rclink_region(self->chan, self->memory, FAR_BIG_SIZE, "x",
				RCLINK_REGION_READ, &region));
	TELL(.what = FAR_PEEK);
}

/* Each operation fails once, however many parts it has. */
TEST_F(chan, a_region_that_was_withdrawn)
{
	struct rclink_dev_cqe cqe;
	uint64_t i;

	TELL(.what = FAR_WITHDRAW);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, rclink_write(self->chan,
					  rclink_piece(self->region, 0,
						       5 << 20),
					  &self->far, i,
					  i % 2 ? RCLINK_SQE_SIGNALED : 0, i));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, near_next(&self->near, &cqe));
		EXPECT_EQ(i, cqe.user_data);
		EXPECT_EQ(i ? FLUSHED : REMOTE_ACCESS, cqe.status);
	}
	EXPECT_EQ(-ECONNRESET, near_next(&self->near, &cqe));
}

TEST_F_TIMEOUT(chan, a_gigabyte_of_the_peer, 120)
{
	uint64_t at[] = { 0, 109ULL * EXTENT - 5000, 255ULL * EXTENT + 8,
			  511ULL * EXTENT - 1, FAR_GIANT_SIZE - 10000 };
	struct rclink_remote giant;
	uint32_t i;

	TELL(.what = FAR_SWELL);
	ASSERT_EQ(0, rclink_import(self->chan, FAR_GIANT, &giant));
	EXPECT_EQ(FAR_GIANT_SIZE, giant.len);
	for (i = 0; i < NUM(at); i++) {
		far_fill(self->memory, i, 10000);
		ASSERT_EQ(0, rclink_write(self->chan,
					  rclink_piece(self->region, 0, 10000),
					  &giant, at[i], RCLINK_SQE_SIGNALED,
					  i));
		GOOD(WRITE, i, 10000);
		TELL(.what = FAR_CHECK, .offset = at[i], .size = 10000,
		     .seed = i);
	}
}

TEST_F(chan, locked_memory_is_counted_exactly)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	long base, pages = (FAR_BIG_SIZE + NEAR_AT + PAGE - 1) / PAGE;
	struct rlimit limit;
	uint32_t region, i;

	base = pinned();
	EXPECT_LE(pages * PAGE / KIB, base);
	ASSERT_EQ(0, rclink_withdraw(self->chan, self->region));
	EXPECT_EQ(base - pages * PAGE / KIB, pinned());
	base = pinned();

	limit.rlim_cur = base * KIB + pages * PAGE;
	limit.rlim_max = limit.rlim_cur;
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setuid(65534));
	EXPECT_EQ(0, rclink_region(self->chan, self->memory, FAR_BIG_SIZE,
				   NULL, 0, &region));
	EXPECT_EQ(0, rclink_withdraw(self->chan, region));
	limit.rlim_cur -= PAGE;
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	EXPECT_EQ(-EDQUOT, rclink_region(self->chan, self->memory, FAR_BIG_SIZE,
					 NULL, 0, &region));
	EXPECT_EQ(base, pinned());

	rclink_close(self->chan);
	self->chan = NULL;
	for (i = 0; i < 200 && pinned(); i++)
		nanosleep(&pause, NULL);
	EXPECT_EQ(0, pinned());
}

TEST_HARNESS_MAIN
