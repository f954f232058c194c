// SPDX-License-Identifier: GPL-2.0
/* The parts of channels that can be tested without the module. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "bench_hello.h"
#include "chan.h"
#include "group_chan.h"
#include "pingpong.h"
#include "pipe_msg.h"
#include "ring.h"
#include "target.h"
#include "times.h"

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

TEST(a_ring_may_wrap_but_not_overflow)
{
	static const uint32_t starts[] = { 0, 1, 255, 0x7fffffff, 0xffffff00,
					   0xffffffff };
	unsigned int i;

	for (i = 0; i < NUM(starts); i++) {
		uint32_t at = starts[i];

		EXPECT_EQ(0, ring_used(at, at, 256));
		EXPECT_EQ(1, ring_used(at, at + 1, 256));
		EXPECT_EQ(256, ring_used(at, at + 256, 256));
		EXPECT_EQ(-EIO, ring_used(at, at + 257, 256));
		EXPECT_EQ(-EIO, ring_used(at, at - 1, 256));
	}
	EXPECT_EQ(0, ring_slot(256, 256));
	EXPECT_EQ(255, ring_slot(0xffffffff, 256));
	EXPECT_EQ(0, ring_slot(0, 256));
}

FIXTURE(channel)
{
	struct rclink_chan chan;
};

FIXTURE_SETUP(channel)
{
	self->chan.fd = -1;
	self->chan.shared = calloc(1, sizeof(*self->chan.shared));
	ASSERT_NE(NULL, self->chan.shared);
}

FIXTURE_TEARDOWN(channel)
{
	free(self->chan.shared);
}

TEST_F(channel, takes_as_many_operations_as_the_ring_has)
{
	struct rclink_dev_shared *s = self->chan.shared;
	unsigned int i;

	s->sq.head = 0xffffff80;
	s->sq.tail = 0xffffff80;
	for (i = 0; i < RCLINK_DEV_DEPTH; i++)
		ASSERT_EQ(0, rclink_send(&self->chan, rclink_piece(7, i, 1),
					 0, i));
	EXPECT_EQ(-EAGAIN, rclink_send(&self->chan, rclink_none(), 0, i));
	EXPECT_EQ(0x80, s->sq.tail);
	EXPECT_EQ(0, s->sqe[0x80].user_data);
	EXPECT_EQ(0x80, s->sqe[0].user_data);
	EXPECT_EQ(0x80, s->sqe[0].sge[0].offset);
	s->sq.head++;
	EXPECT_EQ(0, rclink_send(&self->chan, rclink_none(), 0, 0));
	s->sq.head += RCLINK_DEV_DEPTH + 1;
	EXPECT_EQ(-EIO, rclink_send(&self->chan, rclink_none(), 0, 0));
	EXPECT_EQ(-EIO, rclink_submit(&self->chan, 0, 0));
}

TEST_F(channel, has_every_operation_as_asked_for)
{
	const struct rclink_remote remote = { .len = 64, .handle = 5 };
	struct rclink_dev_shared *s = self->chan.shared;
	struct rclink_dev_sge two[2] = { { .len = 3 }, { .len = 4 } };
	struct rclink_chan *c = &self->chan;
	struct rclink_data piece = rclink_piece(9, 16, 8);
	unsigned int op;

	ASSERT_EQ(0, rclink_send(c, rclink_bytes("ab", 2),
				 RCLINK_SQE_SOLICITED, 1));
	ASSERT_EQ(0, rclink_send_imm(c, rclink_none(), 77, 0, 2));
	ASSERT_EQ(0, rclink_write(c, rclink_pieces(two, 2), &remote, 24,
				  RCLINK_SQE_SIGNALED, 3));
	ASSERT_EQ(0, rclink_write_imm(c, piece, &remote, 24, 78, 0, 4));
	ASSERT_EQ(0, rclink_read(c, piece, &remote, 32, RCLINK_SQE_FENCE, 5));
	ASSERT_EQ(0, rclink_cas(c, piece, &remote, 40, 100, 200, 0, 6));
	ASSERT_EQ(0, rclink_fadd(c, piece, &remote, 48, 300, 0, 7));
	ASSERT_EQ(0, rclink_recv(c, piece, 8));
	ASSERT_EQ(0, rclink_send_inv(c, rclink_none(), &remote, 0, 9));
	ASSERT_EQ(0, rclink_mcas(c, piece, &remote, 56, 1, 2, 3, 4, 0, 10));
	ASSERT_EQ(0, rclink_mfadd(c, piece, &remote, 56, 5, 6, 0, 11));
	ASSERT_EQ(RCLINK_OP_MAX, s->sq.tail);
	for (op = 0; op < RCLINK_OP_MAX; op++) {
		EXPECT_EQ(op, s->sqe[op].op);
		EXPECT_EQ(op + 1, s->sqe[op].user_data);
		if (op >= RCLINK_OP_WRITE && op != RCLINK_OP_RECV)
			EXPECT_EQ(5, s->sqe[op].remote);
	}
	EXPECT_EQ(RCLINK_SQE_SOLICITED | RCLINK_SQE_INLINE, s->sqe[0].flags);
	EXPECT_EQ(2, s->sqe[0].len);
	EXPECT_EQ('b', s->sqe[0].inline_data[1]);
	EXPECT_EQ(77, s->sqe[1].imm);
	EXPECT_EQ(0, s->sqe[1].num_sge);
	EXPECT_EQ(2, s->sqe[2].num_sge);
	EXPECT_EQ(4, s->sqe[2].sge[1].len);
	EXPECT_EQ(24, s->sqe[2].remote_offset);
	EXPECT_EQ(RCLINK_SQE_FENCE, s->sqe[4].flags);
	EXPECT_EQ(100, s->sqe[5].compare_add);
	EXPECT_EQ(200, s->sqe[5].swap);
	EXPECT_EQ(300, s->sqe[6].compare_add);
	EXPECT_EQ(9, s->sqe[7].sge[0].region);
	EXPECT_EQ(2, s->sqe[9].swap);
	EXPECT_EQ(3, s->sqe[9].compare_mask);
	EXPECT_EQ(4, s->sqe[9].swap_mask);
	EXPECT_EQ(5, s->sqe[10].compare_add);
	EXPECT_EQ(6, s->sqe[10].compare_mask);
}

TEST_F(channel, refuses_what_has_no_room)
{
	const struct rclink_remote remote = { .handle = 5 };
	struct rclink_dev_sge five[RCLINK_DEV_SGE_MAX + 1] = { { .len = 1 } };
	uint8_t bytes[RCLINK_DEV_INLINE_MAX + 1] = { 0 };
	struct rclink_chan *c = &self->chan;

	EXPECT_EQ(-EINVAL, rclink_send(c, rclink_bytes(bytes, sizeof(bytes)),
				       0, 0));
	EXPECT_EQ(-EINVAL, rclink_send(c, rclink_pieces(five, NUM(five)),
				       0, 0));
	EXPECT_EQ(-EINVAL, rclink_send(c, rclink_none(), 0x80, 0));
	EXPECT_EQ(-EINVAL, rclink_send(c, rclink_none(), RCLINK_SQE_INLINE,
				       0));
	/* Flags for which an entry has no bit are refused, too. */
	EXPECT_EQ(-EINVAL, rclink_send(c, rclink_none(), 0x100, 0));
	EXPECT_EQ(-EINVAL, rclink_read(c, rclink_none(), &remote, 0,
				       0x80000000 | RCLINK_SQE_SIGNALED, 0));
	EXPECT_EQ(-EINVAL, rclink_read(c, rclink_bytes(bytes, 8), &remote, 0,
				       0, 0));
	EXPECT_EQ(-EINVAL, rclink_recv(c, rclink_bytes(bytes, 8), 0));
	EXPECT_EQ(0, c->shared->sq.tail);
	EXPECT_EQ(0, rclink_send(c, rclink_bytes(bytes, RCLINK_DEV_INLINE_MAX),
				 0, 0));
}

TEST_F(channel, drops_what_was_refused)
{
	struct rclink_dev_shared *s = self->chan.shared;

	ASSERT_EQ(0, rclink_send(&self->chan, rclink_none(), 0, 0));
	ASSERT_EQ(0, rclink_send(&self->chan, rclink_none(), 0, 0));
	EXPECT_EQ(-EBADF, rclink_submit(&self->chan, 0, 0));
	EXPECT_EQ(s->sq.head, s->sq.tail);
}

/* No entry was looked at, so none is dropped. */
TEST_F(channel, keeps_what_is_queued_when_it_cannot_wait_for_so_many)
{
	struct rclink_dev_shared *s = self->chan.shared;

	ASSERT_EQ(0, rclink_send(&self->chan, rclink_none(), 0, 0));
	EXPECT_EQ(-EINVAL, rclink_submit(&self->chan,
					 RCLINK_DEV_CQ_DEPTH + 1, 0));
	EXPECT_EQ(s->sq.head + 1, s->sq.tail);
}

TEST_F(channel, reaps_in_order_and_across_the_end)
{
	struct rclink_dev_shared *s = self->chan.shared;
	struct rclink_dev_cqe cqes[8];
	unsigned int i, got = 0;
	int num;

	EXPECT_EQ(0, rclink_reap(&self->chan, cqes, NUM(cqes)));
	s->cq.head = 0xfffffff0;
	s->cq.tail = 0x00000010;
	for (i = 0; i < 32; i++)
		s->cqe[(0xfffffff0 + i) % RCLINK_DEV_CQ_DEPTH].user_data = i;
	while ((num = rclink_reap(&self->chan, cqes, NUM(cqes))) > 0)
		for (i = 0; i < (unsigned int)num; i++)
			EXPECT_EQ(got++, cqes[i].user_data);
	EXPECT_EQ(0, num);
	EXPECT_EQ(32, got);
	EXPECT_EQ(s->cq.tail, s->cq.head);
	s->cq.tail += RCLINK_DEV_CQ_DEPTH + 1;
	EXPECT_EQ(-EIO, rclink_reap(&self->chan, cqes, NUM(cqes)));
}

TEST_F(channel, has_no_sources_of_no_group)
{
	struct rclink_source source;
	struct rclink_dev_cqe cqe;

	self->chan.shared->cq.tail = 1;
	EXPECT_EQ(-EOPNOTSUPP, rclink_reap_from(&self->chan, &cqe, &source, 1));
	EXPECT_EQ(0, rclink_max_message(&self->chan));
	EXPECT_EQ(1, rclink_reap(&self->chan, &cqe, 1));
}

static int module = -1;	/* a file that passes for one of the module */

/* How the module takes entries of a channel that has no file. */
static struct {
	struct rclink_dev_shared *shared;
	uint32_t each;		/* the most that it takes in a call */
	uint32_t left;		/* with so many left it stops, or fails */
	int err;
} taker;

static int take(struct rclink_dev_submit *submit)
{
	struct rclink_dev_ring *sq = &taker.shared->sq;
	uint32_t want = submit->count;

	submit->count = 0;
	while (submit->count < want && submit->count < taker.each &&
	       sq->tail - sq->head > taker.left) {
		sq->head++;
		submit->count++;
	}
	errno = taker.err;
	return taker.err && sq->tail - sq->head == taker.left ? -1 : 0;
}

typeof(int (int fd, unsigned long request, void *arg)) __real_ioctl,
	__wrap_ioctl;

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	if (taker.shared && request == RCLINK_IOC_SUBMIT)
		return take(arg);
	return fd >= 0 && fd == module ? 0 : __real_ioctl(fd, request, arg);
}

/* Submit twenty entries, of which some are left; returns the call's result. */
static int submits_twenty(struct rclink_chan *chan, uint32_t left, int err)
{
	int i;

	taker.shared = chan->shared;
	taker.each = 4;
	taker.left = left;
	taker.err = err;
	chan->shared->sq.head = chan->shared->sq.tail;
	for (i = 0; i < 20; i++)
		if (rclink_send(chan, rclink_none(), 0, i))
			return -ENOBUFS;
	return rclink_submit(chan, 1, 0);
}

TEST_F(channel, says_how_many_it_took_before_it_says_why_no_more)
{
	static const int drops[] = { EINVAL, EACCES, ESTALE, ENOMEM,
				     ECONNRESET };
	static const int keeps[] = { EBUSY, EAGAIN };
	struct rclink_dev_ring *sq = &self->chan.shared->sq;
	unsigned int i;

	for (i = 0; i < NUM(drops); i++) {
		EXPECT_EQ(6, submits_twenty(&self->chan, 14, drops[i]));
		EXPECT_EQ(14, sq->tail - sq->head);
		EXPECT_EQ(-drops[i], rclink_submit(&self->chan, 0, 0));
		EXPECT_EQ(sq->tail, sq->head);
	}
	for (i = 0; i < NUM(keeps); i++) {
		EXPECT_EQ(6, submits_twenty(&self->chan, 14, keeps[i]));
		EXPECT_EQ(-keeps[i], rclink_submit(&self->chan, 0, 0));
		EXPECT_EQ(14, sq->tail - sq->head);
	}
}

TEST_F(channel, says_at_once_how_a_wait_ended)
{
	struct rclink_dev_ring *sq = &self->chan.shared->sq;

	EXPECT_EQ(20, submits_twenty(&self->chan, 0, 0));
	EXPECT_EQ(-ETIME, submits_twenty(&self->chan, 0, ETIME));
	EXPECT_EQ(-ECONNRESET, submits_twenty(&self->chan, 0, ECONNRESET));
	EXPECT_EQ(-EINTR, submits_twenty(&self->chan, 14, EINTR));
	EXPECT_EQ(14, sq->tail - sq->head);
}

static int no_device;		/* why the device cannot be opened */

typeof(int (const char *file, int flags, ...)) __real_open, __wrap_open;

int __wrap_open(const char *file, int flags, ...)
{
	if (strcmp(file, "/dev/rclink"))
		return __real_open(file, flags);
	errno = no_device;
	return -1;
}

/* EPERM comes from a cgroup with device rules. */
TEST(a_device_that_is_not_there_or_forbidden_is_refused)
{
	static const struct {
		int error, ret;
	} why[] = {
		{ ENOENT, -ENOENT }, { ENODEV, -ENOENT }, { ENXIO, -ENOENT },
		{ EACCES, -EACCES }, { EPERM, -EACCES }, { EMFILE, -EMFILE },
	};
	struct rclink_chan *chan;
	unsigned int i;

	for (i = 0; i < NUM(why); i++) {
		no_device = why[i].error;
		EXPECT_EQ(why[i].ret, rclink_connect(&chan, "l", "s", 0));
	}
}

TEST(a_file_that_is_adopted_is_closed_on_exec)
{
	struct rclink_chan *chan;

	module = open("/dev/zero", O_RDWR);
	ASSERT_LE(0, module);
	ASSERT_EQ(0, fcntl(module, F_GETFD));
	ASSERT_EQ(0, rclink_adopt(&chan, module));
	EXPECT_EQ(module, rclink_fd(chan));
	EXPECT_EQ(FD_CLOEXEC, fcntl(module, F_GETFD));
	rclink_close(chan);
	module = -1;
}

TEST(a_file_that_is_no_channel_is_refused)
{
	int empty = memfd_create("empty", 0);
	int zero = open("/dev/zero", O_RDWR);
	struct rclink_chan *chan;
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	EXPECT_EQ(-EBADF, rclink_adopt(&chan, -1));
	EXPECT_EQ(-EINVAL, rclink_adopt(&chan, empty));
	EXPECT_EQ(-EINVAL, rclink_adopt(&chan, zero));
	EXPECT_EQ(-EINVAL, rclink_adopt(&chan, ends[0]));
	/* The files are still the caller's. */
	EXPECT_EQ(0, fcntl(zero, F_GETFD));
	close(empty);
	close(zero);
	close(ends[0]);
	close(ends[1]);
}

TEST(sources_are_at_the_places_of_their_completions)
{
	struct rclink_dev_group_shared *shared = calloc(1, sizeof(*shared));
	struct rclink_chan chan = {
		.fd = -1, .shared = &shared->shared, .group = shared,
	};
	struct rclink_source sources[4];
	struct rclink_dev_cqe cqes[4];
	uint32_t head = UINT32_MAX - 1;
	unsigned int i;

	shared->max = 988;
	EXPECT_EQ(988, rclink_max_message(&chan));
	shared->shared.cq.head = head;
	shared->shared.cq.tail = head + 4;
	for (i = 0; i < 4; i++) {
		uint32_t slot = (head + i) % RCLINK_DEV_CQ_DEPTH;

		shared->shared.cqe[slot].user_data = i;
		memset(shared->source[slot], 0x10 + i, 16);
	}
	ASSERT_EQ(3, rclink_reap_from(&chan, cqes, sources, 3));
	ASSERT_EQ(1, rclink_reap_from(&chan, cqes + 3, sources + 3, 3));
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(i, cqes[i].user_data);
		EXPECT_EQ(0x10 + i, sources[i].gid[0]);
		EXPECT_EQ(0x10 + i, sources[i].gid[15]);
	}
	free(shared);
}

TEST(what_members_say_does_no_harm_to_a_terminal)
{
	char text[GROUP_TEXT_LEN(256)];
	uint8_t all[256];
	unsigned int i;

	for (i = 0; i < sizeof(all); i++)
		all[i] = i;
	group_text(all, sizeof(all), text);
	EXPECT_EQ((256 - 94) * 4 + 94, strlen(text));
	for (i = 0; text[i]; i++)
		EXPECT_TRUE(text[i] >= ' ' && text[i] < 0x7f);
	memcpy(all, "a\\b\n", 4);
	EXPECT_STREQ("a\\x5cb\\x0a", group_text(all, 4, text));
	EXPECT_STREQ("", group_text(all, 0, text));
}

TEST(statuses_have_the_numbers_of_the_verbs)
{
	static const struct {
		uint32_t status;
		const char *name;
	} known[] = {
		{ IBV_WC_SUCCESS, "success" },
		{ IBV_WC_LOC_LEN_ERR, "local length error" },
		{ IBV_WC_LOC_PROT_ERR, "local protection error" },
		{ IBV_WC_WR_FLUSH_ERR, "work request flushed error" },
		{ IBV_WC_REM_INV_REQ_ERR, "remote invalid request error" },
		{ IBV_WC_REM_ACCESS_ERR, "remote access error" },
		{ IBV_WC_RETRY_EXC_ERR, "transport retry counter exceeded" },
		{ IBV_WC_RNR_RETRY_EXC_ERR, "RNR retry counter exceeded" },
		{ IBV_WC_GENERAL_ERR, "general error" },
		{ IBV_WC_GENERAL_ERR + 1, "unknown status" },
		{ UINT32_MAX, "unknown status" },
	};
	unsigned int i;

	for (i = 0; i < NUM(known); i++)
		EXPECT_STREQ(known[i].name,
			     rclink_status_name(known[i].status));
	for (i = 0; i < RCLINK_OP_MAX; i++)
		EXPECT_STRNE("unknown operation", rclink_op_name(i));
	EXPECT_STREQ("unknown operation", rclink_op_name(RCLINK_OP_MAX));
}

TEST(a_target_is_a_link_and_perhaps_a_service)
{
	static const char *const bad[] = {
		"", ":", "a:", ":b", "a:b:c", "a::",
		"a23456789012345678901234567890123",
		"a:b2345678901234567890123456789012",
	};
	struct target t;
	unsigned int i;

	ASSERT_TRUE(target_parse("a", "pipe", &t));
	EXPECT_STREQ("a", t.link);
	EXPECT_STREQ("pipe", t.service);
	ASSERT_TRUE(target_parse("a:b", "pipe", &t));
	EXPECT_STREQ("a", t.link);
	EXPECT_STREQ("b", t.service);
	EXPECT_TRUE(target_parse("a234567890123456789012345678901:b", "", &t));
	for (i = 0; i < NUM(bad); i++)
		EXPECT_FALSE(target_parse(bad[i], "pipe", &t))
			TH_LOG("bad[%u]", i);
}

TEST(messages_of_a_pipe_are_these_bytes)
{
	static const uint8_t grant[] = {
		0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 16, 0, 1, 0, 0
	};
	struct pipe_msg msg = {
		.type = PIPE_GRANT, .granted = 16, .size = 65536,
	};
	struct pipe_msg got;
	uint8_t buf[PIPE_MSG_LEN + 1] = { 0 };
	size_t len;

	ASSERT_EQ(sizeof(grant), pipe_msg_pack(&msg, buf));
	EXPECT_EQ(0, memcmp(grant, buf, sizeof(grant)));
	ASSERT_TRUE(pipe_msg_unpack(&got, buf, sizeof(grant)));
	EXPECT_EQ(16, got.granted);
	EXPECT_EQ(65536, got.size);
	EXPECT_FALSE(pipe_msg_unpack(&got, buf, sizeof(grant) - 1));
	EXPECT_FALSE(pipe_msg_unpack(&got, buf, sizeof(grant) + 1));
	EXPECT_FALSE(pipe_msg_unpack(&got, buf, 0));
	buf[7] = PIPE_VERSION + 1;
	EXPECT_FALSE(pipe_msg_unpack(&got, buf, sizeof(grant)));

	msg.type = PIPE_DONE;
	msg.sum.total = 0x123456789abcdef0;
	memset(msg.sum.sha, 0x5a, PIPE_SHA_LEN);
	len = pipe_msg_pack(&msg, buf);
	ASSERT_EQ(48, len);
	EXPECT_EQ(0x12, buf[8]);
	ASSERT_TRUE(pipe_msg_unpack(&got, buf, len));
	EXPECT_EQ(0, memcmp(&msg.sum, &got.sum, sizeof(msg.sum)));
	buf[3] = 9;
	EXPECT_FALSE(pipe_msg_unpack(&got, buf, len));
}

TEST(text_of_a_peer_is_cut_and_harmless)
{
	struct pipe_msg msg = { .type = PIPE_FAILED };
	uint8_t buf[PIPE_MSG_LEN];
	struct pipe_msg got;

	memset(msg.text, 'x', PIPE_TEXT_LEN);
	ASSERT_EQ(PIPE_MSG_LEN, pipe_msg_pack(&msg, buf));
	ASSERT_TRUE(pipe_msg_unpack(&got, buf, PIPE_MSG_LEN));
	EXPECT_STREQ(msg.text, got.text);
	buf[8 + 2] = '\033';
	ASSERT_TRUE(pipe_msg_unpack(&got, buf, PIPE_MSG_LEN));
	EXPECT_STREQ("xx", got.text);
	ASSERT_TRUE(pipe_msg_unpack(&got, buf, 8));
	EXPECT_STREQ("", got.text);
}

TEST(what_a_bench_wants_is_these_bytes)
{
	static const uint8_t bytes[] = {
		'r', 'c', 'l', 'b', 0, 0, 0, 0, 0, 0, 0, RCLINK_OP_READ,
		0, 1, 0, 0, 0, 0, 0, 100,
	};
	struct bench b = {
		.test = BENCH_LAT,
		.op = RCLINK_OP_READ,
		.size = 65536,
		.iters = 100,
	};
	struct bench got = { 0 };
	struct bench_hello hello;

	bench_hello_put(&b, &hello);
	ASSERT_EQ(sizeof(bytes), sizeof(hello));
	EXPECT_EQ(0, memcmp(bytes, &hello, sizeof(hello)));
	ASSERT_TRUE(bench_hello_get(&got, &hello));
	EXPECT_EQ(BENCH_LAT, got.test);
	EXPECT_EQ(RCLINK_OP_READ, got.op);
	EXPECT_EQ(65536, got.size);
	EXPECT_EQ(100, got.iters);
}

TEST(a_bench_that_cannot_be_is_refused)
{
	static const struct {
		uint32_t test, op, size, iters;
	} wrong[] = {
		{ 4, RCLINK_OP_SEND, 8, 1 },
		{ UINT32_MAX, RCLINK_OP_SEND, 8, 1 },
		{ BENCH_LAT, RCLINK_OP_RECV, 8, 1 },
		{ BENCH_LAT, RCLINK_OP_SEND_IMM, 8, 1 },
		{ BENCH_BW, RCLINK_OP_CAS, 8, 1 },
		{ BENCH_LAT, UINT32_MAX, 8, 1 },
		{ BENCH_LAT, RCLINK_OP_SEND, 0, 1 },
		{ BENCH_LAT, RCLINK_OP_SEND, BENCH_LARGEST + 1, 1 },
		{ BENCH_LAT, RCLINK_OP_CAS, 64, 1 },
		{ BENCH_ATTACH, RCLINK_OP_WRITE, 7, 1 },
		{ BENCH_LAT, RCLINK_OP_SEND, 8, 0 },
		{ BENCH_LAT, RCLINK_OP_SEND, 8, BENCH_ITERS_MAX + 1 },
	};
	struct bench_hello hello;
	unsigned int i;

	for (i = 0; i < NUM(wrong); i++) {
		struct bench b = {
			.test = wrong[i].test,
			.op = wrong[i].op,
			.size = wrong[i].size,
			.iters = wrong[i].iters,
		};

		bench_hello_put(&b, &hello);
		EXPECT_FALSE(bench_hello_get(&b, &hello)) {
			TH_LOG("number %u", i);
		}
	}
	memset(&hello, 0, sizeof(hello));
	EXPECT_FALSE(bench_hello_get(&(struct bench){ 0 }, &hello));
}

TEST(what_a_pingpong_wants_is_these_bytes)
{
	static const uint8_t bytes[] = {
		'r', 'c', 'l', 'p', 0, 1, 0, 0, 0, 0, 0, 100, 0, 0, 0, 1,
	};
	const struct rcl_pingpong p = {
		.size = 65536,
		.iters = 100,
		.check = true,
	};
	struct rcl_pingpong got = { 0 };
	struct rcl_pingpong_hello hello;

	rcl_pingpong_put(&p, &hello);
	ASSERT_EQ(sizeof(bytes), sizeof(hello));
	EXPECT_EQ(0, memcmp(bytes, &hello, sizeof(hello)));
	ASSERT_TRUE(rcl_pingpong_get(&got, &hello));
	EXPECT_EQ(65536, got.size);
	EXPECT_EQ(100, got.iters);
	EXPECT_TRUE(got.check);
	/* Bytes of the two ends differ, and so do bytes 256 apart. */
	EXPECT_EQ(0, rcl_pingpong_byte(0, true));
	EXPECT_EQ(91, rcl_pingpong_byte(0, false));
	EXPECT_EQ(1, rcl_pingpong_byte(256, true));
}

TEST(a_pingpong_that_cannot_be_is_refused)
{
	static const struct rcl_pingpong wrong[] = {
		{ .size = RCL_PINGPONG_LARGEST + 1, .iters = 1 },
		{ .size = UINT32_MAX, .iters = 1 },
		{ .size = 8, .iters = 0 },
		{ .size = 8, .iters = RCL_PINGPONG_ITERS_MAX + 1 },
	};
	struct rcl_pingpong_hello hello;
	struct rcl_pingpong got;
	unsigned int i;

	for (i = 0; i < NUM(wrong); i++) {
		rcl_pingpong_put(&wrong[i], &hello);
		EXPECT_FALSE(rcl_pingpong_get(&got, &hello)) {
			TH_LOG("number %u", i);
		}
	}
	rcl_pingpong_put(&(struct rcl_pingpong){ .iters = 1 }, &hello);
	EXPECT_TRUE(rcl_pingpong_get(&got, &hello));
	hello.magic++;
	EXPECT_FALSE(rcl_pingpong_get(&got, &hello));
}

TEST(times_are_summed_up)
{
	uint64_t even[] = { 40, 10, 30, 20 }, many[1000];
	struct times t = times_sum(even, 4);
	unsigned int i;

	EXPECT_EQ(10, t.min);
	EXPECT_EQ(40, t.max);
	EXPECT_EQ(25, t.median);
	EXPECT_EQ(25, t.avg);
	EXPECT_EQ(11, t.mdev);		/* of the root of 125 */
	EXPECT_EQ(40, t.p99);
	t = times_sum(even, 3);
	EXPECT_EQ(20, t.median);
	t = times_sum(even, 0);
	EXPECT_EQ(0, t.max);
	for (i = 0; i < NUM(many); i++)
		many[i] = NUM(many) - i;
	t = times_sum(many, NUM(many));
	EXPECT_EQ(500, t.median);
	EXPECT_EQ(990, t.p99);
	EXPECT_EQ(999, t.p999);
}

TEST_HARNESS_MAIN
