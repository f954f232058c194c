// SPDX-License-Identifier: GPL-2.0
/* What a member says of itself: there and back, and every way to be wrong. */
#include "here.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#define LONGEST	(RCL_HERE_HEAD + RCL_HERE_REGIONS * RCL_HERE_REGION)

static void fill(struct rcl_here *here, u32 n)
{
	u32 i;

	memset(here, 0, sizeof(*here));
	here->total = n + 300;
	here->n = n;
	for (i = 0; i < n; i++) {
		here->region[i].len = 0x0102030405060708ULL + i;
		here->region[i].rights = 1 + i % 15;
		memset(here->region[i].name, 'a' + i, 1 + i % 31);
	}
}

/* In memory of just that size: the sanitizer sees every step outside. */
static int decode(const u8 *buf, u32 len, struct rcl_here *here)
{
	u8 *exact = malloc(len ? len : 1);
	int ret;

	memcpy(exact, buf, len);
	ret = rcl_here_decode(exact, len, here);
	free(exact);
	return ret;
}

TEST(there_and_back)
{
	static struct rcl_here in, out;
	u8 buf[LONGEST];
	u32 n, len;

	for (n = 0; n <= RCL_HERE_REGIONS; n++) {
		fill(&in, n);
		len = rcl_here_encode(buf, &in);
		EXPECT_EQ(RCL_HERE_HEAD + n * RCL_HERE_REGION, len);
		memset(&out, 0, sizeof(out));
		ASSERT_EQ(0, decode(buf, len, &out));
		EXPECT_EQ(0, memcmp(&in, &out, sizeof(in)));
	}
}

TEST(only_some_names_are_told_of)
{
	char name[RCLINK_DEV_REGION_LEN] = "a name";

	EXPECT_TRUE(rcl_here_is_name(name));
	name[sizeof(name) - 1] = 'x';
	EXPECT_FALSE(rcl_here_is_name(name));
	memset(name, 0, sizeof(name));
	EXPECT_FALSE(rcl_here_is_name(name));
	memset(name, 'x', sizeof(name) - 1);
	EXPECT_TRUE(rcl_here_is_name(name));
	name[3] = '\n';
	EXPECT_FALSE(rcl_here_is_name(name));
	name[3] = '\xc3';
	EXPECT_FALSE(rcl_here_is_name(name));
}

TEST(each_other_length_is_refused)
{
	static struct rcl_here in, out;
	u8 buf[LONGEST + 64] = { 0 };
	u32 len, i;

	fill(&in, 3);
	len = rcl_here_encode(buf, &in);
	for (i = 0; i < sizeof(buf); i++)
		EXPECT_EQ(i == len ? 0 : -EBADMSG, decode(buf, i, &out))
			TH_LOG("%u", i);
}

TEST(what_makes_no_sense_is_refused)
{
	static const struct {
		u32 at;
		u8 value;
	} wrong[] = {
		{ 0, 0 }, { 0, 2 }, { 1, 0 }, { 1, 2 }, { 2, 1 }, { 3, 1 },
		/* more than there are; other numbers of entries */
		{ 4, 0 }, { 6, 1 }, { 7, 0 }, { 7, 2 }, { 7, 21 },
		/* a name: empty, not printed, with something behind it */
		{ 20, 0 }, { 20, 0x1b }, { 20, 0x7f }, { 20, 0xff },
		{ 51, 'x' },
	};
	static struct rcl_here in, out;
	u8 buf[LONGEST];
	u32 len, i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		fill(&in, 1);
		in.total = 256;
		len = rcl_here_encode(buf, &in);
		ASSERT_EQ(0, decode(buf, len, &out));
		buf[wrong[i].at] = wrong[i].value;
		EXPECT_EQ(-EBADMSG, decode(buf, len, &out))
			TH_LOG("byte %u: %u", wrong[i].at, wrong[i].value);
	}
	/* one that does not end */
	memset(buf + 20, 'a', RCLINK_DEV_REGION_LEN);
	EXPECT_EQ(-EBADMSG, decode(buf, len, &out));
}

TEST(the_room_is_that_of_the_message)
{
	u32 bytes, n;

	for (bytes = 0; bytes < 2 * LONGEST; bytes++) {
		n = rcl_here_room(bytes);
		EXPECT_TRUE(!n || RCL_HERE_HEAD + n * RCL_HERE_REGION <= bytes);
		EXPECT_TRUE(n == RCL_HERE_REGIONS ||
			    RCL_HERE_HEAD + (n + 1) * RCL_HERE_REGION > bytes);
	}
}

TEST_HARNESS_MAIN
