// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that has the key sends what no real peer sends. A message that breaks
 * the protocol ends the epoch and is counted; a request that only asks for too
 * much is refused. Each wrong message has an epoch of its own, which shows that
 * the one before did no harm.
 */
#include <errno.h>
#include <string.h>

#include "../../kmod/pattern.h"
#include "harness.h"
#include "hostile.h"

#define TIMEOUT_S	400
#define BUFFER		PEER_BUFFER	/* the module's is as long */

#define SAY(t, ...)	{ .type = RCL_MSG_##t, ##__VA_ARGS__ }
#define NAME(n)		.data = (const uint8_t *)(n), .len = sizeof(n) - 1

FIXTURE(link)
{
	struct hostile h;
};

FIXTURE_SETUP(link)
{
	ASSERT_EQ(0, hostile_begin(&self->h, RCLINK_ROLE_INITIATOR));
}

FIXTURE_TEARDOWN(link)
{
	EXPECT_EQ(0, hostile_end(&self->h));
}

static void each_ends(struct __test_metadata *_metadata, struct hostile *h,
		      const struct wrong *wrong, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, hostile_up(h));
		ASSERT_EQ(0, hostile_say(h, &wrong[i]));
		EXPECT_EQ(0, hostile_ends(h, wrong[i].what,
					  RCLINK_DOWN_REASON_PROTOCOL));
	}
}

#define COUNT(a)	(sizeof(a) / sizeof(*(a)))

/* A message of each type, and of 0 and RCL_MSG_MAX, which are no types. */
static void each_type(struct __test_metadata *_metadata, struct hostile *h,
		      int more)
{
	struct wrong w = { .msg = { .len = 4, .data = h->p.text },
			   .more = more };
	char what[64];

	w.what = what;
	for (w.msg.type = 0; w.msg.type <= RCL_MSG_MAX; w.msg.type++) {
		snprintf(what, sizeof(what), "type %u, %+d bytes", w.msg.type,
			 more);
		ASSERT_EQ(0, hostile_up(h));
		ASSERT_EQ(0, hostile_say(h, &w));
		EXPECT_EQ(0, hostile_ends(h, what,
					  RCLINK_DOWN_REASON_PROTOCOL));
	}
}

TEST_F_TIMEOUT(link, a_byte_is_missing, TIMEOUT_S)
{
	each_type(_metadata, &self->h, -1);
}

TEST_F_TIMEOUT(link, there_is_a_byte_too_many, TIMEOUT_S)
{
	each_type(_metadata, &self->h, 1);
}

/* Lengths that do not fit the message, and other fields out of range. */
TEST_F_TIMEOUT(link, lengths_lie, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "nothing at all", SAY(BEAT), -RCL_MSG_HEAD },
		{ "no type 255", { .type = 255 } },
		{ "status 5", SAY(BEAT, .status = RCL_MSG_STATUS_MAX) },
		{ "status 255", SAY(PING, .status = 255) },
		{ "a credit too many", SAY(BEAT, .credits = 17) },
		{ "all credits", SAY(BEAT, .credits = UINT16_MAX) },
		{ "PING of none", SAY(PING, NAME("abcdefgh")), -8 },
		{ "OPEN of more", SAY(OPEN, NAME("abcdefgh")), 100 },
	};
	static const uint32_t lens[] = {
		RCL_MSG_DATA_MAX, RCL_MSG_DATA_MAX + 1, 1 << 16, 1 << 31,
		UINT32_MAX - RCL_MSG_RANGE - RCL_MSG_HEAD + 1, UINT32_MAX,
	};
	uint8_t text[PEER_TEXT] = { RCL_MSG_PING };
	size_t i;

	each_ends(_metadata, &self->h, wrong, COUNT(wrong));
	for (i = 0; i < COUNT(lens); i++) {
		ASSERT_EQ(0, hostile_up(&self->h));
		rcl_msg_put(text + 12, lens[i], 4);
		text[3] = self->h.p.owed;
		ASSERT_EQ(0, peer_say_text(&self->h.p, text, RCL_MSG_HEAD +
					   RCL_MSG_RANGE + 8));
		EXPECT_EQ(0, hostile_ends(&self->h, "length",
					  RCLINK_DOWN_REASON_PROTOCOL));
	}
}

TEST_F_TIMEOUT(link, nobody_asked, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "HELLO again", SAY(HELLO, .cookie = RCL_MSG_VERSION) },
		{ "HELLO_ACK again", SAY(HELLO_ACK) },
		{ "PONG", SAY(PONG) },
		{ "FILLED", SAY(FILLED) },
		{ "CHECKED", SAY(CHECKED) },
		{ "OPENED", SAY(OPENED) },
		{ "RECYCLED", SAY(RECYCLED, .len = 17) },
		{ "GONE", SAY(GONE) },
		{ "IMPORTED", SAY(IMPORTED) },
		{ "HEARD", SAY(HEARD) },
		{ "BEAT_ACK", SAY(BEAT_ACK) },
		{ "RESUMED", SAY(RESUMED) },
		{ "GROUPED", SAY(GROUPED) },
	};

	each_ends(_metadata, &self->h, wrong, COUNT(wrong));
}

/* A name that leaves no room for a NUL. */
#define LONG	"0123456789abcdef0123456789abcdef"

TEST_F_TIMEOUT(link, out_of_range, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "FILL behind it", SAY(FILL, .offset = BUFFER, .len = 1) },
		{ "FILL one more", SAY(FILL, .len = BUFFER + 1) },
		{ "FILL far off", SAY(FILL, .offset = UINT32_MAX, .len = 1) },
		{ "FILL that wraps", SAY(FILL, .offset = 1,
					 .len = UINT32_MAX) },
		{ "CHECK behind it", SAY(CHECK, .offset = BUFFER + 1) },
		{ "CHECK that wraps", SAY(CHECK, .offset = BUFFER,
					  .len = UINT32_MAX - BUFFER + 1) },
		{ "OPEN of no QP", SAY(OPEN, .offset = PEER_QPS, NAME("a")) },
		{ "OPEN of none", SAY(OPEN, .offset = UINT32_MAX, NAME("a")) },
		{ "RECYCLE of no QP", SAY(RECYCLE, .offset = PEER_QPS,
					  .len = 17) },
		{ "GO of no QP", SAY(GO, .offset = PEER_QPS) },
		{ "HEARS of no QP", SAY(HEARS, .offset = PEER_QPS) },
		{ "RESUME of no QP", SAY(RESUME, .offset = 1U << 31) },
		{ "IMPORT of no QP", SAY(IMPORT, .offset = PEER_QPS,
					 NAME("a")) },
		{ "OPEN without a name", SAY(OPEN) },
		{ "OPEN with NUL", SAY(OPEN, NAME("a\0b")) },
		{ "OPEN, long", SAY(OPEN, NAME(LONG)) },
		{ "IMPORT without a name", SAY(IMPORT) },
		{ "IMPORT with NUL", SAY(IMPORT, NAME("\0")) },
		{ "IMPORT, long", SAY(IMPORT, NAME(LONG)) },
		{ "GROUP without a name", SAY(GROUP) },
		{ "GROUP with NUL", SAY(GROUP, NAME("ab\0")) },
		{ "GROUP, long", SAY(GROUP, NAME(LONG)) },
	};

	each_ends(_metadata, &self->h, wrong, COUNT(wrong));
}

TEST_F_TIMEOUT(link, nothing_is_leased, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "RECYCLE", SAY(RECYCLE, .len = 17) },
		{ "RECYCLE of a failed one", SAY(RECYCLE, .offset = 1,
						 .status = RCL_MSG_FAILED) },
		{ "RECYCLE with QPN 0", SAY(RECYCLE) },
		{ "GO", SAY(GO) },
		{ "GO of a failed one", SAY(GO, .status = RCL_MSG_FAILED) },
	};

	each_ends(_metadata, &self->h, wrong, COUNT(wrong));
}

#define DIR	0x8000000000000000ULL	/* top bit of nonces */

/* The key is right; the epoch, the direction or the number is not. */
TEST_F_TIMEOUT(link, it_seals_what_does_not_come_next, TIMEOUT_S)
{
	static const struct {
		const char *what;
		uint64_t epoch, seq, dir;
		uint32_t reason;
	} wrong[] = {
		{ "the epoch before", -1, 0, 0,
		  RCLINK_DOWN_REASON_UNAUTHENTICATED },
		{ "the next epoch", 1, 0, 0,
		  RCLINK_DOWN_REASON_UNAUTHENTICATED },
		{ "as the module seals", 0, 0, DIR,
		  RCLINK_DOWN_REASON_UNAUTHENTICATED },
		{ "a direction in the number", 0, DIR, 0,
		  RCLINK_DOWN_REASON_UNAUTHENTICATED },
		{ "the number before", 0, -1, 0,
		  RCLINK_DOWN_REASON_OUT_OF_SEQUENCE },
		{ "one is missing", 0, 1, 0,
		  RCLINK_DOWN_REASON_OUT_OF_SEQUENCE },
	};
	const struct wrong beat = { "", SAY(BEAT) };
	struct hostile *h = &self->h;
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		ASSERT_EQ(0, hostile_up(h));
		h->p.seal.epoch += wrong[i].epoch;
		h->p.seal.tx_seq += wrong[i].seq;
		h->p.seal.tx_dir ^= wrong[i].dir;
		ASSERT_EQ(0, hostile_say(h, &beat));
		EXPECT_EQ(0, hostile_ends(h, wrong[i].what, wrong[i].reason));
	}
}

/* A peer may send nothing but its hello before the link is up. */
TEST_F_TIMEOUT(link, it_is_not_up, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "PING before HELLO", SAY(PING, NAME("abcd")) },
		{ "FILL before HELLO", SAY(FILL, .len = 8) },
		{ "CHECK before HELLO", SAY(CHECK, .len = 8) },
		{ "OPEN before HELLO", SAY(OPEN, NAME("a")) },
		{ "IMPORT before HELLO", SAY(IMPORT, NAME("a")) },
		{ "GROUP before HELLO", SAY(GROUP, NAME("a")) },
		{ "RESUME before HELLO", SAY(RESUME) },
		{ "BEAT before HELLO", SAY(BEAT) },
		{ "PONG before HELLO", SAY(PONG) },
		{ "BEAT_ACK before HELLO", SAY(BEAT_ACK) },
		{ "GONE before HELLO", SAY(GONE) },
	};
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		ASSERT_EQ(0, hostile_meet(&self->h));
		ASSERT_EQ(0, hostile_say(&self->h, &wrong[i]));
		EXPECT_EQ(0, hostile_ends(&self->h, wrong[i].what,
					  RCLINK_DOWN_REASON_PROTOCOL));
	}
}

static const struct wrong hello = {
	"HELLO", SAY(HELLO, .cookie = RCL_MSG_VERSION)
};

static const struct wrong ack = { "HELLO_ACK", SAY(HELLO_ACK) };

TEST_F_TIMEOUT(link, hello_comes_twice, TIMEOUT_S)
{
	struct hostile *h = &self->h;

	ASSERT_EQ(0, hostile_meet(h));
	ASSERT_EQ(0, hostile_say(h, &hello));
	ASSERT_EQ(0, hostile_say(h, &hello));
	EXPECT_EQ(0, hostile_ends(h, "HELLO, HELLO",
				  RCLINK_DOWN_REASON_PROTOCOL));
	ASSERT_EQ(0, hostile_meet(h));
	ASSERT_EQ(0, hostile_say(h, &ack));
	ASSERT_EQ(0, hostile_say(h, &ack));
	EXPECT_EQ(0, hostile_ends(h, "HELLO_ACK, HELLO_ACK",
				  RCLINK_DOWN_REASON_PROTOCOL));
	/* A BEAT before the HELLO_ACK: the link is not up yet. */
	ASSERT_EQ(0, hostile_meet(h));
	ASSERT_EQ(0, hostile_say(h, &hello));
	ASSERT_EQ(0, hostile_say(h, &(struct wrong){ "", SAY(BEAT) }));
	EXPECT_EQ(0, hostile_ends(h, "HELLO, BEAT",
				  RCLINK_DOWN_REASON_PROTOCOL));
}

TEST_F_TIMEOUT(link, it_is_of_another_version, TIMEOUT_S)
{
	static const uint32_t version[] = {
		0, RCL_MSG_VERSION - 1, RCL_MSG_VERSION + 1, UINT32_MAX,
	};
	struct wrong w = hello;
	size_t i;

	for (i = 0; i < COUNT(version); i++) {
		ASSERT_EQ(0, hostile_meet(&self->h));
		w.msg.cookie = version[i];
		ASSERT_EQ(0, hostile_say(&self->h, &w));
		EXPECT_EQ(0, hostile_ends(&self->h, "version",
					  RCLINK_DOWN_REASON_OTHER_VERSION));
	}
}

TEST_F_TIMEOUT(link, it_says_goodbye, TIMEOUT_S)
{
	static const struct wrong bye[] = {
		{ "BYE", SAY(BYE) },
		{ "BYE for another one", SAY(BYE, .cookie = RCL_MSG_AGAIN) },
	};
	struct hostile *h = &self->h;

	ASSERT_EQ(0, hostile_up(h));
	ASSERT_EQ(0, hostile_say(h, &bye[0]));
	EXPECT_EQ(0, hostile_ends(h, bye[0].what,
				  RCLINK_DOWN_REASON_PEER_DISCONNECTED));
	ASSERT_EQ(0, hostile_up(h));
	ASSERT_EQ(0, hostile_say(h, &bye[1]));
	EXPECT_EQ(0, hostile_ends(h, bye[1].what,
				  RCLINK_DOWN_REASON_REPLACED));
	/* A BYE before the link is up. */
	ASSERT_EQ(0, hostile_meet(h));
	ASSERT_EQ(0, hostile_say(h, &bye[0]));
	EXPECT_EQ(0, hostile_ends(h, bye[0].what,
				  RCLINK_DOWN_REASON_PEER_DISCONNECTED));
}

#define CHECKS	8	/* each is as much as one pass looks at */

/* A BYE explains the failure behind it, however much is to be read before. */
TEST_F_TIMEOUT(link, it_says_goodbye_behind_much_else, TIMEOUT_S)
{
	static const struct wrong check = {
		"CHECK", SAY(CHECK, .len = BUFFER)
	};
	static const struct wrong bye = { "BYE", SAY(BYE) };
	struct hostile *h = &self->h;
	int i;

	ASSERT_EQ(0, hostile_up(h));
	for (i = 0; i < CHECKS; i++)
		ASSERT_EQ(0, hostile_say(h, &check));
	ASSERT_EQ(0, hostile_say(h, &bye));
	ASSERT_EQ(0, peer_write_imm(&h->p));
	EXPECT_EQ(0, hostile_ends(h, "CHECKs, BYE",
				  RCLINK_DOWN_REASON_PEER_DISCONNECTED));
}

/* Requests that a peer may send at any time, and the answers to them. */
TEST_F_TIMEOUT(link, it_is_refused_what_it_asks, TIMEOUT_S)
{
	static const struct {
		struct wrong w;
		uint8_t type, status;
	} asked[] = {
		{ { "PING, other data", SAY(PING, .seed = 1, NAME("abcd")) },
		  RCL_MSG_PONG, RCL_MSG_DIFFERS },
		{ { "PING, no data", SAY(PING, .offset = UINT32_MAX) },
		  RCL_MSG_PONG, RCL_MSG_OK },
		{ { "PING, far off", SAY(PING, .offset = UINT32_MAX - 1,
					 NAME("abcd")) },
		  RCL_MSG_PONG, RCL_MSG_DIFFERS },
		{ { "FILL, no data", SAY(FILL, .offset = BUFFER) },
		  RCL_MSG_FILLED, RCL_MSG_OK },
		{ { "FILL, odd", SAY(FILL, .offset = 4095, .len = 4099) },
		  RCL_MSG_FILLED, RCL_MSG_OK },
		{ { "CHECK, odd", SAY(CHECK, .offset = 4095, .len = 4099) },
		  RCL_MSG_CHECKED, RCL_MSG_OK },
		{ { "CHECK, other", SAY(CHECK, .seed = 5, .len = BUFFER) },
		  RCL_MSG_CHECKED, RCL_MSG_DIFFERS },
		{ { "OPEN", SAY(OPEN, NAME("nobody")) },
		  RCL_MSG_OPENED, RCL_MSG_REFUSED },
		{ { "HEARS", SAY(HEARS, .offset = 1, .status = 4) },
		  RCL_MSG_HEARD, RCL_MSG_OK },
		{ { "RESUME", SAY(RESUME, .len = UINT32_MAX) },
		  RCL_MSG_RESUMED, RCL_MSG_REFUSED },
		{ { "IMPORT", SAY(IMPORT, .seed = UINT32_MAX, NAME("none")) },
		  RCL_MSG_IMPORTED, RCL_MSG_REFUSED },
		{ { "GROUP", SAY(GROUP, .offset = 1, NAME("none")) },
		  RCL_MSG_GROUPED, RCL_MSG_REFUSED },
		{ { "BEAT, again", SAY(BEAT, .cookie = RCL_MSG_AGAIN) },
		  RCL_MSG_BEAT_ACK, RCL_MSG_OK },
	};
	struct hostile *h = &self->h;
	struct rcl_msg msg;
	size_t i;

	ASSERT_EQ(0, hostile_up(h));
	for (i = 0; i < COUNT(asked); i++) {
		ASSERT_EQ(0, hostile_say(h, &asked[i].w));
		ASSERT_EQ(0, peer_await(&h->p, asked[i].type, &msg))
			TH_LOG("%s", asked[i].w.what);
		EXPECT_EQ(asked[i].status, msg.status)
			TH_LOG("%s", asked[i].w.what);
		EXPECT_EQ(asked[i].w.msg.cookie, msg.cookie);
	}
	EXPECT_EQ(0, hostile_lives(h, "all of them"));
}

#define FLIPS	50
#define MOST_FLIPS	(100 * FLIPS)
#define MOST_WRITES	(PEER_SENDS - 2)	/* beside a WRITE and CHECK */
#define END	(PEER_BUFFER - PIECE)	/* the last piece of the buffer */
#define PIECE	64

static void check(struct __test_metadata *_metadata, struct hostile *h,
		  uint32_t flips, struct rcl_msg *msg)
{
	const struct wrong w = {
		"CHECK", SAY(CHECK, .seed = 7, .len = PEER_BUFFER)
	};
	uint32_t i;

	ASSERT_EQ(0, peer_write(&h->p, 0, 0, PEER_BUFFER));
	ASSERT_EQ(0, hostile_say(h, &w));
	for (i = 0; i < flips; i++)
		ASSERT_EQ(0, peer_write(&h->p, i % 2 ? END : 0, END, PIECE));
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_CHECKED, msg));
}

/* WRITEs to the link buffer during a CHECK only change its answer. */
TEST_F_TIMEOUT(link, it_writes_what_is_being_looked_at, TIMEOUT_S)
{
	struct hostile *h = &self->h;
	struct rcl_msg msg;
	int i, writes, differed = 0;

	ASSERT_EQ(0, hostile_up(h));
	rcl_pattern_fill(peer_buffer(&h->p), 0, PEER_BUFFER, 7);
	/*
	 * Linux 6.1 receives packets where this process posts them, and lets
	 * the module look at once: a WRITE meets a CHECK once in some 250.
	 */
	for (i = 0; i < FLIPS || (!differed && i < MOST_FLIPS); i++) {
		writes = i < FLIPS ? 8 : MOST_WRITES;
		check(_metadata, h, 1 + i % writes, &msg);
		ASSERT_GE(RCL_MSG_DIFFERS, msg.status);
		differed += msg.status == RCL_MSG_DIFFERS;
	}
	TH_LOG("%d of %d differed", differed, i);
	EXPECT_LT(0, differed);
	check(_metadata, h, 0, &msg);
	EXPECT_EQ(RCL_MSG_OK, msg.status);
	EXPECT_EQ(0, hostile_lives(h, "WRITEs beside CHECKs"));
}

/* The peer asks more than it may, and gives no credit for the answers. */
TEST_F_TIMEOUT(link, it_asks_without_end, TIMEOUT_S)
{
	struct hostile *h = &self->h;
	int i;

	ASSERT_EQ(0, hostile_up(h));
	for (i = 0; i < PEER_SLOTS; i++) {
		h->p.owed = 0;
		ASSERT_EQ(0, hostile_say(h, &(struct wrong){ "", SAY(BEAT) }));
	}
	EXPECT_EQ(0, hostile_ends(h, "no credit",
				  RCLINK_DOWN_REASON_PROTOCOL));
}

/* Start a ping of @op and @size; the module then asks a question of @type. */
static void pings(struct __test_metadata *_metadata, struct hostile *h,
		  uint32_t op, uint32_t size, uint8_t type,
		  struct rcl_msg *msg)
{
	ASSERT_EQ(0, hostile_up(h));
	ASSERT_EQ(0, rcl_ping(&h->s, HOSTILE_LINK, op, size, 1, NULL));
	ASSERT_EQ(0, peer_await(&h->p, type, msg));
}

static void pinged(struct __test_metadata *_metadata, struct hostile *h,
		   const char *what, uint32_t error)
{
	struct rcl_pong pong = { 0 };

	EXPECT_EQ(0, rcl_pong(&h->s, &pong, slow(HOSTILE_MS)))
		TH_LOG("%s", what);
	EXPECT_EQ(error, pong.error) TH_LOG("%s", what);
}

/* Answer @to, but with the changes in @other, and @more bytes longer. */
static int answer(struct hostile *h, const struct rcl_msg *to,
		  const struct rcl_msg *other, int more)
{
	struct rcl_msg msg = *to;

	if (other->type)
		msg.type = other->type;
	msg.status = other->status;
	msg.cookie ^= other->cookie;
	msg.offset ^= other->offset;
	msg.seed ^= other->seed;
	msg.len += more;
	return peer_say(&h->p, &msg);
}

#define PING_LEN	(2 * RCL_MSG_DATA_MAX)

TEST_F_TIMEOUT(link, other_answers_to_ping, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "cookie", SAY(PONG, .cookie = 1) },
		{ "offset", SAY(PONG, .offset = 1) },
		{ "offset, far", SAY(PONG, .offset = 1U << 31) },
		{ "seed", SAY(PONG, .seed = 1) },
		{ "short", SAY(PONG), -1 },
		{ "empty", SAY(PONG), -RCL_MSG_DATA_MAX },
		{ "FILLED", SAY(FILLED) },
		{ "CHECKED", SAY(CHECKED) },
		{ "GONE", SAY(GONE) },
		{ "HEARD", SAY(HEARD) },
		{ "BEAT_ACK", SAY(BEAT_ACK) },
		{ "HELLO_ACK", SAY(HELLO_ACK) },
	};
	struct hostile *h = &self->h;
	struct rcl_msg msg;
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		pings(_metadata, h, RCLINK_PING_OP_SEND, PING_LEN,
		      RCL_MSG_PING, &msg);
		ASSERT_EQ(0, answer(h, &msg, &wrong[i].msg, wrong[i].more));
		EXPECT_EQ(0, hostile_ends(h, wrong[i].what,
					  RCLINK_DOWN_REASON_PROTOCOL));
		pinged(_metadata, h, wrong[i].what, ENOTCONN);
	}
	/* The right answer, but twice. */
	pings(_metadata, h, RCLINK_PING_OP_SEND, PING_LEN, RCL_MSG_PING, &msg);
	ASSERT_EQ(0, answer(h, &msg, &(struct rcl_msg)SAY(PONG), 0));
	ASSERT_EQ(0, answer(h, &msg, &(struct rcl_msg)SAY(PONG), 0));
	EXPECT_EQ(0, hostile_ends(h, "PONG, PONG",
				  RCLINK_DOWN_REASON_PROTOCOL));
	pinged(_metadata, h, "PONG, PONG", ENOTCONN);
}

/* The ping ends with the first answer; one to the second is still valid. */
TEST_F_TIMEOUT(link, the_first_of_two_pieces_comes_back_wrong, TIMEOUT_S)
{
	struct hostile *h = &self->h;
	struct rcl_msg first, second;

	pings(_metadata, h, RCLINK_PING_OP_SEND, PING_LEN, RCL_MSG_PING,
	      &first);
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_PING, &second));
	ASSERT_EQ(0, answer(h, &first, &(struct rcl_msg)
			    SAY(PONG, .status = RCL_MSG_DIFFERS), 0));
	pinged(_metadata, h, "differs", EILSEQ);
	ASSERT_EQ(0, answer(h, &second, &(struct rcl_msg)SAY(PONG), 0));
	EXPECT_EQ(0, hostile_lives(h, "after the second"));
}

TEST_F_TIMEOUT(link, other_answers_to_fill, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "cookie", SAY(FILLED, .cookie = 1U << 31) },
		{ "PONG", SAY(PONG), -8 },
		{ "CHECKED", SAY(CHECKED) },
		{ "RECYCLED", SAY(RECYCLED) },
	};
	struct hostile *h = &self->h;
	struct rcl_msg msg;
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		pings(_metadata, h, RCLINK_PING_OP_READ, 8, RCL_MSG_FILL,
		      &msg);
		ASSERT_EQ(0, answer(h, &msg, &wrong[i].msg, wrong[i].more));
		EXPECT_EQ(0, hostile_ends(h, wrong[i].what,
					  RCLINK_DOWN_REASON_PROTOCOL));
		pinged(_metadata, h, wrong[i].what, ENOTCONN);
	}
	/* FILLED without a fill; a fill that failed; a CHECK that differs. */
	pings(_metadata, h, RCLINK_PING_OP_READ, 8, RCL_MSG_FILL, &msg);
	ASSERT_EQ(0, answer(h, &msg, &(struct rcl_msg)SAY(FILLED), 0));
	pinged(_metadata, h, "not filled", EILSEQ);
	ASSERT_EQ(0, rcl_ping(&h->s, HOSTILE_LINK, RCLINK_PING_OP_READ, 8, 1,
			      NULL));
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_FILL, &msg));
	ASSERT_EQ(0, answer(h, &msg, &(struct rcl_msg)
			    SAY(FILLED, .status = RCL_MSG_FAILED), 0));
	pinged(_metadata, h, "failed", EILSEQ);
	ASSERT_EQ(0, rcl_ping(&h->s, HOSTILE_LINK, RCLINK_PING_OP_WRITE, 8, 1,
			      NULL));
	ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_CHECK, &msg));
	ASSERT_EQ(0, answer(h, &msg, &(struct rcl_msg)
			    SAY(CHECKED, .status = RCL_MSG_DIFFERS), 0));
	pinged(_metadata, h, "differs", EILSEQ);
	EXPECT_EQ(0, hostile_lives(h, "after pings"));
}

#define GROUP	"hostile"

static int group(struct genl_sock *s, uint8_t cmd)
{
	static const uint8_t mgid[RCLINK_GID_LEN] = {
		[10] = 0xff, 0xff, 239, 1, 2, 3,
	};
	struct genl_msg m;

	genl_begin(&m, s, cmd);
	genl_put_str(&m, RCLINK_A_GROUP_NAME, GROUP);
	if (cmd == RCLINK_CMD_GROUP_ADD) {
		genl_put(&m, RCLINK_A_GROUP_MGID, mgid, sizeof(mgid));
		genl_put_str(&m, RCLINK_A_GROUP_FROM, HOSTILE_LINK);
	}
	return genl_ask(s, &m, NULL, NULL);
}

/* 48 bytes: identifier, Q_Key, number of the sender, key. */
#define KEY(id, sender)	"\0\0\0\0\0\0\0" id "\0\0\0\1\0\0\0" sender \
			"0123456789abcdef0123456789abcdef"

TEST_F_TIMEOUT(link, keys_of_groups_that_cannot_be, TIMEOUT_S)
{
	static const struct wrong wrong[] = {
		{ "cookie", SAY(GROUPED, .cookie = 1, .status = 2) },
		{ "IMPORTED", SAY(IMPORTED, .status = 2) },
		{ "HEARD", SAY(HEARD) },
		{ "a byte", SAY(GROUPED, NAME("1")) },
		{ "short", SAY(GROUPED, .data = (const uint8_t *)
			       KEY("\1", "\1"), .len = 47) },
		{ "long", SAY(GROUPED, NAME(KEY("\1", "\1") "1")) },
		{ "no identifier", SAY(GROUPED, NAME(KEY("\0", "\1"))) },
		{ "number 0", SAY(GROUPED, NAME(KEY("\1", "\0"))) },
		{ "number 64", SAY(GROUPED, NAME(KEY("\1", "\100"))) },
		{ "number 255", SAY(GROUPED, NAME(KEY("\1", "\377"))) },
		/* The last @good are valid. */
		{ "refused", SAY(GROUPED, .status = 2) },
		{ "none", SAY(GROUPED) },
		{ "a key", SAY(GROUPED, NAME(KEY("\1", "\1"))) },
	};
	const size_t good = 3, n = COUNT(wrong);
	struct hostile *h = &self->h;
	struct rcl_msg msg, with;
	size_t i;

	ASSERT_EQ(0, group(&h->s, RCLINK_CMD_GROUP_ADD));
	for (i = 0; i < n; i++) {
		if (i <= n - good)
			ASSERT_EQ(0, hostile_up(h));
		ASSERT_EQ(0, peer_await(&h->p, RCL_MSG_GROUP, &msg));
		with = wrong[i].msg;
		with.cookie ^= msg.cookie;
		ASSERT_EQ(0, peer_say(&h->p, &with));
		EXPECT_EQ(0, i < n - good ?
			  hostile_ends(h, wrong[i].what,
				       RCLINK_DOWN_REASON_PROTOCOL) :
			  hostile_lives(h, wrong[i].what));
	}
	EXPECT_EQ(0, group(&h->s, RCLINK_CMD_GROUP_DEL));
}

TEST_HARNESS_MAIN
