// SPDX-License-Identifier: GPL-2.0
/*
 * Many pings of one request, between two simulated InfiniBand ports: what one
 * of them, or all, meet with on the way.
 */
#include "sim.h"

#include <errno.h>

#include "harness.h"

/* Else one of them could be the message that a fault is meant for. */
static int without_heartbeats(struct genl_sock *s)
{
	static const char * const names[] = { "a", "b" };
	struct genl_msg m;
	int ret = 0;
	int i;

	for (i = 0; !ret && i < 2; i++) {
		genl_begin(&m, s, RCLINK_CMD_LINK_SET);
		genl_put_str(&m, RCLINK_A_LINK_NAME, names[i]);
		genl_put_u32(&m, RCLINK_A_LINK_HEARTBEAT, 0);
		ret = genl_ask(s, &m, NULL, NULL);
	}
	return ret;
}

FIXTURE(ports)
{
	struct genl_sock s;
	int objects;		/* of other devices */
};

FIXTURE_SETUP(ports)
{
	ASSERT_EQ(0, sim_begin(&self->s, &self->objects));
	ASSERT_EQ(0, without_heartbeats(&self->s));
	ASSERT_EQ(0, sim_up(&self->s));
}

FIXTURE_TEARDOWN(ports)
{
	sim_end(&self->s);
}

/* Many pings of one request, once sim0 has a fault: the result of all */
static int many(struct genl_sock *s, const char *fault, uint32_t op,
		int64_t size, uint32_t count, struct rcl_pong *pong)
{
	int ret = sim_knob("sim0", "fault", "%s", fault);

	if (!ret)
		ret = rcl_pings(s, "a", op, size, 1, count, NULL);
	return ret ? ret : rcl_pong(s, pong, slow(20000));
}

/* By then its memory is mapped. The pings before it count; the link lives. */
TEST_F(ports, the_third_of_many_pings_is_refused_by_the_device)
{
	struct rcl_pong pong;
	struct rcl_view a;

	/* Pings one and two post a WRITE and a CHECK each. */
	ASSERT_EQ(0, many(&self->s, "post_send 5", RCLINK_PING_OP_WRITE, 4096,
			  4, &pong));
	EXPECT_EQ(ENOMEM, pong.error) TH_LOG("%s", pong.reason);
	EXPECT_EQ(2, pong.ok);
	ASSERT_EQ(0, rcl_view(&self->s, "a", &a));
	EXPECT_EQ(2, a.pings);
	EXPECT_EQ(1, a.ping_errors);
	EXPECT_EQ(0, sim_ping(&self->s, "a", RCLINK_PING_OP_READ, 4096));
}

/*
 * Those that are verified together fail together, but there are fewer of these
 * than 20. How many there are depends on how long they take.
 */
TEST_F(ports, many_pings_are_verified_up_to_the_one_with_wrong_data)
{
	static const uint32_t ops[] = {
		RCLINK_PING_OP_WRITE, RCLINK_PING_OP_READ
	};
	struct rcl_pong pong;
	struct rcl_view a;
	uint64_t before;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		before = rcl_stat(&self->s, "a", RCLINK_A_STATS_PINGS);
		ASSERT_EQ(0, many(&self->s, "corrupt_rdma 20", ops[i], 8,
				  RCLINK_PING_COUNT_MAX, &pong));
		EXPECT_EQ(EILSEQ, pong.error) TH_LOG("%s", pong.reason);
		EXPECT_GT(20, pong.ok);
		EXPECT_NE(0, pong.ok);
		ASSERT_EQ(0, rcl_view(&self->s, "a", &a));
		EXPECT_EQ(before + pong.ok, a.pings);
		EXPECT_EQ(i + 1, a.ping_errors);
		EXPECT_EQ(RCLINK_LINK_STATE_UP, a.state);
	}
	EXPECT_EQ(0, sim_ping(&self->s, "a", RCLINK_PING_OP_READ, 65536));
}

/* Twelve of them take longer than the peer may owe an answer. */
TEST_F(ports, many_slow_pings_do_not_end_the_link)
{
	struct rcl_pong pong;
	struct rcl_view a;

	ASSERT_EQ(0, many(&self->s, "delay 1 12 900", RCLINK_PING_OP_WRITE, 8,
			  12, &pong));
	EXPECT_EQ(0, pong.error) TH_LOG("%s", pong.reason);
	EXPECT_EQ(12, pong.ok);
	ASSERT_EQ(0, rcl_view(&self->s, "a", &a));
	EXPECT_EQ(RCLINK_LINK_STATE_UP, a.state) TH_LOG("%s", a.reason_text);
	EXPECT_EQ(1, a.epoch);
}

TEST_HARNESS_MAIN
