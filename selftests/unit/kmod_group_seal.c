// SPDX-License-Identifier: GPL-2.0
/*
 * Members seal and open messages, with a fake AEAD whose tags only mark their
 * input, and which records every pair of key and nonce that sealed. The source
 * is included, because it needs this AEAD and a fake clock.
 */
#include "../../kmod/group-seal.c"

#include <errno.h>
#include <linux/jiffies.h>
#include <string.h>

#include "kselftest_harness.h"

#define TEXT	8
#define LEN	(TEXT + RCL_GROUP_ROOM)
#define USES	4096
#define OLD_MS	10000

unsigned long jiffies = 1000;

static struct {
	u8 key;
	u64 nonce;
} used[USES];
static unsigned int uses, twice;

static void mark(const u8 *key, u64 nonce, const u8 *buf, u32 len, u8 *tag)
{
	u32 i;

	memset(tag, key[0], RCL_MSG_TAG);
	memcpy(tag, &nonce, sizeof(nonce));
	for (i = 0; i < RCL_MSG_AAD + len; i++)
		tag[8 + i % 8] += buf[i];
}

void rcl_seal_text(const u8 *key, u64 nonce, u8 *buf, u32 len)
{
	unsigned int i;

	for (i = 0; i < uses; i++)
		twice += used[i].key == key[0] && used[i].nonce == nonce;
	used[uses].key = key[0];
	used[uses++ % USES].nonce = nonce;
	mark(key, nonce, buf, len, buf + RCL_MSG_AAD + len);
}

int rcl_seal_untext(const u8 *key, u64 nonce, u8 *buf, u32 len)
{
	u8 tag[RCL_MSG_TAG];

	mark(key, nonce, buf, len - RCL_GROUP_ROOM, tag);
	return memcmp(tag, buf + len - RCL_MSG_TAG, sizeof(tag)) ? -EBADMSG : 0;
}

static struct rcl_group_grant grant(u8 key, u32 sender)
{
	struct rcl_group_grant grant = {
		.id = 100 + key, .sender = sender, .key = { key },
	};

	return grant;
}

FIXTURE(three)
{
	struct rcl_group_seal a, b, c;
	u8 buf[LEN];
	u32 from;
};

FIXTURE_SETUP(three)
{
	struct rcl_group_grant first = grant(1, 0);

	memset(self, 0, sizeof(*self));
	uses = 0;
	twice = 0;
	rcl_group_seal_install(&self->a, &first);
	first.sender = 1;
	rcl_group_seal_install(&self->b, &first);
	first.sender = 2;
	rcl_group_seal_install(&self->c, &first);
}

FIXTURE_TEARDOWN(three)
{
	EXPECT_EQ(0, twice);
}

static int say(struct rcl_group_seal *seal, u8 *buf)
{
	memset(buf, 0x33, LEN);
	return rcl_group_seal_close(seal, buf, TEXT);
}

TEST_F(three, each_is_heard_once_by_all_others)
{
	struct rcl_group_seal *all[] = { &self->a, &self->b, &self->c };
	u8 copy[LEN];
	u32 i, j, n;

	for (n = 0; n < 100; n++)
		for (i = 0; i < 3; i++) {
			ASSERT_EQ(LEN, say(all[i], self->buf));
			for (j = 0; j < 3; j++) {
				memcpy(copy, self->buf, LEN);
				EXPECT_EQ(i == j ? -ELOOP : TEXT,
					  rcl_group_seal_open(all[j], copy,
							      LEN,
							      &self->from));
				if (i != j)
					EXPECT_EQ(i, self->from);
				EXPECT_EQ(i == j ? -ELOOP : -EALREADY,
					  rcl_group_seal_open(all[j], copy,
							      LEN,
							      &self->from));
			}
		}
}

TEST_F(three, any_other_bit_is_refused_and_changes_nothing)
{
	u8 copy[LEN];
	int bit, ret;

	say(&self->a, self->buf);
	for (bit = 0; bit < LEN * 8; bit++) {
		memcpy(copy, self->buf, LEN);
		copy[bit / 8] ^= 1 << bit % 8;
		ret = rcl_group_seal_open(&self->b, copy, LEN, &self->from);
		EXPECT_EQ(bit < 64 ? -ENOKEY : -EBADMSG, ret)
			TH_LOG("bit %d", bit);
	}
	for (bit = 0; bit < RCL_GROUP_ROOM; bit++)
		EXPECT_EQ(-EMSGSIZE, rcl_group_seal_open(&self->b, copy, bit,
							 &self->from));
	EXPECT_EQ(TEXT, rcl_group_seal_open(&self->b, self->buf, LEN,
					    &self->from));
}

TEST_F(three, the_key_before_opens_for_a_while)
{
	static const struct rcl_group_key none;
	struct rcl_group_grant next = grant(2, 1);
	u8 again[LEN], later[LEN];

	say(&self->a, self->buf);
	memcpy(again, self->buf, LEN);
	say(&self->a, later);
	rcl_group_seal_install(&self->b, &next);
	EXPECT_EQ(TEXT, rcl_group_seal_open(&self->b, self->buf, LEN,
					    &self->from));
	EXPECT_EQ(RCLINK_GROUP_MEMBERS_MAX, self->from);
	EXPECT_EQ(-EALREADY, rcl_group_seal_open(&self->b, again, LEN,
						 &self->from));
	rcl_group_seal_expire(&self->b);
	EXPECT_NE(0, self->b.key[1].grant.id);
	jiffies += OLD_MS;
	EXPECT_EQ(-ENOKEY, rcl_group_seal_open(&self->b, later, LEN,
					       &self->from));
	/* Nothing of the old key is left. */
	rcl_group_seal_expire(&self->b);
	EXPECT_EQ(0, memcmp(&self->b.key[1], &none, sizeof(none)));
	/* A member without the new key cannot open what it seals. */
	say(&self->b, self->buf);
	EXPECT_EQ(-ENOKEY, rcl_group_seal_open(&self->a, self->buf, LEN,
					       &self->from));
	next.sender = 0;
	rcl_group_seal_install(&self->a, &next);
	EXPECT_EQ(TEXT, rcl_group_seal_open(&self->a, self->buf, LEN,
					    &self->from));
	EXPECT_EQ(1, self->from);
}

TEST_F(three, who_has_lost_its_keys_says_and_hears_nothing)
{
	static const u8 wiped[RCLINK_KEY_LEN];
	struct rcl_group_grant next = grant(2, 1);
	u8 old[LEN], new[LEN];

	say(&self->a, old);
	rcl_group_seal_install(&self->b, &next);
	next.sender = 0;
	rcl_group_seal_install(&self->a, &next);
	say(&self->a, new);
	EXPECT_EQ(next.id, rcl_group_seal_id(&self->b));
	rcl_group_seal_lose(&self->b);
	EXPECT_EQ(0, rcl_group_seal_id(&self->b));
	EXPECT_EQ(-ENOKEY, say(&self->b, self->buf));
	EXPECT_EQ(-ENOKEY, rcl_group_seal_open(&self->b, old, LEN,
					       &self->from));
	EXPECT_EQ(-ENOKEY, rcl_group_seal_open(&self->b, new, LEN,
					       &self->from));
	EXPECT_EQ(0, memcmp(self->b.key[0].grant.key, wiped, sizeof(wiped)));
	EXPECT_EQ(0, memcmp(self->b.key[1].grant.key, wiped, sizeof(wiped)));

	/* A new key makes a fresh start, and a key of zeroes opens nothing. */
	next = grant(3, 1);
	rcl_group_seal_install(&self->b, &next);
	EXPECT_EQ(-ENOKEY, rcl_group_seal_open(&self->b, new, LEN,
					       &self->from));
	next.sender = 0;
	rcl_group_seal_install(&self->a, &next);
	EXPECT_EQ(LEN, say(&self->a, self->buf));
	EXPECT_EQ(TEXT, rcl_group_seal_open(&self->b, self->buf, LEN,
					    &self->from));
}

/* It still opens what comes in: that takes no nonce. */
TEST_F(three, who_was_copied_seals_nothing_until_the_next_key)
{
	struct rcl_group_grant again = grant(1, 3), next = grant(2, 0);

	rcl_group_seal_lose_all();
	EXPECT_EQ(-ENOKEY, say(&self->a, self->buf));
	EXPECT_EQ(-ENOKEY, say(&self->b, self->buf));
	EXPECT_EQ(101, rcl_group_seal_id(&self->b));
	rcl_group_seal_lose(&self->b);
	/* It was on its way. */
	rcl_group_seal_install(&self->b, &again);
	EXPECT_EQ(-ENOKEY, say(&self->b, self->buf));
	rcl_group_seal_lose(&self->b);
	again.sender = 4;
	again.age = rcl_group_seal_age();
	rcl_group_seal_install(&self->b, &again);
	EXPECT_EQ(LEN, say(&self->b, self->buf));
	EXPECT_EQ(TEXT, rcl_group_seal_open(&self->a, self->buf, LEN,
					    &self->from));
	EXPECT_EQ(-ENOKEY, say(&self->a, self->buf));
	next.age = rcl_group_seal_age();
	rcl_group_seal_install(&self->a, &next);
	EXPECT_EQ(LEN, say(&self->a, self->buf));
	rcl_group_seal_lose_all();
	EXPECT_EQ(-ENOKEY, say(&self->a, self->buf));
}

TEST_F(three, who_has_a_lost_key_again_hears_nothing_twice)
{
	struct rcl_group_grant again = grant(1, 3);
	u8 heard[LEN], own[LEN], missed[LEN], copy[LEN];
	int i;

	say(&self->b, own);
	say(&self->a, heard);
	memcpy(copy, heard, LEN);
	EXPECT_EQ(TEXT, rcl_group_seal_open(&self->b, copy, LEN, &self->from));
	for (i = 0; i < 2; i++) {
		rcl_group_seal_lose(&self->b);
		say(&self->a, missed);
		rcl_group_seal_install(&self->b, &again);
		memcpy(copy, heard, LEN);
		EXPECT_EQ(-EALREADY, rcl_group_seal_open(&self->b, copy, LEN,
							 &self->from));
		memcpy(copy, own, LEN);
		EXPECT_EQ(-EALREADY, rcl_group_seal_open(&self->b, copy, LEN,
							 &self->from));
		EXPECT_EQ(TEXT, rcl_group_seal_open(&self->b, missed, LEN,
						    &self->from));
		/* Its sender number is a new one, and so is each nonce. */
		EXPECT_EQ(LEN, say(&self->b, own));
		memcpy(copy, own, LEN);
		EXPECT_EQ(TEXT, rcl_group_seal_open(&self->c, copy, LEN,
						    &self->from));
		EXPECT_EQ(again.sender, self->from);
		again.sender++;
	}
}

TEST_F(three, a_counter_has_an_end)
{
	struct rcl_group_grant next = grant(2, 2);

	self->c.counter = (1ULL << 48) - 1;
	EXPECT_EQ(LEN, say(&self->c, self->buf));
	EXPECT_EQ(TEXT, rcl_group_seal_open(&self->a, self->buf, LEN,
					    &self->from));
	EXPECT_EQ(2, self->from);
	EXPECT_EQ(-EOVERFLOW, say(&self->c, self->buf));
	rcl_group_seal_install(&self->c, &next);
	EXPECT_EQ(LEN, say(&self->c, self->buf));
}

TEST(without_a_key_there_is_nothing)
{
	struct rcl_group_seal none = { 0 };
	u8 buf[LEN] = { 0 };
	u32 from;

	EXPECT_EQ(-ENOKEY, rcl_group_seal_close(&none, buf, TEXT));
	EXPECT_EQ(-ENOKEY, rcl_group_seal_open(&none, buf, LEN, &from));
}

TEST_HARNESS_MAIN
