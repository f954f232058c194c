// SPDX-License-Identifier: GPL-2.0
/*
 * Every operation at the sizes where something changes, with data that both
 * ends check, and every error that can be provoked under its own name. The far
 * end is the program far; the link is l.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "common.h"
#include "far.h"
#include "harness.h"

#define LINK		"l"
#define PAGE		4096
#define ANSWER_TAG	1000
#define NUM(a)		(sizeof(a) / sizeof((a)[0]))
#define NS_PER_S	1000000000ULL

/* Of enum ib_wc_status. */
#define LOCAL_LENGTH	1
#define LOCAL_QP	2
#define FLUSHED		5
#define REMOTE_INVALID	9
#define REMOTE_ACCESS	10
#define REMOTE_OP	11
#define RNR_EXCEEDED	13

static const uint32_t sizes[] = {
	0, 1, 1023, 1024, 1025, 4095, 4096, 4097, 65536, 1 << 20,
};

FIXTURE(chan)
{
	struct rclink_chan *chan;
	uint8_t *memory, *page;		/* page: answers, and FAR_NEAR */
	uint32_t memory_region, page_region, near_region;
	struct rclink_remote far;
	bool polled;
};

FIXTURE_VARIANT(chan)
{
	unsigned int flags;
};

FIXTURE_VARIANT_ADD(chan, events) {
	.flags = RCLINK_CONNECT_WAIT,
};

FIXTURE_VARIANT_ADD(chan, polled) {
	.flags = RCLINK_CONNECT_WAIT | RCLINK_CHAN_POLLED,
};

/* One completion, waited for in a call or by poll(). */
static struct rclink_dev_cqe next(struct __test_metadata *_metadata,
				  struct _test_data_chan *self)
{
	struct rclink_dev_cqe cqe = { 0 };
	struct pollfd fd = { .fd = rclink_fd(self->chan), .events = POLLIN };
	int ret;

	ret = rclink_submit(self->chan, self->polled, slow(20000));
	ASSERT_LE(0, ret)
		TH_LOG("submit: %s", strerror(-ret));
	while (!self->polled && !rclink_reap(self->chan, &cqe, 1)) {
		ASSERT_EQ(1, poll(&fd, 1, slow(20000)));
		ASSERT_TRUE(fd.revents & POLLIN);
	}
	if (self->polled)
		ASSERT_EQ(1, rclink_reap(self->chan, &cqe, 1));
	return cqe;
}

/* The next completion must be of this operation, and successful. */
static struct rclink_dev_cqe good(struct __test_metadata *_metadata,
				  struct _test_data_chan *self,
				  unsigned int op, uint64_t tag, uint32_t len)
{
	struct rclink_dev_cqe cqe = next(_metadata, self);
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ASSERT_EQ(0, cqe.status)
		TH_LOG("%s: %s", rclink_op_name(cqe.op),
		       rclink_status_name(cqe.status));
	EXPECT_EQ(op, cqe.op);
	EXPECT_EQ(tag, cqe.user_data);
	EXPECT_EQ(len, cqe.len);
	EXPECT_LT(0, cqe.time);
	EXPECT_GE(now.tv_sec * NS_PER_S + now.tv_nsec, cqe.time);
	return cqe;
}

#define GOOD(op, tag, len) \
	good(_metadata, self, RCLINK_OP_##op, tag, len)

static void post_answer(struct __test_metadata *_metadata,
			struct _test_data_chan *self)
{
	ASSERT_EQ(0, rclink_recv(self->chan,
				 rclink_piece(self->page_region, 0,
					      sizeof(struct answer)),
				 ANSWER_TAG));
}

static struct answer get_answer(struct __test_metadata *_metadata,
				struct _test_data_chan *self)
{
	struct answer answer;

	GOOD(RECV, ANSWER_TAG, sizeof(answer));
	memcpy(&answer, self->page, sizeof(answer));
	EXPECT_EQ(1, answer.right);
	return answer;
}

/* Give the far end an order; its answer comes when that is carried out. */
static struct answer ask(struct __test_metadata *_metadata,
			 struct _test_data_chan *self, struct order order)
{
	post_answer(_metadata, self);
	ASSERT_EQ(0, rclink_send(self->chan,
				 rclink_bytes(&order, sizeof(order)), 0, 0));
	return get_answer(_metadata, self);
}

#define ASK(...) \
	ask(_metadata, self, (struct order) { __VA_ARGS__ })

FIXTURE_SETUP(chan)
{
	int ret;

	self->polled = variant->flags & RCLINK_CHAN_POLLED;
	ret = rclink_connect(&self->chan, LINK, FAR_SERVICE, variant->flags);
	ASSERT_EQ(0, ret)
		TH_LOG("connect: %s", strerror(-ret));
	self->memory = memory(FAR_MEMORY);
	self->page = memory(PAGE);
	ASSERT_EQ(0, rclink_region(self->chan, self->memory, FAR_MEMORY, NULL,
				   0, &self->memory_region));
	ASSERT_EQ(0, rclink_region(self->chan, self->page, PAGE, NULL, 0,
				   &self->page_region));
	post_answer(_metadata, self);
	ASSERT_EQ(1, rclink_submit(self->chan, 0, 0));
	ASSERT_EQ(0, rclink_region(self->chan, self->page, PAGE, FAR_NEAR,
				   RCLINK_REGION_READ, &self->near_region));
	get_answer(_metadata, self);
	ASSERT_EQ(0, rclink_import(self->chan, FAR_REGION, &self->far));
	EXPECT_EQ(FAR_MEMORY, self->far.len);
	EXPECT_EQ(RCLINK_REGION_RIGHTS, self->far.rights);
}

FIXTURE_TEARDOWN(chan)
{
	rclink_close(self->chan);
}

TEST_F_TIMEOUT(chan, send_of_every_size, 120)
{
	struct answer answer;
	uint32_t i, j;

	for (i = 0; i < 2 * NUM(sizes); i++) {
		uint32_t size = sizes[i / 2], imm = i % 2;
		struct rclink_data data;

		far_fill(self->memory, i, size);
		ASK(.what = FAR_RECV, .post = FAR_MEMORY, .size = size,
		    .seed = i);
		post_answer(_metadata, self);
		data = rclink_piece(self->memory_region, 0, size);
		ASSERT_EQ(0, imm ? rclink_send_imm(self->chan, data, ~i,
						   RCLINK_SQE_SIGNALED, i) :
				   rclink_send(self->chan, data,
					       RCLINK_SQE_SIGNALED, i));
		/* The completion and the answer, in either order. */
		for (j = 0; j < 2; j++) {
			struct rclink_dev_cqe cqe = next(_metadata, self);

			ASSERT_EQ(0, cqe.status);
			EXPECT_EQ(cqe.op == RCLINK_OP_RECV ? ANSWER_TAG : i,
				  cqe.user_data);
			EXPECT_EQ(cqe.op == RCLINK_OP_RECV ? sizeof(answer) :
							     size, cqe.len);
		}
		memcpy(&answer, self->page, sizeof(answer));
		EXPECT_EQ(1, answer.right);
		EXPECT_EQ(size, answer.len);
		EXPECT_EQ(imm ? RCLINK_CQE_IMM : 0, answer.flags);
		EXPECT_EQ(imm ? ~i : 0, answer.imm);
	}
}

TEST_F(chan, inline_send_of_every_size)
{
	uint8_t bytes[RCLINK_DEV_INLINE_MAX];
	uint32_t size;

	for (size = 1; size <= sizeof(bytes); size += size < 8 ? 1 : 7) {
		ASK(.what = FAR_RECV, .post = PAGE, .size = size, .seed = size);
		post_answer(_metadata, self);
		far_fill(bytes, size, size);
		ASSERT_EQ(0, rclink_send(self->chan, rclink_bytes(bytes, size),
					 0, 0));
		/* The bytes are in the kernel or the ring by now. */
		memset(bytes, 0xee, sizeof(bytes));
		EXPECT_EQ(size, get_answer(_metadata, self).len);
	}
}

TEST_F(chan, send_gathers_and_receive_scatters)
{
	struct rclink_dev_sge sge[RCLINK_DEV_SGE_MAX];
	uint32_t i, at[] = { 3, 5000, 70000, 500001 };
	uint32_t len[] = { 1, 1024, 4097, 333 }, total = 0;

	for (i = 0; i < NUM(sge); i++) {
		sge[i].region = self->memory_region;
		sge[i].offset = at[i];
		sge[i].len = len[i];
		for (uint32_t j = 0; j < len[i]; j++)
			self->memory[at[i] + j] = far_byte(42, total++);
	}
	ASK(.what = FAR_RECV, .post = FAR_MEMORY, .size = total, .seed = 42);
	post_answer(_metadata, self);
	ASSERT_EQ(0, rclink_send(self->chan, rclink_pieces(sge, NUM(sge)),
				 RCLINK_SQE_SOLICITED, 0));
	EXPECT_EQ(total, get_answer(_metadata, self).len);

	memset(self->memory, 0, FAR_MEMORY);
	post_answer(_metadata, self);
	ASSERT_EQ(0, rclink_recv(self->chan, rclink_pieces(sge, NUM(sge)), 7));
	ASSERT_EQ(0, rclink_send(self->chan, rclink_bytes(&(struct order) {
		.what = FAR_SEND, .size = total, .seed = 43,
	}, sizeof(struct order)), 0, 0));
	get_answer(_metadata, self);
	GOOD(RECV, 7, total);
	for (i = 0, total = 0; i < NUM(sge); i++)
		for (uint32_t j = 0; j < len[i]; j++)
			ASSERT_EQ(far_byte(43, total++),
				  self->memory[at[i] + j]);
}

TEST_F_TIMEOUT(chan, receive_of_every_size, 120)
{
	struct rclink_dev_cqe cqe;
	uint32_t i;

	for (i = 0; i < 2 * NUM(sizes); i++) {
		struct order order = {
			.what = i % 2 ? FAR_SEND_IMM : FAR_SEND,
			.size = sizes[i / 2], .seed = i + 1,
		};

		post_answer(_metadata, self);
		ASSERT_EQ(0, rclink_recv(self->chan,
					 rclink_piece(self->memory_region, 0,
						      FAR_MEMORY), i));
		ASSERT_EQ(0, rclink_send(self->chan,
					 rclink_bytes(&order, sizeof(order)),
					 0, 0));
		get_answer(_metadata, self);
		cqe = GOOD(RECV, i, order.size);
		EXPECT_EQ(i % 2 ? RCLINK_CQE_IMM : 0, cqe.flags);
		EXPECT_EQ(i % 2 ? i + 1 : 0, cqe.imm);
		EXPECT_TRUE(far_is(self->memory, i + 1, order.size));
	}
}

TEST_F_TIMEOUT(chan, write_of_every_size, 120)
{
	uint32_t i, offset;

	for (i = 0; i < NUM(sizes); i++) {
		offset = i % 3 * 1021;
		far_fill(self->memory, i, sizes[i]);
		ASSERT_EQ(0, rclink_write(self->chan,
					  rclink_piece(self->memory_region, 0,
						       sizes[i]),
					  &self->far, offset,
					  RCLINK_SQE_SIGNALED, i));
		GOOD(WRITE, i, sizes[i]);
		ASK(.what = FAR_CHECK, .offset = offset, .size = sizes[i],
		    .seed = i);
	}
}

TEST_F_TIMEOUT(chan, write_with_immediate_of_every_size, 120)
{
	struct answer answer;
	uint32_t i;

	for (i = 0; i < NUM(sizes); i++) {
		far_fill(self->memory, i, sizes[i]);
		ASK(.what = FAR_RECV, .size = sizes[i], .seed = i,
		    .offset = 64);
		post_answer(_metadata, self);
		ASSERT_EQ(0, rclink_write_imm(self->chan,
					      rclink_piece(self->memory_region,
							   0, sizes[i]),
					      &self->far, 64, i | 0xabcd0000,
					      0, i));
		answer = get_answer(_metadata, self);
		EXPECT_EQ(RCLINK_CQE_IMM | RCLINK_CQE_WRITTEN, answer.flags);
		EXPECT_EQ(i | 0xabcd0000, answer.imm);
		EXPECT_EQ(sizes[i], answer.len);
	}
}

TEST_F(chan, inline_write)
{
	uint8_t bytes[RCLINK_DEV_INLINE_MAX];

	far_fill(bytes, 5, sizeof(bytes));
	ASSERT_EQ(0, rclink_write(self->chan,
				  rclink_bytes(bytes, sizeof(bytes)),
				  &self->far, FAR_MEMORY - sizeof(bytes),
				  RCLINK_SQE_SIGNALED, 9));
	GOOD(WRITE, 9, sizeof(bytes));
	ASK(.what = FAR_CHECK, .offset = FAR_MEMORY - sizeof(bytes),
	    .size = sizeof(bytes), .seed = 5);
}

TEST_F_TIMEOUT(chan, read_of_every_size, 120)
{
	uint32_t i;

	for (i = 0; i < NUM(sizes); i++) {
		ASK(.what = FAR_FILL, .offset = 33, .size = sizes[i],
		    .seed = i + 9);
		memset(self->memory, 0, FAR_MEMORY);
		ASSERT_EQ(0, rclink_read(self->chan,
					 rclink_piece(self->memory_region, 5,
						      sizes[i]),
					 &self->far, 33, RCLINK_SQE_SIGNALED,
					 i));
		GOOD(READ, i, sizes[i]);
		EXPECT_TRUE(far_is(self->memory + 5, i + 9, sizes[i]));
		EXPECT_EQ(0, self->memory[5 + sizes[i]]);
	}
}

TEST_F(chan, compare_and_swap)
{
	const uint64_t value = 0x1122334455667788;
	uint64_t *old = (void *)self->memory;
	struct rclink_data to = rclink_piece(self->memory_region, 0, 8);

	ASK(.what = FAR_POKE, .offset = 16, .value = value);
	ASSERT_EQ(0, rclink_cas(self->chan, to, &self->far, 16, 1, 2,
				RCLINK_SQE_SIGNALED, 1));
	GOOD(CAS, 1, 8);
	EXPECT_EQ(value, *old);
	EXPECT_EQ(value, ASK(.what = FAR_PEEK, .offset = 16).value);
	ASSERT_EQ(0, rclink_cas(self->chan, to, &self->far, 16, value, 2,
				RCLINK_SQE_SIGNALED, 2));
	GOOD(CAS, 2, 8);
	EXPECT_EQ(value, *old);
	EXPECT_EQ(2, ASK(.what = FAR_PEEK, .offset = 16).value);
}

TEST_F(chan, fetch_and_add)
{
	uint64_t *old = (void *)self->memory, i;

	ASK(.what = FAR_POKE, .offset = 8, .value = UINT64_MAX);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, rclink_fadd(self->chan,
					 rclink_piece(self->memory_region, 0,
						      8),
					 &self->far, 8, 3,
					 RCLINK_SQE_SIGNALED, i));
		GOOD(FADD, i, 8);
		EXPECT_EQ(3 * i - 1, *old);
	}
	EXPECT_EQ(59, ASK(.what = FAR_PEEK, .offset = 8).value);
}

TEST_F(chan, a_fence_waits_for_the_read)
{
	uint32_t round, size = 65536;

	for (round = 0; round < 10; round++) {
		ASK(.what = FAR_FILL, .size = size, .seed = round);
		memset(self->memory, 0, size);
		ASSERT_EQ(0, rclink_read(self->chan,
					 rclink_piece(self->memory_region, 0,
						      size),
					 &self->far, 0, 0, 1));
		ASSERT_EQ(0, rclink_write(self->chan,
					  rclink_piece(self->memory_region, 0,
						       size),
					  &self->far, size,
					  RCLINK_SQE_FENCE |
					  RCLINK_SQE_SIGNALED, 2));
		GOOD(WRITE, 2, size);
		ASK(.what = FAR_CHECK, .offset = size, .size = size,
		    .seed = round);
	}
}

TEST_F(chan, only_signaled_operations_complete)
{
	uint32_t i, done = 0;

	/* Many more than can be in flight. */
	for (i = 1; i <= 500; i++) {
		ASSERT_EQ(0, rclink_write(self->chan, rclink_bytes(&i, 4),
					  &self->far, i * 4,
					  i % 25 ? 0 : RCLINK_SQE_SIGNALED, i));
		if (i % 25)
			continue;
		GOOD(WRITE, i, 4);
		done++;
	}
	EXPECT_EQ(20, done);
	for (i = 1; i <= 500; i += 499)
		EXPECT_EQ(i, (uint32_t)ASK(.what = FAR_PEEK,
					   .offset = i * 4).value);
}

static void refused(struct __test_metadata *_metadata,
		    struct _test_data_chan *self, int error)
{
	EXPECT_EQ(error, rclink_submit(self->chan, 0, 0));
	/* The refused entry is gone, and the channel goes on. */
	EXPECT_EQ(0, rclink_submit(self->chan, 0, 0));
	ASK(.what = FAR_PEEK);
}

TEST_F(chan, bounds_and_rights_are_refused_by_the_kernel)
{
	struct rclink_data word = rclink_piece(self->memory_region, 0, 8);
	struct rclink_chan *c = self->chan;
	struct rclink_remote beyond = self->far, page;

	ASSERT_EQ(0, rclink_write(c, word, &self->far, FAR_MEMORY - 7, 0, 0));
	refused(_metadata, self, -EINVAL);
	ASSERT_EQ(0, rclink_read(c, word, &self->far, UINT64_MAX - 3, 0, 0));
	refused(_metadata, self, -EINVAL);
	ASSERT_EQ(0, rclink_cas(c, word, &self->far, 4, 0, 0, 0, 0));
	refused(_metadata, self, -EINVAL);
	ASSERT_EQ(0, rclink_send(c, rclink_piece(self->memory_region,
						 FAR_MEMORY - 7, 8), 0, 0));
	refused(_metadata, self, -EINVAL);
	ASSERT_EQ(0, rclink_send(c, rclink_piece(~self->memory_region, 0, 8),
				 0, 0));
	refused(_metadata, self, -ESTALE);
	beyond.handle += 100;
	ASSERT_EQ(0, rclink_read(c, word, &beyond, 0, 0, 0));
	refused(_metadata, self, -ESTALE);

	ASSERT_EQ(0, rclink_import(c, FAR_READ_ONLY, &page));
	ASSERT_EQ(0, rclink_write(c, word, &page, 0, 0, 0));
	refused(_metadata, self, -EACCES);
	ASSERT_EQ(0, rclink_fadd(c, word, &page, 0, 1, 0, 0));
	refused(_metadata, self, -EACCES);
	ASSERT_EQ(0, rclink_read(c, word, &page, 0, RCLINK_SQE_SIGNALED, 1));
	GOOD(READ, 1, 8);
	EXPECT_EQ(-ENOENT, rclink_import(c, "nosuch", &page));
}

TEST_F_TIMEOUT(chan, a_send_of_every_size_that_ends_a_region, 120)
{
	struct rclink_data word = rclink_piece(self->memory_region, 0, 8);
	struct rclink_remote brief;
	struct rclink_data data;
	struct answer answer;
	uint32_t i, handle;

	for (i = 0; i < NUM(sizes); i++) {
		handle = ASK(.what = FAR_LEND).value;
		ASSERT_EQ(0, rclink_import(self->chan, FAR_BRIEF, &brief));
		EXPECT_EQ(RCLINK_REGION_READ | RCLINK_REGION_INVALIDATE,
			  brief.rights);
		ASSERT_EQ(0, rclink_read(self->chan, word, &brief, 0,
					 RCLINK_SQE_SIGNALED, 1));
		GOOD(READ, 1, 8);
		far_fill(self->memory, i, sizes[i]);
		ASK(.what = FAR_RECV, .post = FAR_MEMORY, .size = sizes[i],
		    .seed = i);
		post_answer(_metadata, self);
		data = rclink_piece(self->memory_region, 0, sizes[i]);
		ASSERT_EQ(0, rclink_send_inv(self->chan, data, &brief, 0, 0));
		answer = get_answer(_metadata, self);
		EXPECT_EQ(RCLINK_CQE_INVALIDATED, answer.flags);
		EXPECT_EQ(handle, answer.imm);
		EXPECT_EQ(sizes[i], answer.len);
		ASSERT_EQ(0, rclink_read(self->chan, word, &brief, 0, 0, 0));
		refused(_metadata, self, -ESTALE);
		EXPECT_EQ(-ENOENT, rclink_import(self->chan, FAR_BRIEF,
						 &brief));
	}
}

TEST_F(chan, a_region_is_ended_by_its_own_channel_only)
{
	struct rclink_remote brief, page;
	struct rclink_chan *other;

	ASSERT_EQ(0, rclink_import(self->chan, FAR_READ_ONLY, &page));
	ASSERT_EQ(0, rclink_send_inv(self->chan, rclink_none(), &page, 0, 0));
	refused(_metadata, self, -EACCES);

	ASK(.what = FAR_LEND);
	ASSERT_EQ(0, rclink_connect(&other, LINK, FAR_SERVICE,
				    RCLINK_CONNECT_WAIT));
	ASSERT_EQ(0, rclink_import(other, FAR_BRIEF, &brief));
	EXPECT_EQ(RCLINK_REGION_READ, brief.rights);
	ASSERT_EQ(0, rclink_send_inv(other, rclink_none(), &brief, 0, 0));
	EXPECT_EQ(-EACCES, rclink_submit(other, 0, 0));
	rclink_close(other);
}

/* Most devices have none, and refuse nothing else. Simulated ones have them. */
TEST_F(chan, masked_atomics_or_a_clear_refusal)
{
	struct rclink_data to = rclink_piece(self->memory_region, 0, 8);
	uint64_t *old = (void *)self->memory;
	int ret;

	ASK(.what = FAR_POKE, .offset = 16, .value = 0x11223344);
	ASSERT_EQ(0, rclink_mcas(self->chan, to, &self->far, 16, 0x44, 0x5500,
				 0xff, 0xff00, RCLINK_SQE_SIGNALED, 1));
	ret = rclink_submit(self->chan, 0, 0);
	if (ret == -EOPNOTSUPP && strcmp(getenv("RCL_DEV") ? : "", "sim0")) {
		ASSERT_EQ(0, rclink_mfadd(self->chan, to, &self->far, 16, 1,
					  0x80, 0, 1));
		refused(_metadata, self, -EOPNOTSUPP);
		return;
	}
	ASSERT_EQ(1, ret);
	GOOD(MCAS, 1, 8);
	EXPECT_EQ(0x11223344, *old);
	ASSERT_EQ(0, rclink_mfadd(self->chan, to, &self->far, 16, 0xc001,
				  0x8000, RCLINK_SQE_SIGNALED, 2));
	GOOD(MFADD, 2, 8);
	EXPECT_EQ(0x11225544, *old);
	EXPECT_EQ(0x11221545, ASK(.what = FAR_PEEK, .offset = 16).value);
}

TEST_F(chan, what_is_before_a_refused_entry_is_done)
{
	struct rclink_data word = rclink_piece(self->memory_region, 0, 8);
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, rclink_write(self->chan, word, &self->far, 0,
					  RCLINK_SQE_SIGNALED, i));
	ASSERT_EQ(0, rclink_write(self->chan, word, &self->far, FAR_MEMORY,
				  RCLINK_SQE_SIGNALED, 3));
	ASSERT_EQ(0, rclink_write(self->chan, word, &self->far, 0,
				  RCLINK_SQE_SIGNALED, 4));
	EXPECT_EQ(3, rclink_submit(self->chan, 0, 0));
	/* The first call told which entry is wrong; this drops the last two. */
	EXPECT_EQ(-EINVAL, rclink_submit(self->chan, 0, 0));
	for (i = 0; i < 3; i++)
		GOOD(WRITE, i, 8);
	ASK(.what = FAR_PEEK);
}

/*
 * The next completion must have one of these two statuses, which is returned.
 * The rest are flushes, then the channel ends.
 */
static uint32_t ends(struct __test_metadata *_metadata,
		     struct _test_data_chan *self, uint64_t tag,
		     uint32_t status, uint32_t other)
{
	struct rclink_dev_cqe cqe = next(_metadata, self);
	uint32_t first = cqe.status;

	EXPECT_TRUE(first == status || first == other)
		TH_LOG("%s", rclink_status_name(first));
	EXPECT_EQ(tag, cqe.user_data);
	while (rclink_submit(self->chan, 1, slow(5000)) >= 0) {
		ASSERT_EQ(1, rclink_reap(self->chan, &cqe, 1));
		EXPECT_EQ(FLUSHED, cqe.status);
	}
	return first;
}

/* On a new channel: what did the far end see on the one before? */
static void far_saw(struct __test_metadata *_metadata,
		    struct _test_data_chan *self,
		    const struct _fixture_variant_chan *variant,
		    uint32_t status)
{
	rclink_close(self->chan);
	chan_setup(_metadata, self, variant);
	EXPECT_EQ(status, ASK(.what = FAR_LAST).value);
}

/* Some devices call it an error of the operation, and not of its length. */
TEST_F(chan, a_message_longer_than_the_receive)
{
	uint32_t status;

	ASK(.what = FAR_RECV, .post = 8, .size = 9);
	ASSERT_EQ(0, rclink_send(self->chan,
				 rclink_piece(self->memory_region, 0, 9),
				 RCLINK_SQE_SIGNALED, 5));
	status = ends(_metadata, self, 5, REMOTE_INVALID, REMOTE_OP);
	far_saw(_metadata, self, variant,
		status == REMOTE_OP ? LOCAL_QP : LOCAL_LENGTH);
}

TEST_F(chan, a_region_that_was_withdrawn)
{
	ASK(.what = FAR_WITHDRAW);
	ASSERT_EQ(0, rclink_write(self->chan,
				  rclink_piece(self->memory_region, 0, 8),
				  &self->far, 0, RCLINK_SQE_SIGNALED, 6));
	ends(_metadata, self, 6, REMOTE_ACCESS, REMOTE_ACCESS);
}

TEST_F(chan, a_peer_without_a_receive)
{
	ASK(.what = FAR_DEAF);
	ASSERT_EQ(0, rclink_send(self->chan, rclink_bytes("x", 1), 0, 7));
	ends(_metadata, self, 7, RNR_EXCEEDED, RNR_EXCEEDED);
}

/* The registration must not wait for the send, nor be repeated with it. */
TEST_F(chan, a_registration_beside_a_send_that_waits)
{
	uint32_t region;

	ASK(.what = FAR_DEAF);
	ASSERT_EQ(0, rclink_send(self->chan, rclink_bytes("x", 1), 0, 7));
	ASSERT_EQ(1, rclink_submit(self->chan, 0, 0));
	EXPECT_EQ(0, rclink_region(self->chan, self->page, PAGE, NULL, 0,
				   &region));
	ends(_metadata, self, 7, RNR_EXCEEDED, RNR_EXCEEDED);
}

TEST_F(chan, a_peer_that_closes)
{
	ASK(.what = FAR_CLOSE);
	ASSERT_EQ(0, rclink_recv(self->chan,
				 rclink_piece(self->memory_region, 0, 8), 8));
	ASSERT_EQ(1, rclink_submit(self->chan, 0, 0));
	ends(_metadata, self, 8, FLUSHED, FLUSHED);
}

TEST_HARNESS_MAIN
