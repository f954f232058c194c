// SPDX-License-Identifier: GPL-2.0
/* The window of counters against a table of all that came in. */
#include "replay.h"

#include <stdbool.h>
#include <string.h>

#include "kselftest_harness.h"

#define COUNTERS	400
#define STEPS		20000

TEST(each_counter_is_taken_once_in_any_order)
{
	unsigned int seed = 1;
	unsigned int i, n, top;
	int round;

	for (round = 0; round < 50; round++) {
		struct rcl_replay replay = { 0 };
		bool came[COUNTERS] = { false };
		bool any = false;

		top = 0;
		for (i = 0; i < STEPS / 50; i++) {
			bool fresh;

			seed = seed * 1103515245 + 12345;
			n = (i / 2 + (seed >> 16) % 100) % COUNTERS;
			fresh = !any || n > top ||
				(!came[n] && top - n < RCL_REPLAY_BITS);
			ASSERT_EQ(fresh, rcl_replay_take(&replay, n))
				TH_LOG("round %d, %u, top %u", round, n, top);
			if (!fresh)
				continue;
			came[n] = true;
			if (!any || n > top)
				top = n;
			any = true;
		}
	}
}

TEST(a_window_moves_to_the_end_and_no_further_back)
{
	const u64 end = (1ULL << 48) - 1;
	struct rcl_replay replay = { 0 };

	EXPECT_TRUE(rcl_replay_take(&replay, 0));
	EXPECT_FALSE(rcl_replay_take(&replay, 0));
	EXPECT_TRUE(rcl_replay_take(&replay, end));
	EXPECT_FALSE(rcl_replay_take(&replay, end));
	EXPECT_FALSE(rcl_replay_take(&replay, 1));
	EXPECT_FALSE(rcl_replay_take(&replay, end - RCL_REPLAY_BITS));
	EXPECT_TRUE(rcl_replay_take(&replay, end - RCL_REPLAY_BITS + 1));
	EXPECT_FALSE(rcl_replay_take(&replay, end - RCL_REPLAY_BITS + 1));
	EXPECT_TRUE(rcl_replay_take(&replay, end - 1));
}

TEST(a_jump_of_the_whole_window_forgets_nothing_it_should_know)
{
	struct rcl_replay replay = { 0 };
	u64 i;

	for (i = 0; i < RCL_REPLAY_BITS; i++)
		EXPECT_TRUE(rcl_replay_take(&replay, i));
	EXPECT_TRUE(rcl_replay_take(&replay, 2 * RCL_REPLAY_BITS - 1));
	for (i = 0; i < RCL_REPLAY_BITS; i++)
		EXPECT_FALSE(rcl_replay_take(&replay, i));
	for (; i < 2 * RCL_REPLAY_BITS - 1; i++)
		EXPECT_TRUE(rcl_replay_take(&replay, i));
}

TEST(nothing_comes_in_where_it_was_closed)
{
	const u64 end = (1ULL << 48) - 1;
	struct rcl_replay replay = { 0 };

	EXPECT_TRUE(rcl_replay_take(&replay, 1));
	rcl_replay_close(&replay);
	EXPECT_FALSE(rcl_replay_take(&replay, 0));
	EXPECT_FALSE(rcl_replay_take(&replay, 1));
	EXPECT_FALSE(rcl_replay_take(&replay, 2));
	EXPECT_FALSE(rcl_replay_take(&replay, end));
}

TEST_HARNESS_MAIN
