// SPDX-License-Identifier: GPL-2.0
/* Round trips of all kinds and sizes, and what becomes of those that fail. */
#include "rcl.h"

#include <errno.h>
#include <string.h>

#include "harness.h"

#define BUFFER		65536	/* default size of a link buffer */
#define FRAGMENT	460	/* payload of one control message */

FIXTURE(pair)
{
	struct genl_sock s;
	bool atomics;
};

FIXTURE_SETUP(pair)
{
	struct rcl_end end;

	ASSERT_EQ(0, rcl_open(&self->s));
	ASSERT_EQ(0, rcl_clean(&self->s));
	ASSERT_EQ(0, rcl_new(&self->s, "a"));
	ASSERT_EQ(0, rcl_new(&self->s, "b"));
	ASSERT_EQ(0, rcl_prepare(&self->s, "a", &end));
	self->atomics = end.atomics != RCLINK_ATOMICS_NONE;
	ASSERT_EQ(0, rcl_disconnect(&self->s, "a"));
	ASSERT_EQ(0, rcl_pair(&self->s, "a", "b", RCLINK_LINK_STATE_UP));
}

FIXTURE_TEARDOWN(pair)
{
	rcl_clean(&self->s);
	genl_close(&self->s);
}

/* One round trip: 0, or the errno of its request or its result. */
static int round_trip(struct genl_sock *s, const char *name, uint32_t op,
		      int64_t size, struct rcl_pong *pong)
{
	static uint64_t cookie = 0xabcdef0123456789;
	int ret;

	ret = rcl_ping(s, name, op, size, ++cookie, NULL);
	if (ret)
		return ret;
	ret = rcl_pong(s, pong, 15000);
	if (ret)
		return ret;
	if (pong->cookie != cookie || pong->op != op ||
	    (size >= 0 && pong->size != size))
		return -EPROTO;
	if (pong->error)
		return pong->reason[0] && !pong->rtt ? -(int)pong->error :
		       -EPROTO;
	return pong->rtt ? 0 : -EPROTO;
}

TEST_F(pair, data_of_every_size_comes_back)
{
	static const uint32_t ops[] = {
		RCLINK_PING_OP_SEND, RCLINK_PING_OP_WRITE, RCLINK_PING_OP_READ
	};
	static const uint32_t sizes[] = {
		1, 2, 7, 8, 9, 64, 255, 256, 257, FRAGMENT - 1, FRAGMENT,
		FRAGMENT + 1, 2 * FRAGMENT, 2 * FRAGMENT + 1, 1023, 1024, 1025,
		4095, 4096, 4097, 6 * FRAGMENT, 16 * FRAGMENT + 1, 65535,
		BUFFER,
	};
	struct rcl_pong pong;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		for (j = 0; j < ARRAY_SIZE(sizes); j++)
			EXPECT_EQ(0, round_trip(&self->s, j % 2 ? "b" : "a",
						ops[i], sizes[j], &pong))
				TH_LOG("op %u, size %u: %s", ops[i], sizes[j],
				       pong.reason);
}

/* A ping of many pieces, for which there is not credit enough at once. */
TEST_F(pair, pieces_that_wait_for_credit_are_counted)
{
	const uint16_t waits = RCLINK_A_STATS_CREDIT_WAITS;
	struct rcl_pong pong;
	uint64_t before;

	before = rcl_stat(&self->s, "a", waits);
	EXPECT_EQ(0, round_trip(&self->s, "a", RCLINK_PING_OP_SEND, 1, &pong));
	EXPECT_EQ(before, rcl_stat(&self->s, "a", waits));
	EXPECT_EQ(0, round_trip(&self->s, "a", RCLINK_PING_OP_SEND, BUFFER,
				&pong));
	EXPECT_LT(before, rcl_stat(&self->s, "a", waits));
	EXPECT_EQ(0, rcl_stat(&self->s, "b", waits));
}

TEST_F(pair, a_ping_may_be_empty)
{
	struct rcl_pong pong;

	EXPECT_EQ(0, round_trip(&self->s, "a", RCLINK_PING_OP_SEND, 0, &pong));
	EXPECT_EQ(0, round_trip(&self->s, "a", RCLINK_PING_OP_WRITE, 0, &pong));
	EXPECT_EQ(0, round_trip(&self->s, "a", RCLINK_PING_OP_READ, 0, &pong));
	EXPECT_EQ(-EINVAL, round_trip(&self->s, "a", RCLINK_PING_OP_CAS, 0,
				      &pong));
}

TEST_F(pair, more_than_the_buffer_is_refused)
{
	static const uint32_t sizes[] = { BUFFER + 1, 1 << 20, 1U << 31,
					  0xffffffff };
	struct rcl_pong pong;
	unsigned int i;
	uint32_t op;

	for (op = RCLINK_PING_OP_SEND; op <= RCLINK_PING_OP_READ; op++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			EXPECT_EQ(-EMSGSIZE, round_trip(&self->s, "a", op,
							sizes[i], &pong));
	EXPECT_EQ(0, round_trip(&self->s, "a", RCLINK_PING_OP_WRITE, -1,
				&pong));
}

TEST_F(pair, atomics_take_8_bytes)
{
	static const uint32_t bad[] = { 0, 1, 7, 9, 16, 4096 };
	struct rcl_pong pong;
	unsigned int i;
	uint32_t op;

	if (!self->atomics)
		SKIP(return, "the device has no atomics");
	for (op = RCLINK_PING_OP_CAS; op <= RCLINK_PING_OP_FADD; op++) {
		for (i = 0; i < 20; i++)
			EXPECT_EQ(0, round_trip(&self->s, i % 2 ? "b" : "a",
						op, i % 3 ? 8 : -1, &pong))
				TH_LOG("%s", pong.reason);
		for (i = 0; i < ARRAY_SIZE(bad); i++)
			EXPECT_EQ(-EINVAL, round_trip(&self->s, "a", op,
						      bad[i], &pong));
	}
}

TEST_F(pair, a_ping_on_a_link_that_is_not_up_fails)
{
	struct rcl_pong pong;
	struct rcl_end end;

	EXPECT_EQ(0, rcl_new(&self->s, "c"));
	EXPECT_EQ(-ENOTCONN, round_trip(&self->s, "c", 1, -1, &pong));
	EXPECT_EQ(0, rcl_prepare(&self->s, "c", &end));
	EXPECT_EQ(-ENOTCONN, round_trip(&self->s, "c", 1, -1, &pong));
	EXPECT_EQ(0, rcl_disconnect(&self->s, "a"));
	EXPECT_EQ(-ENOTCONN, round_trip(&self->s, "a", 1, -1, &pong));
	EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN, 3000));
	EXPECT_EQ(-ENOTCONN, round_trip(&self->s, "b", 1, -1, &pong));
}

TEST_F(pair, each_ping_that_was_taken_has_one_result)
{
	static const uint32_t sizes[] = { 65536, 1, 8 };
	int i, ret, taken = 0, got = 0;
	uint64_t seen[4] = {};
	struct rcl_pong pong;

	for (i = 0; i < 200; i++) {
		ret = rcl_ping(&self->s, i % 5 ? "a" : "b", 1 + i % 3,
			       sizes[i % 3], i, NULL);
		taken += !ret;
		EXPECT_TRUE(!ret || ret == -EBUSY);
		if (!ret)
			seen[i / 64] |= 1ULL << i % 64;
	}
	while (got < taken && !rcl_pong(&self->s, &pong, 20000)) {
		EXPECT_EQ(0, pong.error) TH_LOG("%s", pong.reason);
		ASSERT_LT(pong.cookie, 200);
		EXPECT_NE(0, seen[pong.cookie / 64] & 1ULL << pong.cookie % 64)
			TH_LOG("twice: %ju", (uintmax_t)pong.cookie);
		seen[pong.cookie / 64] &= ~(1ULL << pong.cookie % 64);
		got++;
	}
	EXPECT_LE(64, taken);
	EXPECT_EQ(taken, got);
	EXPECT_EQ(-ETIMEDOUT, rcl_pong(&self->s, &pong, 300));
}

TEST_F(pair, a_disconnect_ends_the_pings_that_wait)
{
	struct rcl_pong pong;
	int i, ret, taken = 0;

	for (i = 0; i < 60; i++) {
		ret = rcl_ping(&self->s, i % 2 ? "a" : "b",
			       RCLINK_PING_OP_SEND, BUFFER, i, NULL);
		taken += !ret;
	}
	EXPECT_EQ(60, taken);
	EXPECT_EQ(0, rcl_disconnect(&self->s, "a"));
	for (i = 0; i < taken; i++) {
		ASSERT_EQ(0, rcl_pong(&self->s, &pong, 10000));
		EXPECT_TRUE(!pong.error || pong.error == ENOTCONN)
			TH_LOG("%u %s", pong.error, pong.reason);
	}
	EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN, 3000));
}

TEST_F(pair, who_asked_may_be_gone_when_the_result_comes)
{
	struct rcl_pong pong;
	struct genl_sock s;
	int i;

	ASSERT_EQ(0, rcl_open(&s));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, rcl_ping(&s, "a", RCLINK_PING_OP_SEND, BUFFER, i,
				      NULL));
	genl_close(&s);
	EXPECT_EQ(0, round_trip(&self->s, "a", RCLINK_PING_OP_SEND, -1, &pong));
}

TEST_F(pair, many_of_one_request_are_made_and_counted)
{
	static const uint32_t counts[] = { 1, 2, RCLINK_PING_COUNT_MAX };
	struct rcl_view before, after;
	struct rcl_pong pong;
	unsigned int i;
	uint32_t op;

	for (op = RCLINK_PING_OP_SEND; op <= RCLINK_PING_OP_FADD; op++) {
		if (op >= RCLINK_PING_OP_CAS && !self->atomics)
			continue;
		for (i = 0; i < ARRAY_SIZE(counts); i++) {
			ASSERT_EQ(0, rcl_view(&self->s, "a", &before));
			ASSERT_EQ(0, rcl_pings(&self->s, "a", op, -1, i,
					       counts[i], NULL));
			ASSERT_EQ(0, rcl_pong(&self->s, &pong, 15000));
			EXPECT_EQ(0, pong.error) TH_LOG("%s", pong.reason);
			EXPECT_EQ(counts[i], pong.ok);
			EXPECT_NE(0, pong.rtt);
			EXPECT_EQ(i, pong.cookie);
			ASSERT_EQ(0, rcl_view(&self->s, "a", &after));
			EXPECT_EQ(before.pings + counts[i], after.pings);
			EXPECT_EQ(before.ping_errors, after.ping_errors);
		}
	}
	EXPECT_EQ(-ETIMEDOUT, rcl_pong(&self->s, &pong, 300));
}

TEST_F(pair, a_request_for_none_or_too_many_is_refused)
{
	struct rcl_pong pong;

	EXPECT_EQ(-ERANGE, rcl_pings(&self->s, "a", RCLINK_PING_OP_SEND, -1, 1,
				     0, NULL));
	EXPECT_EQ(-ERANGE, rcl_pings(&self->s, "a", RCLINK_PING_OP_SEND, -1, 1,
				     RCLINK_PING_COUNT_MAX + 1, NULL));
	EXPECT_EQ(-ETIMEDOUT, rcl_pong(&self->s, &pong, 300));
}

/* The disconnect must come amid the pings, which may take some tries. */
TEST_F(pair, those_before_the_one_that_fails_are_told_of)
{
	struct rcl_pong pong;
	uint64_t before;
	int64_t end;
	int i;

	for (i = 0; i < 20; i++) {
		before = rcl_stat(&self->s, "a", RCLINK_A_STATS_PINGS);
		ASSERT_EQ(0, rcl_pings(&self->s, "a", RCLINK_PING_OP_SEND,
				       BUFFER, i, RCLINK_PING_COUNT_MAX, NULL));
		end = rcl_now_ms() + 15000;
		while (rcl_stat(&self->s, "a", RCLINK_A_STATS_PINGS) == before)
			ASSERT_LT(rcl_now_ms(), end);
		EXPECT_EQ(0, rcl_disconnect(&self->s, "a"));
		ASSERT_EQ(0, rcl_pong(&self->s, &pong, 10000));
		EXPECT_EQ(rcl_stat(&self->s, "a", RCLINK_A_STATS_PINGS),
			  before + pong.ok);
		EXPECT_EQ(pong.ok < RCLINK_PING_COUNT_MAX, !!pong.error);
		EXPECT_EQ(!pong.error, !pong.reason[0]);
		EXPECT_NE(0, pong.ok);
		EXPECT_NE(0, pong.rtt);
		if (pong.error)
			break;
		EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN,
				       3000));
		ASSERT_EQ(0, rcl_pair(&self->s, "a", "b",
				      RCLINK_LINK_STATE_UP));
	}
	EXPECT_GT(20, i);
}

TEST_F(pair, statistics_count_them)
{
	struct rcl_view before, after;
	struct rcl_pong pong;
	int i;

	ASSERT_EQ(0, rcl_view(&self->s, "a", &before));
	for (i = 0; i < 10; i++)
		EXPECT_EQ(0, round_trip(&self->s, "a", 1 + i % 3, -1, &pong));
	ASSERT_EQ(0, rcl_view(&self->s, "a", &after));
	EXPECT_EQ(before.pings + 10, after.pings);
	EXPECT_EQ(before.ping_errors, after.ping_errors);
	EXPECT_EQ(before.event_seq, after.event_seq);
}

/* The smallest and the largest buffer that one may ask for. */
TEST_F(pair, a_buffer_has_the_size_that_was_asked_for)
{
	static const uint32_t sizes[] = { 4096, 12288, 1048576 };
	struct rcl_pong pong;
	struct genl_msg m;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		EXPECT_EQ(0, rcl_disconnect(&self->s, "a"));
		EXPECT_EQ(0, rcl_until(&self->s, "b", RCLINK_LINK_STATE_DOWN,
				       3000));
		for (j = 0; j < 2; j++) {
			genl_begin(&m, &self->s, RCLINK_CMD_LINK_SET);
			genl_put_str(&m, RCLINK_A_LINK_NAME, j ? "b" : "a");
			genl_put_u32(&m, RCLINK_A_LINK_BUFFER_SIZE, sizes[i]);
			EXPECT_EQ(0, genl_ask(&self->s, &m, NULL, NULL));
		}
		ASSERT_EQ(0, rcl_pair(&self->s, "a", "b",
				      RCLINK_LINK_STATE_UP));
		EXPECT_EQ(0, round_trip(&self->s, "a", RCLINK_PING_OP_WRITE,
					sizes[i], &pong));
		EXPECT_EQ(0, round_trip(&self->s, "b", RCLINK_PING_OP_READ,
					sizes[i], &pong));
		EXPECT_EQ(-EMSGSIZE, round_trip(&self->s, "a",
						RCLINK_PING_OP_WRITE,
						sizes[i] + 1, &pong));
	}
}

TEST_HARNESS_MAIN
