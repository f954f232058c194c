// SPDX-License-Identifier: GPL-2.0
/* Announcements of a group's member: encoded, decoded, and refused if wrong. */
#include "announce.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#define LONGEST	(RCL_ANNOUNCE_HEAD + \
		 RCL_ANNOUNCE_REGIONS * RCL_ANNOUNCE_REGION)

static void fill(struct rcl_announce *here, u32 n)
{
	u32 i;

	memset(here, 0, sizeof(*here));
	here->total = n ? n + 300 : 0;
	here->ends = n ? n % 4 : RCL_ANNOUNCE_FIRST | RCL_ANNOUNCE_LAST;
	here->n = n;
	for (i = 0; i < n; i++) {
		here->region[i].len = 0x0102030405060708ULL + i;
		here->region[i].rights = 1 + i % 15;
		memset(here->region[i].name, 'a' + i, 1 + i % 31);
	}
}

/* A region whose name sorts by its number. */
static struct rcl_announce_region region(u32 number)
{
	struct rcl_announce_region region = { .len = 64, .rights = 2 };

	snprintf(region.name, sizeof(region.name), "r%05u", number);
	return region;
}

static void add(struct rcl_announce_list *list, u32 number)
{
	struct rcl_announce_region one = region(number);

	rcl_announce_add(list, &one);
}

static bool has(const struct rcl_announce_list *list, u32 number)
{
	struct rcl_announce_region one = region(number);
	u32 i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->region[i].name, one.name))
			return true;
	return false;
}

/* Decode in memory of just that size: the sanitizer sees every overrun. */
static int decode(const u8 *buf, u32 len, struct rcl_announce *here)
{
	u8 *exact = malloc(len ? len : 1);
	int ret;

	memcpy(exact, buf, len);
	ret = rcl_announce_decode(exact, len, here);
	free(exact);
	return ret;
}

TEST(there_and_back)
{
	static struct rcl_announce in, out;
	u8 buf[LONGEST];
	u32 n, len;

	for (n = 0; n <= RCL_ANNOUNCE_REGIONS; n++) {
		fill(&in, n);
		len = rcl_announce_encode(buf, &in);
		EXPECT_EQ(RCL_ANNOUNCE_HEAD + n * RCL_ANNOUNCE_REGION, len);
		memset(&out, 0, sizeof(out));
		ASSERT_EQ(0, decode(buf, len, &out));
		EXPECT_EQ(0, memcmp(&in, &out, sizeof(in)));
	}
}

TEST(only_some_names_are_told_of)
{
	char name[RCLINK_DEV_REGION_LEN] = "a name";

	EXPECT_TRUE(rcl_announce_is_name(name));
	name[sizeof(name) - 1] = 'x';
	EXPECT_FALSE(rcl_announce_is_name(name));
	memset(name, 0, sizeof(name));
	EXPECT_FALSE(rcl_announce_is_name(name));
	memset(name, 'x', sizeof(name) - 1);
	EXPECT_TRUE(rcl_announce_is_name(name));
	name[3] = '\n';
	EXPECT_FALSE(rcl_announce_is_name(name));
	name[3] = '\xc3';
	EXPECT_FALSE(rcl_announce_is_name(name));
}

TEST(each_other_length_is_refused)
{
	static struct rcl_announce in, out;
	u8 buf[LONGEST + 64] = { 0 };
	u32 len, i;

	fill(&in, 3);
	len = rcl_announce_encode(buf, &in);
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
		{ 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 2 }, { 2, 1 }, { 3, 1 },
		/* total below the entries; other entry counts; other ends */
		{ 4, 0 }, { 6, 0 }, { 6, 2 }, { 6, 21 }, { 7, 4 }, { 7, 255 },
		/* a name: empty, not printable, with a byte behind its end */
		{ 20, 0 }, { 20, 0x1b }, { 20, 0x7f }, { 20, 0xff },
		{ 51, 'x' },
	};
	static struct rcl_announce in, out;
	u8 buf[LONGEST];
	u32 len, i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		fill(&in, 1);
		in.total = 256;
		len = rcl_announce_encode(buf, &in);
		ASSERT_EQ(0, decode(buf, len, &out));
		buf[wrong[i].at] = wrong[i].value;
		EXPECT_EQ(-EBADMSG, decode(buf, len, &out))
			TH_LOG("byte %u: %u", wrong[i].at, wrong[i].value);
	}
	/* a name that does not end */
	memset(buf + 20, 'a', RCLINK_DEV_REGION_LEN);
	EXPECT_EQ(-EBADMSG, decode(buf, len, &out));
}

TEST(an_order_that_is_none_is_refused)
{
	static struct rcl_announce in, out;
	u8 buf[LONGEST], one[RCL_ANNOUNCE_REGION];
	u8 *p = buf + RCL_ANNOUNCE_HEAD;
	u32 len;

	fill(&in, 2);
	len = rcl_announce_encode(buf, &in);
	ASSERT_EQ(0, decode(buf, len, &out));
	memcpy(one, p, sizeof(one));
	memcpy(p, p + sizeof(one), sizeof(one));
	/* twice the same region, then two in the wrong order */
	EXPECT_EQ(-EBADMSG, decode(buf, len, &out));
	memcpy(p + sizeof(one), one, sizeof(one));
	EXPECT_EQ(-EBADMSG, decode(buf, len, &out));
}

TEST(none_are_none_before_and_behind)
{
	static struct rcl_announce in, out;
	u8 buf[LONGEST];
	u32 len, ends, total;

	for (ends = 0; ends < 8; ends++)
		for (total = 0; total < 2; total++) {
			fill(&in, 0);
			in.ends = ends;
			in.total = total;
			len = rcl_announce_encode(buf, &in);
			EXPECT_EQ(ends == 3 && !total ? 0 : -EBADMSG,
				  decode(buf, len, &out));
		}
}

TEST(a_list_has_each_once_and_in_order)
{
	static struct rcl_announce_list list;
	struct rcl_announce_region other = region(7);
	u32 i;

	memset(&list, 0, sizeof(list));
	for (i = 0; i < 3 * RCLINK_GROUP_REGIONS_MAX; i++)
		add(&list, i * 7919 % RCLINK_GROUP_REGIONS_MAX);
	EXPECT_EQ(RCLINK_GROUP_REGIONS_MAX, list.n);
	EXPECT_EQ(RCLINK_GROUP_REGIONS_MAX, list.total);
	for (i = 0; i < RCLINK_GROUP_REGIONS_MAX; i++) {
		struct rcl_announce_region one = region(i);

		EXPECT_EQ(0, memcmp(&one, &list.region[i], sizeof(one)));
	}
	/* Another region with a name in the list pushes the last one out. */
	other.rights = 1;
	rcl_announce_add(&list, &other);
	EXPECT_EQ(RCLINK_GROUP_REGIONS_MAX, list.n);
	EXPECT_EQ(RCLINK_GROUP_REGIONS_MAX + 1, list.total);
	EXPECT_EQ(1, list.region[7].rights);
	EXPECT_EQ(2, list.region[8].rights);
	EXPECT_FALSE(has(&list, RCLINK_GROUP_REGIONS_MAX - 1));
	/* A region that sorts behind all others finds no room. */
	add(&list, 99999);
	EXPECT_FALSE(has(&list, 99999));
	EXPECT_EQ(RCLINK_GROUP_REGIONS_MAX, list.n);
}

/* Make the next message; @heard, if not NULL, takes it from its encoding. */
static void tell(struct rcl_announce *said,
		 const struct rcl_announce_list *mine, u32 max,
		 struct rcl_announce_list *heard)
{
	static struct rcl_announce out;
	u8 buf[LONGEST];

	rcl_announce_turn(mine, max, said);
	if (!heard || decode(buf, rcl_announce_encode(buf, said), &out))
		return;
	rcl_announce_merge(heard, &out);
}

TEST(all_are_told_in_turns)
{
	static const u32 sizes[] = { 0, 1, 2, 19, 20, 21, 39, 40, 60, 340 };
	static struct rcl_announce_list mine, heard;
	struct rcl_announce said;
	u32 s, max, i, turns;

	for (s = 0; s < ARRAY_SIZE(sizes); s++)
		for (max = 2; max <= RCL_ANNOUNCE_REGIONS; max++) {
			memset(&mine, 0, sizeof(mine));
			memset(&heard, 0, sizeof(heard));
			memset(&said, 0, sizeof(said));
			for (i = 0; i < sizes[s]; i++)
				add(&mine, i);
			turns = 0;
			do {
				tell(&said, &mine, max, &heard);
				turns++;
			} while (!(said.ends & RCL_ANNOUNCE_LAST));
			EXPECT_LE(turns, 1 + sizes[s] / (max - 1));
			EXPECT_EQ(0, memcmp(&mine, &heard, sizeof(mine)))
				TH_LOG("%u, %u at once", sizes[s], max);
		}
}

TEST(who_has_gone_is_gone_when_its_turn_comes)
{
	static struct rcl_announce_list mine, heard;
	struct rcl_announce said = { 0 };
	u32 gone, i, turn;

	for (gone = 0; gone < 60; gone++) {
		memset(&mine, 0, sizeof(mine));
		memset(&heard, 0, sizeof(heard));
		for (i = 0; i < 60; i++)
			add(&mine, i);
		for (turn = 0; turn < 8; turn++)
			tell(&said, &mine, 20, &heard);
		ASSERT_EQ(0, memcmp(&mine, &heard, sizeof(mine)));
		memset(&mine, 0, sizeof(mine));
		for (i = 0; i < 60; i++)
			if (i != gone)
				add(&mine, i);
		for (turn = 0; turn < 4; turn++) {
			tell(&said, &mine, 20, &heard);
			for (i = 0; i < 60; i++)
				EXPECT_TRUE(i == gone || has(&heard, i))
					TH_LOG("%u of %u", i, gone);
		}
		EXPECT_FALSE(has(&heard, gone)) TH_LOG("%u", gone);
		EXPECT_EQ(59, heard.total);
	}
}

/*
 * Regions come and go, and messages are lost. A region that stays is never
 * taken for gone, and in the end, without loss, all regions are known.
 */
TEST(loss_and_change_at_once)
{
	static struct rcl_announce_list mine, heard;
	struct rcl_announce said = { 0 };
	bool is[200] = { false };
	bool knows[100] = { false };
	u32 seed = 1, round, i;

	memset(&heard, 0, sizeof(heard));
	for (round = 0; round < 2000; round++) {
		seed = seed * 1664525 + 1013904223;
		/* Regions with even numbers stay. */
		i = (seed >> 8) % 200;
		is[i] = i % 2 ? !is[i] : true;
		memset(&mine, 0, sizeof(mine));
		for (i = 0; i < 200; i++)
			if (is[i])
				add(&mine, i);
		tell(&said, &mine, 2 + (seed >> 16) % 19,
		     (seed >> 24) % 3 ? &heard : NULL);
		for (i = 0; i < 100; i++) {
			EXPECT_TRUE(!knows[i] || has(&heard, 2 * i));
			knows[i] |= has(&heard, 2 * i);
		}
	}
	for (round = 0; round < 24; round++)
		tell(&said, &mine, RCL_ANNOUNCE_REGIONS, &heard);
	EXPECT_EQ(mine.n, heard.n);
	EXPECT_EQ(0, memcmp(mine.region, heard.region,
			    mine.n * sizeof(mine.region[0])));
}

TEST(who_lies_has_no_more_room)
{
	static struct rcl_announce_list heard;
	struct rcl_announce said;
	u32 seed = 1, round, first, i;

	memset(&heard, 0, sizeof(heard));
	for (round = 0; round < 4000; round++) {
		seed = seed * 1664525 + 1013904223;
		memset(&said, 0, sizeof(said));
		said.n = (seed >> 8) % (RCL_ANNOUNCE_REGIONS + 1);
		said.ends = said.n ? (seed >> 16) % 4 : 3;
		said.total = said.n ? (seed >> 4) % 65536 | 31 : 0;
		first = (seed >> 3) % 90000;
		for (i = 0; i < said.n; i++)
			said.region[i] = region(first + i * (1 + seed % 3));
		/* A complete list would shrink @heard, so take one seldom. */
		if (said.ends == 3 && round % 50)
			continue;
		rcl_announce_merge(&heard, &said);
		ASSERT_LE(heard.n, RCLINK_GROUP_REGIONS_MAX);
		for (i = 1; i < heard.n; i++)
			ASSERT_LT(strcmp(heard.region[i - 1].name,
					 heard.region[i].name), 0);
	}
}

TEST(the_room_is_that_of_the_message)
{
	u32 bytes, n;

	for (bytes = 0; bytes < 2 * LONGEST; bytes++) {
		n = rcl_announce_room(bytes);
		EXPECT_TRUE(!n || RCL_ANNOUNCE_HEAD +
				  n * RCL_ANNOUNCE_REGION <= bytes);
		EXPECT_TRUE(n == RCL_ANNOUNCE_REGIONS ||
			    RCL_ANNOUNCE_HEAD +
			    (n + 1) * RCL_ANNOUNCE_REGION > bytes);
	}
}

TEST_HARNESS_MAIN
