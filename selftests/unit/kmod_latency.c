// SPDX-License-Identifier: GPL-2.0
/* The histogram of round trips: which bucket, and the sum. */
#include "latency.h"

#include <kselftest_harness.h>

#define LAST	(RCLINK_LATENCY_BUCKETS - 1)

static u64 in(u32 bucket, u64 ns)
{
	struct rcl_latency latency = {};

	rcl_latency_add(&latency, ns);
	return latency.bucket[bucket];
}

TEST(a_limit_belongs_to_its_bucket)
{
	u32 i;

	EXPECT_EQ(1, in(0, 0));
	for (i = 0; i < LAST; i++) {
		EXPECT_EQ(1, in(i, 1000ULL << i));
		EXPECT_EQ(1, in(i + 1, (1000ULL << i) + 1));
	}
	EXPECT_EQ(1, in(LAST, ~0ULL));
}

TEST(each_is_counted_once_and_added_up)
{
	struct rcl_latency latency = {};
	u64 count = 0, sum = 0;
	u32 i;

	for (i = 0; i < 1000; i++) {
		rcl_latency_add(&latency, i * i * 1000);
		sum += i * i * 1000;
	}
	for (i = 0; i <= LAST; i++)
		count += latency.bucket[i];
	EXPECT_EQ(1000, count);
	EXPECT_EQ(sum, latency.sum);
}

TEST_HARNESS_MAIN
