// SPDX-License-Identifier: GPL-2.0
/*
 * Entries that the kernel refuses, and librclink mostly would not put into the
 * ring. A refused entry stays at the head, and nothing of it reaches the device
 * or the peer; a right one in its place is carried out. Simulated devices have
 * masked atomics, too, and small extents.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "harness.h"
#include "raw_rig.h"

#define PAGE		4096
#define NUM(a)		(sizeof(a) / sizeof((a)[0]))
#define DONE_MS		20000
#define TIMEOUT_S	120
#define PARTS		RCLINK_DEV_PARTS_MAX
#define RECV_AT		512	/* of a receive of the far end */
#define WRONG		2	/* user_data */
#define BRIEF_NAME	"brief"	/* to be ended by the near end */

#define TAKES_RECV	(SENDS | OP(WRITE_IMM))		/* of the peer */
#define WINDOWED	(WRITES | OP(READ) | ATOMICS)	/* an offset there */
#define REMOTE		(WINDOWED | OP(SEND_INV))

FIXTURE(raw)
{
	struct raw raw;
};

FIXTURE_VARIANT(raw)
{
	bool sims;
};

FIXTURE_VARIANT_ADD(raw, lab) {
	.sims = false,
};

FIXTURE_VARIANT_ADD(raw, sims) {
	.sims = true,
};

FIXTURE_SETUP(raw)
{
	ASSERT_EQ(0, raw_begin(&self->raw, variant->sims));
}

/* The channel is as good as new. */
FIXTURE_TEARDOWN(raw)
{
	struct rig *r = &self->raw.r;
	struct rcl_view view;

	EXPECT_EQ(0, rig_moves(r, 99));
	ASSERT_EQ(0, rcl_view(&r->s, RIG_NEAR, &view));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, view.state);
	EXPECT_EQ(0, rcl_stat(&r->s, RIG_NEAR, RCLINK_A_STATS_CHAN_ERRORS));
	EXPECT_EQ(0, rcl_stat(&r->s, RIG_FAR, RCLINK_A_STATS_CHAN_ERRORS));
	raw_end(&self->raw);
}

static void completes(struct __test_metadata *_metadata,
		      struct rclink_chan *chan, struct rclink_dev_cqe *cqe)
{
	ASSERT_LE(0, rclink_submit(chan, 1, slow(DONE_MS)));
	ASSERT_EQ(1, rclink_reap(chan, cqe, 1));
	EXPECT_EQ(RAW_TAG, cqe->user_data);
	ASSERT_EQ(0, cqe->status)
		TH_LOG("%s", rclink_status_name(cqe->status));
}

/* New bytes everywhere; the far end awaits a message and lends a region. */
static void prepare(struct __test_metadata *_metadata, struct raw *raw,
		    uint8_t op, uint32_t seed)
{
	struct rig *r = &raw->r;
	struct rclink_remote brief = { 0 };
	struct rclink_data piece;

	raw_fill(raw, seed);
	if (1U << op & TAKES_RECV) {
		piece = rclink_piece(r->far_region, RECV_AT, RAW_SIZE);
		ASSERT_EQ(0, rclink_recv(r->far, piece, RAW_TAG));
		ASSERT_EQ(1, rclink_submit(r->far, 0, 0));
	}
	if (op == RCLINK_OP_SEND_INV) {
		ASSERT_EQ(0, rclink_region(r->far, r->far_memory, PAGE,
					   BRIEF_NAME, RCLINK_REGION_READ |
					   RCLINK_REGION_INVALIDATE,
					   &raw->brief));
		ASSERT_EQ(0, rclink_import(r->near, BRIEF_NAME, &brief));
	}
	raw->handle[BRIEF] = brief.handle;
}

static void peer_got(struct __test_metadata *_metadata, struct raw *raw,
		     uint8_t op)
{
	struct rclink_remote brief = { .handle = raw->handle[BRIEF] };
	uint32_t flags = 0, imm = 0;
	struct rclink_dev_cqe cqe;

	completes(_metadata, raw->r.far, &cqe);
	EXPECT_EQ(RCLINK_OP_RECV, cqe.op);
	EXPECT_EQ(RAW_SIZE, cqe.len);
	if (op == RCLINK_OP_SEND_IMM || op == RCLINK_OP_WRITE_IMM) {
		flags = RCLINK_CQE_IMM;
		imm = RAW_IMM;
	}
	if (op == RCLINK_OP_WRITE_IMM)
		flags |= RCLINK_CQE_WRITTEN;
	if (op == RCLINK_OP_SEND_INV) {
		flags = RCLINK_CQE_INVALIDATED;
		imm = raw->brief;
		EXPECT_EQ(0, rclink_withdraw(raw->r.far, raw->brief));
		EXPECT_EQ(0, rclink_release(raw->r.near, &brief));
	}
	EXPECT_EQ(flags, cqe.flags);
	EXPECT_EQ(imm, cqe.imm);
}

static void peer_sends(struct __test_metadata *_metadata, struct raw *raw)
{
	struct rig *r = &raw->r;
	struct rclink_dev_cqe cqe;
	struct rclink_data piece;

	piece = rclink_piece(r->far_region, RAW_FAR_AT, RAW_SIZE);
	ASSERT_EQ(0, rclink_send(r->far, piece, RCLINK_SQE_SIGNALED, RAW_TAG));
	ASSERT_EQ(1, rclink_submit(r->far, 0, 0));
	completes(_metadata, r->far, &cqe);
}

/* The entry is carried out, and nothing else has happened since prepare(). */
static void works(struct __test_metadata *_metadata, struct raw *raw,
		  const struct rclink_dev_sqe *sqe)
{
	struct rig *r = &raw->r;
	struct rclink_dev_cqe cqe;
	uint32_t taken;

	raw_foresee(raw, sqe->op, RECV_AT);
	raw_put(raw, sqe);
	ASSERT_EQ(0, raw_submit(raw, 1, &taken));
	ASSERT_EQ(1, taken);
	if (sqe->op == RCLINK_OP_RECV)
		peer_sends(_metadata, raw);
	completes(_metadata, r->near, &cqe);
	EXPECT_EQ(sqe->op, cqe.op);
	if (1U << sqe->op & TAKES_RECV)
		peer_got(_metadata, raw, sqe->op);
	EXPECT_EQ(0, memcmp(raw->near, r->near_memory, RIG_MEMORY));
	EXPECT_EQ(0, memcmp(raw->far, r->far_memory, RIG_MEMORY));
	EXPECT_EQ(0, rclink_reap(r->near, &cqe, 1));
	EXPECT_EQ(0, rclink_reap(r->far, &cqe, 1));
}

/* Refused each time; then it is still there, and nothing was done. */
static void is_refused(struct __test_metadata *_metadata, struct raw *raw,
		       int ret)
{
	uint64_t before = raw_moved(raw);
	uint32_t at = raw_head(raw), tail = raw->shared->cq.tail, taken, i;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(ret, raw_submit(raw, 1, &taken));
		EXPECT_EQ(0, taken);
	}
	ASSERT_EQ(at, raw_head(raw));
	EXPECT_EQ(tail, raw->shared->cq.tail);
	EXPECT_EQ(before, raw_moved(raw));
}

/* What is changed in a right entry, for the operations of @ops. */
struct wrong {
	const char *what;
	uint32_t ops;
	int ret;
	struct {
		uint8_t at, size;
		uint64_t to;
	} set[4];
	enum handle region, second, remote;	/* second: of another piece */
};

/* By how many bits the field has. */
#define SET8(at, to) { offsetof(struct rclink_dev_sqe, at), 1, to }
#define SET32(at, to) { offsetof(struct rclink_dev_sqe, at), 4, to }
#define SET64(at, to) { offsetof(struct rclink_dev_sqe, at), 8, to }

static void store(void *at, uint8_t size, uint64_t to)
{
	if (size == sizeof(uint8_t))
		*(uint8_t *)at = to;
	else if (size == sizeof(uint32_t))
		*(uint32_t *)at = to;
	else
		*(uint64_t *)at = to;
}

static struct rclink_dev_sqe spoilt(struct raw *raw, const struct wrong *w,
				    uint8_t op)
{
	struct rclink_dev_sqe sqe = raw_right(raw, op);
	unsigned int i;

	sqe.user_data = WRONG;
	sqe.sge[1].region = raw->handle[w->second ? w->second : LOCAL];
	if (w->region)
		sqe.sge[0].region = raw->handle[w->region];
	if (w->remote)
		sqe.remote = raw->handle[w->remote];
	for (i = 0; i < NUM(w->set) && w->set[i].size; i++)
		store((uint8_t *)&sqe + w->set[i].at, w->set[i].size,
		      w->set[i].to);
	return sqe;
}

static void refuses(struct __test_metadata *_metadata, struct raw *raw,
		    const struct wrong *w, unsigned int n)
{
	struct rclink_dev_sqe sqe;
	unsigned int i;
	uint8_t op;

	for (i = 0; i < n; i++) {
		for (op = 0; op < RCLINK_OP_MAX; op++) {
			if (!(1U << op & w[i].ops) ||
			    (1U << op & MASKED && !raw->r.sims))
				continue;
			prepare(_metadata, raw, op, i * RCLINK_OP_MAX + op);
			sqe = spoilt(raw, &w[i], op);
			raw_put(raw, &sqe);
			is_refused(_metadata, raw, w[i].ret);
			sqe = raw_right(raw, op);
			works(_metadata, raw, &sqe);
			ASSERT_TRUE(__test_passed(_metadata))
				TH_LOG("%s: %s", rclink_op_name(op), w[i].what);
		}
	}
}

TEST_F_TIMEOUT(raw, fields_that_every_entry_has, TIMEOUT_S)
{
	static const struct wrong rows[] = {
		{ "the first operation that does not exist", OP(SEND), -EINVAL,
		  .set = { SET8(op, RCLINK_OP_MAX) } },
		{ "the last one", OP(SEND), -EINVAL, .set = { SET8(op, 255) } },
		{ "a flag too many", ALL_OPS, -EINVAL,
		  .set = { SET8(flags, 0x10) } },
		{ "the last flag", ALL_OPS, -EINVAL,
		  .set = { SET8(flags, 0x80) } },
		{ "a piece too many", ALL_OPS, -EINVAL,
		  .set = { SET8(num_sge, RCLINK_DEV_SGE_MAX + 1) } },
		{ "far too many", ALL_OPS, -EINVAL,
		  .set = { SET8(num_sge, 255) } },
		{ "the pad", ALL_OPS, -EINVAL, .set = { SET8(pad, 1) } },
		{ "its last bit", ALL_OPS, -EINVAL,
		  .set = { SET8(pad, 0x80) } },
		{ "a compare mask", ALL_OPS & ~MASKED, -EINVAL,
		  .set = { SET64(compare_mask, 1) } },
		{ "its last bit", ALL_OPS & ~MASKED, -EINVAL,
		  .set = { SET64(compare_mask, 1ULL << 63) } },
		{ "a swap mask", ALL_OPS & ~OP(MCAS), -EINVAL,
		  .set = { SET64(swap_mask, 1) } },
		{ "its last bit", ALL_OPS & ~OP(MCAS), -EINVAL,
		  .set = { SET64(swap_mask, 1ULL << 63) } },
		{ "signaled", OP(RECV), -EINVAL,
		  .set = { SET8(flags, RCLINK_SQE_SIGNALED) } },
		{ "fenced", OP(RECV), -EINVAL,
		  .set = { SET8(flags, RCLINK_SQE_FENCE) } },
		{ "solicited", OP(RECV), -EINVAL,
		  .set = { SET8(flags, RCLINK_SQE_SOLICITED) } },
	};

	refuses(_metadata, &self->raw, rows, NUM(rows));
}

TEST_F_TIMEOUT(raw, inline_data, TIMEOUT_S)
{
#define INLINE SET8(flags, RCLINK_SQE_INLINE)
#define NO_PIECES SET8(num_sge, 0)
	static const struct wrong rows[] = {
		{ "a byte too many", SENDS | WRITES, -EINVAL,
		  .set = { INLINE, NO_PIECES,
			   SET32(len, RCLINK_DEV_INLINE_MAX + 1) } },
		{ "far too many", SENDS | WRITES, -EINVAL,
		  .set = { INLINE, NO_PIECES, SET32(len, UINT32_MAX) } },
		{ "pieces, too", SENDS | WRITES, -EINVAL,
		  .set = { INLINE, SET32(len, 8) } },
		{ "where data comes in", OP(READ) | ATOMICS | OP(RECV),
		  -EINVAL, .set = { INLINE, NO_PIECES, SET32(len, 8) } },
		{ "and none at all", OP(READ) | ATOMICS | OP(RECV), -EINVAL,
		  .set = { INLINE, NO_PIECES } },
	};

	refuses(_metadata, &self->raw, rows, NUM(rows));
}

TEST_F_TIMEOUT(raw, pieces_of_local_regions, TIMEOUT_S)
{
#define OFFSET(to) SET64(sge[0].offset, to)
	static const struct wrong rows[] = {
		{ "a byte beyond the end", ALL_OPS, -EINVAL,
		  .set = { OFFSET(RIG_MEMORY - 7) } },
		{ "no byte beyond the end", ALL_OPS, -EINVAL,
		  .set = { OFFSET(RIG_MEMORY + 1), SET32(sge[0].len, 0) } },
		{ "the end of addresses", ALL_OPS, -EINVAL,
		  .set = { OFFSET(UINT64_MAX - 7) } },
		{ "all of that", ALL_OPS, -EINVAL,
		  .set = { SET32(sge[0].len, UINT32_MAX) } },
		{ "the second piece", ALL_OPS, -EINVAL,
		  .set = { SET8(num_sge, 2), SET64(sge[1].offset, RIG_MEMORY),
			   SET32(sge[1].len, 1) } },
		{ "no region", ALL_OPS, -ESTALE, .region = NONE },
		{ "no region for no bytes", ALL_OPS, -ESTALE, .region = ONES,
		  .set = { SET32(sge[0].len, 0) } },
		{ "one that was withdrawn", ALL_OPS, -ESTALE,
		  .region = WITHDRAWN },
		{ "one of another channel", ALL_OPS, -ESTALE,
		  .region = OF_FAR },
		{ "an import", ALL_OPS, -ESTALE, .region = PEERS },
		{ "no second region", ALL_OPS, -ESTALE, .second = NONE,
		  .set = { SET8(num_sge, 2), SET32(sge[1].len, 1) } },
		{ "one that is read-only", OP(READ) | ATOMICS | OP(RECV),
		  -EACCES, .region = READ_ONLY },
		{ "a second one that is read-only", OP(READ) | OP(RECV),
		  -EACCES, .second = READ_ONLY,
		  .set = { SET8(num_sge, 2), SET32(sge[1].len, 1) } },
	};

	refuses(_metadata, &self->raw, rows, NUM(rows));
}

TEST_F_TIMEOUT(raw, memory_of_the_peer, TIMEOUT_S)
{
#define THERE(to) SET64(remote_offset, to)
	static const struct wrong rows[] = {
		{ "a byte beyond the end", WRITES | OP(READ), -EINVAL,
		  .set = { THERE(RIG_MEMORY - RAW_SIZE + 1) } },
		{ "eight beyond the end", WINDOWED, -EINVAL,
		  .set = { THERE(RIG_MEMORY) } },
		{ "no byte beyond the end", WRITES | OP(READ), -EINVAL,
		  .set = { SET8(num_sge, 0), THERE(RIG_MEMORY + 1) } },
		{ "the end of addresses", WINDOWED, -EINVAL,
		  .set = { THERE(UINT64_MAX - 7) } },
		{ "no import", REMOTE, -ESTALE, .remote = NONE },
		{ "nor this one", REMOTE, -ESTALE, .remote = ONES },
		{ "one that was released", REMOTE, -ESTALE,
		  .remote = RELEASED },
		{ "one of another channel", REMOTE, -ESTALE,
		  .remote = FARS_IMPORT },
		{ "a region", REMOTE, -ESTALE, .remote = LOCAL },
		{ "to be written", REMOTE & ~WRITES, -EACCES,
		  .remote = PEERS_WRITE },
		{ "to be read", REMOTE & ~OP(READ), -EACCES,
		  .remote = PEERS_READ },
		{ "for atomics", REMOTE & ~ATOMICS, -EACCES,
		  .remote = PEERS_ATOMIC },
		{ "all but to be ended", OP(SEND_INV), -EACCES,
		  .remote = PEERS },
	};

	refuses(_metadata, &self->raw, rows, NUM(rows));
}

TEST_F_TIMEOUT(raw, atomics_of_another_size, TIMEOUT_S)
{
#define LEN(n, to) SET32(sge[n].len, to)
	static const struct wrong rows[] = {
		{ "no piece", ATOMICS, -EINVAL, .set = { NO_PIECES } },
		{ "0 bytes", ATOMICS, -EINVAL, .set = { LEN(0, 0) } },
		{ "4 bytes", ATOMICS, -EINVAL, .set = { LEN(0, 4) } },
		{ "7 bytes", ATOMICS, -EINVAL, .set = { LEN(0, 7) } },
		{ "9 bytes", ATOMICS, -EINVAL, .set = { LEN(0, 9) } },
		{ "16 bytes", ATOMICS, -EINVAL, .set = { LEN(0, 16) } },
		{ "4 and 4 bytes", ATOMICS, -EINVAL,
		  .set = { SET8(num_sge, 2), LEN(0, 4), LEN(1, 4) } },
		{ "8 and 0 bytes", ATOMICS, -EINVAL,
		  .set = { SET8(num_sge, 2), LEN(1, 0) } },
		{ "at 1", ATOMICS, -EINVAL, .set = { THERE(1) } },
		{ "at 4", ATOMICS, -EINVAL, .set = { THERE(4) } },
	};

	refuses(_metadata, &self->raw, rows, NUM(rows));
}

/* The length of an extent is known only here. */
TEST_F_TIMEOUT(raw, what_touches_too_many_extents, TIMEOUT_S)
{
	const uint32_t ext = self->raw.extent;
	const struct wrong rows[] = {
		{ "here", ALL_OPS, -EMSGSIZE, .region = BIG,
		  .set = { OFFSET(0), SET32(sge[0].len, PARTS * ext + 1) } },
		{ "here, but for the first byte", ALL_OPS, -EMSGSIZE,
		  .region = BIG,
		  .set = { OFFSET(ext - 1),
			   SET32(sge[0].len, (PARTS - 1) * ext + 2) } },
		{ "here, in two pieces", ALL_OPS, -EMSGSIZE, .region = BIG,
		  .set = { OFFSET(0), SET32(sge[0].len, PARTS * ext),
			   SET8(num_sge, 2), SET32(sge[1].len, 1) } },
		{ "there", WRITES | OP(READ), -EMSGSIZE, .region = BIG,
		  .remote = PEERS_BIG,
		  .set = { OFFSET(0), SET32(sge[0].len, PARTS * ext),
			   THERE(1) } },
		{ "an atomic, two here", ATOMICS, -EMSGSIZE, .region = BIG,
		  .set = { OFFSET(ext - 4) } },
	};

	refuses(_metadata, &self->raw, rows, NUM(rows));
}

/* It always will be, so that a process need not clear it. */
TEST_F_TIMEOUT(raw, what_an_operation_has_no_use_for_is_ignored, TIMEOUT_S)
{
	const struct rclink_dev_sge junk = { UINT64_MAX, UINT32_MAX, ~0U };
	struct raw *raw = &self->raw;
	struct rclink_dev_sqe sqe;
	unsigned int op, i;

	for (op = 0; op < RCLINK_OP_MAX; op++) {
		if (1U << op & MASKED && !raw->r.sims)
			continue;
		prepare(_metadata, raw, op, op);
		sqe = raw_right(raw, op);
		sqe.len = UINT32_MAX;
		if (!(1U << op & REMOTE))
			sqe.remote = UINT32_MAX;
		if (!(1U << op & WINDOWED))
			sqe.remote_offset = UINT64_MAX;
		if (!(1U << op & ATOMICS))
			sqe.compare_add = UINT64_MAX;
		if (!(1U << op & (OP(CAS) | OP(MCAS))))
			sqe.swap = UINT64_MAX;
		if (!(1U << op & (OP(SEND_IMM) | OP(WRITE_IMM))))
			sqe.imm = UINT32_MAX;
		for (i = 1; i < RCLINK_DEV_SGE_MAX; i++)
			sqe.sge[i] = junk;
		works(_metadata, raw, &sqe);
		ASSERT_TRUE(__test_passed(_metadata))
			TH_LOG("%s", rclink_op_name(op));
	}
}

/* What is before it is carried out, what is behind it waits. */
TEST_F(raw, a_wrong_entry_among_right_ones)
{
	struct raw *raw = &self->raw;
	struct rclink_dev_sqe sqe;
	uint32_t taken, at;

	prepare(_metadata, raw, RCLINK_OP_WRITE, 1);
	sqe = raw_right(raw, RCLINK_OP_WRITE);
	*raw_entry(raw, 0) = sqe;
	sqe.remote_offset += RAW_SIZE;
	*raw_entry(raw, 2) = sqe;
	sqe.pad = 1;
	*raw_entry(raw, 1) = sqe;
	at = raw_head(raw);
	raw_set_tail(raw, at + 3);
	EXPECT_EQ(-EINVAL, raw_submit(raw, 3, &taken));
	EXPECT_EQ(1, taken);
	ASSERT_EQ(at + 1, raw_head(raw));
	EXPECT_EQ(0, raw_completes(raw));
	raw_foresee(raw, RCLINK_OP_WRITE, RECV_AT);
	EXPECT_EQ(0, memcmp(raw->far, raw->r.far_memory, RIG_MEMORY));
	is_refused(_metadata, raw, -EINVAL);

	*raw_entry(raw, 0) = raw_right(raw, RCLINK_OP_READ);
	ASSERT_EQ(0, raw_submit(raw, 3, &taken));
	EXPECT_EQ(2, taken);
	EXPECT_EQ(0, raw_completes(raw));
	EXPECT_EQ(0, raw_completes(raw));
	memcpy(raw->far + RAW_FAR_AT + RAW_SIZE, raw->near + RAW_NEAR_AT,
	       RAW_SIZE);
	EXPECT_EQ(0, memcmp(raw->far, raw->r.far_memory, RIG_MEMORY));
	EXPECT_EQ(0, memcmp(raw->near, raw->r.near_memory, RIG_MEMORY));
}

TEST_HARNESS_MAIN
