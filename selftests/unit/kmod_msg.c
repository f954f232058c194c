// SPDX-License-Identifier: GPL-2.0
/* The codec of control messages: bytes as documented, nothing else accepted. */
#include "msg.h"

#include <errno.h>

#include <kselftest_harness.h>

#define BYTES	(RCL_MSG_HEAD + RCL_MSG_BODY_MAX)

static const u8 payload[RCL_MSG_DATA_MAX] = {
	0xa5, 1, 2, 3, [RCL_MSG_DATA_MAX - 1] = 0x5a,
};

static bool has_range(u8 type)
{
	return type >= RCL_MSG_PING && type != RCL_MSG_BYE &&
	       type != RCL_MSG_BEAT && type != RCL_MSG_BEAT_ACK;
}

static bool has_data(u8 type)
{
	return type == RCL_MSG_PING || type == RCL_MSG_PONG ||
	       type == RCL_MSG_OPEN || type == RCL_MSG_IMPORT ||
	       type == RCL_MSG_IMPORTED || type == RCL_MSG_GROUP ||
	       type == RCL_MSG_GROUPED;
}

static struct rcl_msg sample(u8 type, u32 len)
{
	struct rcl_msg msg = {
		.type = type, .status = 1, .credits = 0x1234,
		.cookie = 0xfedcba98,
	};

	if (has_range(type)) {
		msg.offset = 0x01020304;
		msg.len = len;
		msg.seed = 0x89abcdef;
	}
	if (has_data(type))
		msg.data = payload;
	return msg;
}

/* In memory of exactly that size, so the sanitizer sees access outside */
static int decode(const u8 *buf, u32 len, struct rcl_msg *msg)
{
	u8 *exact = malloc(len ? len : 1);
	int ret;

	memcpy(exact, buf, len);
	ret = rcl_msg_decode(exact, len, msg);
	if (!ret && msg->data && msg->len &&
	    memcmp(msg->data, buf + len - msg->len, msg->len))
		ret = -EILSEQ;
	free(exact);
	return ret;
}

/* Without the payload, which decode() compares */
static bool same(const struct rcl_msg *a, const struct rcl_msg *b)
{
	return a->type == b->type && a->status == b->status &&
	       a->credits == b->credits && a->cookie == b->cookie &&
	       a->offset == b->offset && a->len == b->len &&
	       a->seed == b->seed && !a->data == !b->data;
}

TEST(a_slot_holds_the_largest_message)
{
	EXPECT_EQ(RCL_MSG_SLOT, RCL_MSG_AAD + RCL_MSG_HEAD + RCL_MSG_RANGE +
				RCL_MSG_DATA_MAX + RCL_MSG_TAG);
}

TEST(a_message_is_these_bytes)
{
	static const u8 want[] = {
		RCL_MSG_PING, 1, 0x12, 0x34, 0xfe, 0xdc, 0xba, 0x98,
		1, 2, 3, 4, 0, 0, 0, 3, 0x89, 0xab, 0xcd, 0xef, 0xa5, 1, 2,
	};
	struct rcl_msg msg = sample(RCL_MSG_PING, 3);
	u8 buf[BYTES];

	ASSERT_EQ(sizeof(want), rcl_msg_encode(buf, &msg));
	EXPECT_EQ(0, memcmp(want, buf, sizeof(want)));
}

TEST(the_clear_part_is_these_bytes)
{
	static const u8 want[RCL_MSG_AAD] = {
		1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 9, 8
	};
	u8 buf[RCL_MSG_AAD];
	u64 epoch, seq;

	rcl_msg_put_aad(buf, 0x0102030405060708, 0xffeeddccbbaa0908);
	EXPECT_EQ(0, memcmp(want, buf, sizeof(want)));
	rcl_msg_get_aad(buf, &epoch, &seq);
	EXPECT_EQ(0x0102030405060708, epoch);
	EXPECT_EQ(0xffeeddccbbaa0908, seq);
}

TEST(every_type_comes_back_as_it_was)
{
	static const u32 lens[] = { 0, 1, 7, 8, 9, 459, RCL_MSG_DATA_MAX };
	struct rcl_msg got;
	u8 buf[BYTES];
	u32 len, i;
	u8 type;

	for (type = RCL_MSG_HELLO; type < RCL_MSG_MAX; type++) {
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			struct rcl_msg msg = sample(type, lens[i]);

			len = rcl_msg_encode(buf, &msg);
			ASSERT_EQ(0, decode(buf, len, &got))
				TH_LOG("type %u, length %u", type, lens[i]);
			EXPECT_TRUE(same(&msg, &got))
				TH_LOG("type %u, length %u", type, lens[i]);
		}
	}
}

TEST(a_range_may_be_larger_than_a_message)
{
	struct rcl_msg msg = sample(RCL_MSG_FILL, 0xffffffff);
	struct rcl_msg got;
	u8 buf[BYTES];

	EXPECT_EQ(0, decode(buf, rcl_msg_encode(buf, &msg), &got));
	EXPECT_EQ(0xffffffff, got.len);
}

TEST(cut_off_at_any_byte_it_is_refused)
{
	struct rcl_msg got;
	u8 buf[BYTES];
	u32 len, cut;
	u8 type;

	for (type = RCL_MSG_HELLO; type < RCL_MSG_MAX; type++) {
		struct rcl_msg msg = sample(type, 100);

		len = rcl_msg_encode(buf, &msg);
		for (cut = 0; cut < len; cut++)
			EXPECT_EQ(-EBADMSG, decode(buf, cut, &got))
				TH_LOG("type %u, %u of %u", type, cut, len);
	}
}

TEST(bytes_behind_its_end_are_refused)
{
	struct rcl_msg got;
	u8 buf[BYTES * 2];
	u32 len, more;
	u8 type;

	memset(buf, 0, sizeof(buf));
	for (type = RCL_MSG_HELLO; type < RCL_MSG_MAX; type++) {
		struct rcl_msg msg = sample(type, 8);

		len = rcl_msg_encode(buf, &msg);
		for (more = 1; len + more <= BYTES; more++)
			EXPECT_EQ(-EBADMSG, decode(buf, len + more, &got));
	}
}

TEST(a_payload_longer_than_a_slot_is_refused)
{
	struct rcl_msg msg = sample(RCL_MSG_PING, RCL_MSG_DATA_MAX);
	struct rcl_msg got;
	u8 buf[BYTES + 4];
	u32 len;

	memset(buf, 0, sizeof(buf));
	len = rcl_msg_encode(buf, &msg);
	ASSERT_EQ(BYTES, len);
	buf[15]++;
	EXPECT_EQ(-EBADMSG, decode(buf, len + 1, &got));
	/* so long that the sum wraps */
	memset(buf + 12, 0xff, 4);
	EXPECT_EQ(-EBADMSG, decode(buf, len, &got));
	buf[15] -= RCL_MSG_HEAD + RCL_MSG_RANGE - 1;
	EXPECT_EQ(-EBADMSG, decode(buf, 20, &got));
}

TEST(unknown_types_and_states_are_refused)
{
	struct rcl_msg msg = sample(RCL_MSG_HELLO, 0);
	struct rcl_msg got;
	unsigned int type;
	u8 buf[BYTES];
	u32 len;

	len = rcl_msg_encode(buf, &msg);
	for (type = 0; type < 256; type++) {
		buf[0] = type;
		if (type && type < RCL_MSG_MAX)
			continue;
		EXPECT_EQ(-EBADMSG, decode(buf, len, &got));
	}
	buf[0] = RCL_MSG_HELLO;
	buf[1] = RCL_MSG_FAILED;
	EXPECT_EQ(0, decode(buf, len, &got));
	buf[1]++;
	EXPECT_EQ(-EBADMSG, decode(buf, len, &got));
}

TEST(a_payload_may_be_encoded_where_it_lies)
{
	struct rcl_msg msg = sample(RCL_MSG_PONG, 64);
	struct rcl_msg got;
	u8 buf[BYTES];

	memcpy(buf + 10, payload, 64);
	msg.data = buf + 10;
	ASSERT_EQ(0, decode(buf, rcl_msg_encode(buf, &msg), &got));
	EXPECT_EQ(0, memcmp(payload, buf + RCL_MSG_HEAD + RCL_MSG_RANGE, 64));
}

TEST(a_name_is_1_byte_to_what_fits_and_has_no_zero)
{
	static const u8 bytes[] = "abc\0d";
	struct rcl_msg msg = { .data = bytes, .len = 3 };
	char name[4] = "xxx";

	ASSERT_EQ(0, rcl_msg_get_name(&msg, name, sizeof(name)));
	EXPECT_STREQ("abc", name);
	EXPECT_EQ(-EPROTO, rcl_msg_get_name(&msg, name, 3));
	msg.len = 0;
	EXPECT_EQ(-EPROTO, rcl_msg_get_name(&msg, name, sizeof(name)));
	msg.data = bytes + 1;
	msg.len = 3;
	EXPECT_EQ(-EPROTO, rcl_msg_get_name(&msg, name, sizeof(name)));
}

TEST(each_answer_belongs_to_a_question)
{
	unsigned int type, answers = 0;

	for (type = 0; type < 256; type++)
		answers += rcl_msg_is_answer(type);
	EXPECT_EQ(12, answers);
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_HELLO_ACK));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_PONG));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_FILLED));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_CHECKED));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_OPENED));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_RECYCLED));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_GONE));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_IMPORTED));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_HEARD));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_BEAT_ACK));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_RESUMED));
	EXPECT_TRUE(rcl_msg_is_answer(RCL_MSG_GROUPED));
}

TEST_HARNESS_MAIN
