// SPDX-License-Identifier: GPL-2.0
/* The head of a message to a group: every byte and every length. */
#include "group-msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

/* Copies to the exact size, so that the sanitizer sees any overrun. */
static int kind_of(const u8 *buf, u32 len)
{
	u8 *exact = malloc(len ? len : 1);
	int ret;

	memcpy(exact, buf, len);
	ret = rcl_group_msg_kind(exact, len);
	free(exact);
	return ret;
}

TEST(there_and_back)
{
	u8 buf[RCL_GROUP_MSG_HEAD + 2];

	memset(buf, 0xa5, sizeof(buf));
	EXPECT_EQ(RCL_GROUP_MSG_HEAD,
		  rcl_group_msg_begin(buf, RCL_GROUP_MSG_ANNOUNCE, ""));
	EXPECT_EQ(0xa5, buf[RCL_GROUP_MSG_HEAD]);
	EXPECT_EQ(RCL_GROUP_MSG_ANNOUNCE, kind_of(buf, RCL_GROUP_MSG_HEAD));
	EXPECT_EQ(RCL_GROUP_MSG_ANNOUNCE, kind_of(buf, sizeof(buf)));
	EXPECT_EQ(RCL_GROUP_MSG_HEAD + 1,
		  rcl_group_msg_begin(buf, RCL_GROUP_MSG_DATA, "a"));
	EXPECT_EQ(0xa5, buf[RCL_GROUP_MSG_HEAD + 1]);
	EXPECT_EQ(1, rcl_group_msg_service_len(buf));
	EXPECT_EQ(RCL_GROUP_MSG_DATA, kind_of(buf, RCL_GROUP_MSG_HEAD + 1));
	EXPECT_EQ(RCL_GROUP_MSG_DATA, kind_of(buf, sizeof(buf)));
}

TEST(a_service_has_a_name_of_1_to_31_bytes)
{
	u8 buf[RCL_GROUP_MSG_HEAD + 300];
	u32 len, room;

	for (len = 0; len < 256; len++) {
		memset(buf, 'x', sizeof(buf));
		rcl_group_msg_begin(buf, RCL_GROUP_MSG_DATA, "");
		buf[2] = len;
		for (room = 0; room < 300; room++)
			EXPECT_EQ(len && len < 32 && len <= room ?
				  RCL_GROUP_MSG_DATA : -EBADMSG,
				  kind_of(buf, RCL_GROUP_MSG_HEAD + room))
				TH_LOG("%u in %u", len, room);
	}
	/* and no NUL before its end */
	rcl_group_msg_begin(buf, RCL_GROUP_MSG_DATA, "name");
	EXPECT_EQ(RCL_GROUP_MSG_DATA, kind_of(buf, sizeof(buf)));
	buf[RCL_GROUP_MSG_HEAD + 3] = 0;
	EXPECT_EQ(-EBADMSG, kind_of(buf, sizeof(buf)));
}

TEST(what_is_too_short_is_refused)
{
	u8 buf[RCL_GROUP_MSG_HEAD];
	u32 len;

	rcl_group_msg_begin(buf, RCL_GROUP_MSG_ANNOUNCE, "");
	for (len = 0; len < RCL_GROUP_MSG_HEAD; len++)
		EXPECT_EQ(-EBADMSG, kind_of(buf, len));
}

TEST(each_other_byte_is_refused)
{
	u8 buf[RCL_GROUP_MSG_HEAD];
	u32 at, value;

	for (at = 0; at < RCL_GROUP_MSG_HEAD; at++) {
		for (value = 0; value < 256; value++) {
			rcl_group_msg_begin(buf, RCL_GROUP_MSG_ANNOUNCE, "");
			if (buf[at] == value)
				continue;
			buf[at] = value;
			EXPECT_EQ(-EBADMSG, kind_of(buf, RCL_GROUP_MSG_HEAD))
				TH_LOG("byte %u: %u", at, value);
		}
	}
}

TEST_HARNESS_MAIN
