// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of more than one extent, and operations across the borders of extents
 * at either end. The far end is the program far; the link is l.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "far.h"
#include "harness.h"
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
#define LOCAL_PROTECTION 4
#define FLUSHED		5
#define REMOTE_ACCESS	10

static const struct {
	uint32_t far, near, size;
} moves[] = {
	/* Up to the start of an extent, from it on, and across: far end. */
	{ FAR_EXTENT(1) - 4096, 0, 4096 },
	{ FAR_EXTENT(1), 0, 4096 },
	{ FAR_EXTENT(1) - 1, 0, 2 },
	{ FAR_EXTENT(2) - 50000, 7, 100000 },
	/* The same at this end. */
	{ 100, NEAR_EXTENT(1) - 4096, 4096 },
	{ 100, NEAR_EXTENT(1), 4096 },
	{ 100, NEAR_EXTENT(1) - 1, 2 },
	{ 5000, NEAR_EXTENT(2) - 30000, 65536 },
	/* Borders at both ends: at the same offset, or one before the other. */
	{ FAR_EXTENT(1) - 1000, NEAR_EXTENT(1) - 1000, 3000 },
	{ FAR_EXTENT(2) - 1000, NEAR_EXTENT(3) - 2000, 3000 },
	{ FAR_EXTENT(2) - 2000, NEAR_EXTENT(3) - 1000, 3000 },
	/* Several extents, the end of the region, and as many as allowed. */
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
		/* Nothing is written beside it. */
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
		EXPECT_EQ(RCLINK_CQE_IMM | RCLINK_CQE_WRITTEN, answer.flags);
		EXPECT_EQ(~i, answer.imm);
		EXPECT_LT(0, answer.len);
		EXPECT_GE(size, answer.len);
	}
}

/* The far end receives at the start of its region. */
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

	/* Each piece spans two extents: that makes as many parts as allowed. */
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

/* Writes of two parts each, many more than can be in flight. */
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
	int i;

	ASSERT_EQ(0, rclink_write(c, all, &self->far, 0, 0, 0));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(c, 0, 0));
	ASSERT_EQ(0, rclink_read(c, all, &self->far, 0, 0, 0));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(c, 0, 0));
	ASSERT_EQ(0, rclink_send(c, all, 0, 0));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(c, 0, 0));
	ASSERT_EQ(0, rclink_recv(c, all, 0));
	EXPECT_EQ(-EMSGSIZE, rclink_submit(c, 0, 0));
	/* Too many at one end only, and as many as allowed at both. */
	for (i = 0; i < 3; i++) {
		all = rclink_piece(self->region, NEAR_EXTENT(1) - (i == 1),
				   7 * EXTENT + 2);
		ASSERT_EQ(0, rclink_write(c, all, &self->far,
					  FAR_EXTENT(1) - (i == 0),
					  RCLINK_SQE_SIGNALED, 1));
		EXPECT_EQ(i < 2 ? -EMSGSIZE : 1, rclink_submit(c, 0, 0));
	}
	GOOD(WRITE, 1, 7 * EXTENT + 2);
}

TEST_F(chan, what_cannot_be_registered)
{
	uint32_t region;

	/* A message can invalidate one key only, so one extent. */
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
	/* A name in use is noticed last: what was done before is undone. */
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
	uint32_t region;
	int i;

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
	for (i = 0; i < slow(200) && pinned(); i++)
		nanosleep(&pause, NULL);
	EXPECT_EQ(0, pinned());
}

/* Replace the near region by one of memory of the kernel. */
static uint8_t *kernel_memory(struct __test_metadata *_metadata,
			      struct _test_data_chan *self, uint64_t len)
{
	void *addr = NULL;

	ASSERT_EQ(0, rclink_withdraw(self->chan, self->region));
	ASSERT_EQ(0, rclink_memory(self->chan, &addr, len, NULL, 0,
				   &self->region));
	return addr;
}

#define BIG_PAGES	((FAR_BIG_SIZE + PAGE - 1) / PAGE)
#define MOVED		(5 << 20)	/* bytes each way */
#define MOVED_AT	(EXTENT - 1000)
#define MOVED_END	(MOVED_AT + 2 * MOVED)

/* WRITE from the near region, which is at m, and READ into it. */
static void moves_both_ways(struct __test_metadata *_metadata,
			    struct _test_data_chan *self, uint8_t *m)
{
	far_fill(m + MOVED_AT, 7, MOVED);
	ASSERT_EQ(0, rclink_write(self->chan,
				  rclink_piece(self->region, MOVED_AT, MOVED),
				  &self->far, 77, RCLINK_SQE_SIGNALED, 1));
	GOOD(WRITE, 1, MOVED);
	TELL(.what = FAR_CHECK, .offset = 77, .size = MOVED, .seed = 7);
	TELL(.what = FAR_FILL, .offset = 99, .size = MOVED, .seed = 8);
	ASSERT_EQ(0, rclink_read(self->chan,
				 rclink_piece(self->region, MOVED_AT + MOVED,
					      MOVED),
				 &self->far, 99, RCLINK_SQE_SIGNALED, 2));
	GOOD(READ, 2, MOVED);
	EXPECT_TRUE(far_is(m + MOVED_AT + MOVED, 8, MOVED));
	EXPECT_TRUE(far_is(m + MOVED_AT, 7, MOVED));
}

TEST_F_TIMEOUT(chan, memory_of_the_kernel, 120)
{
	uint8_t *m = kernel_memory(_metadata, self, BIG_PAGES * PAGE);
	uint32_t i;

	for (i = 0; i < BIG_PAGES; i++)
		ASSERT_EQ(0, m[i * PAGE + i % PAGE]);
	moves_both_ways(_metadata, self, m);
}

static void other_memory(struct __test_metadata *_metadata,
			 struct _test_data_chan *self, uint8_t *m)
{
	ASSERT_EQ(0, rclink_withdraw(self->chan, self->region));
	ASSERT_EQ(0, rclink_region(self->chan, m, MOVED_END, NULL, 0,
				   &self->region));
}

TEST_F_TIMEOUT(chan, huge_pages, 120)
{
	long base = pinned();
	uint8_t *m = mmap(NULL, 6 * EXTENT, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	ASSERT_NE(MAP_FAILED, m)
		TH_LOG("%m: see /proc/sys/vm/nr_hugepages");
	other_memory(_metadata, self, m + NEAR_AT);
	moves_both_ways(_metadata, self, m + NEAR_AT);
	ASSERT_EQ(0, rclink_withdraw(self->chan, self->region));
	EXPECT_GT(base, pinned());
	EXPECT_EQ(0, munmap(m, 6 * EXTENT));
}

/* A child reads what came in, and what the child writes is sent. */
TEST_F_TIMEOUT(chan, memory_that_processes_share, 120)
{
	uint8_t *m = mmap(NULL, 6 * EXTENT, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	ASSERT_NE(MAP_FAILED, m);
	other_memory(_metadata, self, m);
	moves_both_ways(_metadata, self, m);
	if (!fork()) {
		status = far_is(m + MOVED_AT + MOVED, 8, MOVED);
		far_fill(m, 9, PAGE);
		_exit(!status);
	}
	ASSERT_LT(0, wait(&status));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, rclink_write(self->chan,
				  rclink_piece(self->region, 0, PAGE),
				  &self->far, 0, RCLINK_SQE_SIGNALED, 3));
	GOOD(WRITE, 3, PAGE);
	TELL(.what = FAR_CHECK, .size = PAGE, .seed = 9);
}

/* Withdrawing ends what is in flight; no data comes in afterwards. */
TEST_F(chan, memory_that_is_withdrawn_while_it_is_read_into)
{
	struct rclink_dev_cqe cqe;

	ASSERT_EQ(0, rclink_read(self->chan,
				 rclink_piece(self->region, 0, FAR_EXTENT(8)),
				 &self->far, 0, RCLINK_SQE_SIGNALED, 4));
	ASSERT_EQ(1, rclink_submit(self->chan, 0, 0));
	ASSERT_EQ(0, rclink_withdraw(self->chan, self->region));
	memset(self->memory, 0x55, FAR_BIG_SIZE);
	ASSERT_EQ(0, near_next(&self->near, &cqe));
	EXPECT_EQ(LOCAL_PROTECTION, cqe.status)
		TH_LOG("%s", rclink_status_name(cqe.status));
	EXPECT_EQ(4, cqe.user_data);
	EXPECT_EQ(0x55, self->memory[0]);
	EXPECT_EQ(0, memcmp(self->memory, self->memory + 1, FAR_BIG_SIZE - 1));
	/* The peer is not told, so the channel stays, but is of no use. */
	ASSERT_EQ(0, rclink_write(self->chan, rclink_bytes("x", 1), &self->far,
				  0, RCLINK_SQE_SIGNALED, 5));
	ASSERT_EQ(0, near_next(&self->near, &cqe));
	EXPECT_EQ(FLUSHED, cqe.status);
}

/* Parent and child see the same memory before and after the region ends. */
TEST_F(chan, memory_of_the_kernel_is_shared_with_a_child)
{
	uint8_t *m = kernel_memory(_metadata, self, 4 * PAGE);
	int up[2], down[2], status;
	pid_t pid;
	char c = 0;

	ASSERT_EQ(0, pipe(up));
	ASSERT_EQ(0, pipe(down));
	TELL(.what = FAR_FILL, .size = PAGE, .seed = 1);
	pid = fork();
	if (!pid) {
		far_fill(m + PAGE, 2, PAGE);
		if (write(up[1], &c, 1) != 1 || read(down[0], &c, 1) != 1)
			_exit(1);
		_exit(!far_is(m, 1, PAGE));
	}
	ASSERT_EQ(1, read(up[0], &c, 1));
	ASSERT_EQ(0, rclink_write(self->chan,
				  rclink_piece(self->region, PAGE, PAGE),
				  &self->far, PAGE, 0, 1));
	ASSERT_EQ(0, rclink_read(self->chan,
				 rclink_piece(self->region, 0, PAGE),
				 &self->far, 0, RCLINK_SQE_SIGNALED, 2));
	GOOD(READ, 2, PAGE);
	TELL(.what = FAR_CHECK, .offset = PAGE, .size = PAGE, .seed = 2);
	ASSERT_EQ(0, rclink_withdraw(self->chan, self->region));
	rclink_close(self->chan);
	self->chan = NULL;
	EXPECT_TRUE(far_is(m, 1, PAGE));
	ASSERT_EQ(1, write(down[1], &c, 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* The peer and the device can still use it. */
TEST_F_TIMEOUT(chan, memory_of_the_kernel_that_is_not_mapped_any_more, 60)
{
	uint8_t *m = kernel_memory(_metadata, self, BIG_PAGES * PAGE);
	uint32_t size = 5 << 20;

	far_fill(m, 3, size);
	ASSERT_EQ(0, rclink_write(self->chan,
				  rclink_piece(self->region, 0, size),
				  &self->far, 0, RCLINK_SQE_SIGNALED, 1));
	ASSERT_EQ(1, rclink_submit(self->chan, 0, 0));
	ASSERT_EQ(0, munmap(m, BIG_PAGES * PAGE));
	GOOD(WRITE, 1, size);
	TELL(.what = FAR_CHECK, .size = size, .seed = 3);
	/* The channel ends although its memory is still mapped. */
	m = kernel_memory(_metadata, self, PAGE);
	rclink_close(self->chan);
	ASSERT_EQ(0, rclink_connect(&self->chan, LINK, FAR_SERVICE,
				    RCLINK_CONNECT_WAIT));
	*m = 1;
}

TEST_F(chan, memory_of_the_kernel_is_counted)
{
	long base = pinned() - (FAR_BIG_SIZE + NEAR_AT + PAGE - 1) / PAGE *
		    PAGE / KIB;
	struct rlimit limit;
	uint32_t region;
	void *addr;

	kernel_memory(_metadata, self, 3 * PAGE);
	EXPECT_EQ(base + 3 * PAGE / KIB, pinned());
	ASSERT_EQ(0, rclink_withdraw(self->chan, self->region));
	EXPECT_EQ(base, pinned());
	EXPECT_EQ(-EINVAL, rclink_memory(self->chan, &addr, PAGE + 1, NULL, 0,
					 &region));
	EXPECT_EQ(-EINVAL, rclink_memory(self->chan, &addr, 0, NULL, 0,
					 &region));
	EXPECT_EQ(-EMSGSIZE, rclink_memory(self->chan, &addr,
					   4097ULL * EXTENT, NULL, 0,
					   &region));
	limit.rlim_cur = base * KIB + 3 * PAGE;
	limit.rlim_max = limit.rlim_cur;
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setuid(65534));
	EXPECT_EQ(-EDQUOT, rclink_memory(self->chan, &addr, 4 * PAGE, NULL, 0,
					 &region));
	EXPECT_EQ(0, rclink_memory(self->chan, &addr, 3 * PAGE, NULL, 0,
				   &region));
}

/* Offsets at which there is no region cannot be mapped. */
TEST_F(chan, offsets_that_are_none)
{
	int fd = rclink_fd(self->chan), rw = PROT_READ | PROT_WRITE;
	uint64_t slot;

	kernel_memory(_metadata, self, PAGE);
	for (slot = 0; slot < 70; slot++) {
		void *addr = mmap(NULL, 2 * PAGE, rw, MAP_SHARED, fd,
				  (slot + 1) << 37);

		ASSERT_EQ(MAP_FAILED, addr);
		addr = mmap(NULL, PAGE, rw, MAP_SHARED, fd,
			    ((slot + 1) << 37) - (1ULL << 36));
		ASSERT_EQ(MAP_FAILED, addr);
	}
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, rw, MAP_SHARED, fd, -PAGE));
}

TEST_HARNESS_MAIN
