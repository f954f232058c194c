// SPDX-License-Identifier: GPL-2.0
/* The seeded bytes of pings, and the words for the reasons. */
#include "pattern.h"
#include "reason.h"

#include <kselftest_harness.h>

#define LEN	64

TEST(a_pattern_is_the_same_from_any_offset)
{
	u8 whole[4 * LEN], part[LEN];
	u32 offset, len;

	rcl_pattern_fill(whole, 0, sizeof(whole), 42);
	for (offset = 0; offset < LEN; offset++) {
		for (len = 0; len <= LEN; len++) {
			memset(part, 0, sizeof(part));
			rcl_pattern_fill(part, offset, len, 42);
			EXPECT_EQ(0, memcmp(whole + offset, part, len));
			EXPECT_TRUE(rcl_pattern_check(whole + offset, offset,
						      len, 42));
		}
	}
}

TEST(one_wrong_bit_is_seen)
{
	u8 buf[LEN];
	u32 i;

	rcl_pattern_fill(buf, 3, sizeof(buf), 1);
	for (i = 0; i < LEN * 8; i++) {
		buf[i / 8] ^= 1 << i % 8;
		EXPECT_FALSE(rcl_pattern_check(buf, 3, sizeof(buf), 1));
		buf[i / 8] ^= 1 << i % 8;
	}
	EXPECT_TRUE(rcl_pattern_check(buf, 3, sizeof(buf), 1));
}

TEST(seeds_and_places_differ)
{
	u8 a[LEN], b[LEN];

	rcl_pattern_fill(a, 0, LEN, 0);
	rcl_pattern_fill(b, 0, LEN, ~0U);
	EXPECT_NE(0, memcmp(a, b, LEN));
	EXPECT_FALSE(rcl_pattern_check(a, 1, LEN, 0));
	EXPECT_FALSE(rcl_pattern_check(a, 8, LEN, 0));
	rcl_pattern_fill(b, 0xffffffff - LEN, LEN, 0);
	EXPECT_TRUE(rcl_pattern_check(b, 0xffffffff - LEN, LEN, 0));
}

TEST(every_reason_has_its_own_words)
{
	const char *texts[RCLINK_DOWN_REASON_LOCAL_ERROR + 1];
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		/* a status that the table of statuses does not have */
		struct rcl_reason reason = { i, 1000, 0 };

		texts[i] = rcl_reason_text(&reason);
		ASSERT_NE(NULL, texts[i]);
		EXPECT_EQ(i != RCLINK_DOWN_REASON_NONE, texts[i][0] != '\0');
		for (j = 0; j < i; j++)
			EXPECT_STRNE(texts[i], texts[j]);
	}
}

TEST(a_completion_says_its_status)
{
	struct rcl_reason reason = { RCLINK_DOWN_REASON_COMPLETION, 12, 0 };
	unsigned int i;

	EXPECT_EQ(0, strncmp("retry exceeded", rcl_reason_text(&reason), 14));
	reason.wc_status = 13;
	EXPECT_EQ(0, strncmp("RNR retry", rcl_reason_text(&reason), 9));
	reason.wc_status = 10;
	EXPECT_STREQ("remote access error", rcl_reason_text(&reason));
	for (i = 0; i < 64; i++) {
		reason.wc_status = i;
		EXPECT_NE('\0', rcl_reason_text(&reason)[0]);
	}
}

TEST(packets_that_are_too_large_say_how_large)
{
	struct rcl_reason reason = { RCLINK_DOWN_REASON_MTU, 0, 0 };
	const char *any = rcl_reason_text(&reason);
	char begin[32];

	EXPECT_EQ(0, strncmp("packets as large as", any, 19));
	for (reason.mtu = 256; reason.mtu <= 4096; reason.mtu *= 2) {
		snprintf(begin, sizeof(begin), "packets of %u bytes ",
			 reason.mtu);
		EXPECT_EQ(0, strncmp(begin, rcl_reason_text(&reason),
				     strlen(begin)));
	}
	reason.mtu = 1000;
	EXPECT_STREQ(any, rcl_reason_text(&reason));
}

TEST_HARNESS_MAIN
