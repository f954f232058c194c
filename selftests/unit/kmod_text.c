// SPDX-License-Identifier: GPL-2.0
/* The head of what members of a group say: every byte and every length. */
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

/* In memory of just that size: the sanitizer sees every step outside. */
static int kind_of(const u8 *buf, u32 len)
{
	u8 *exact = malloc(len ? len : 1);
	int ret;

	memcpy(exact, buf, len);
	ret = rcl_text_kind(exact, len);
	free(exact);
	return ret;
}

TEST(there_and_back)
{
	u8 buf[RCL_TEXT_HEAD + 1];
	u8 kind;

	for (kind = RCL_TEXT_HERE; kind <= RCL_TEXT_DATA; kind++) {
		memset(buf, 0xa5, sizeof(buf));
		rcl_text_begin(buf, kind);
		EXPECT_EQ(0xa5, buf[RCL_TEXT_HEAD]);
		EXPECT_EQ(kind, kind_of(buf, RCL_TEXT_HEAD));
		EXPECT_EQ(kind, kind_of(buf, sizeof(buf)));
	}
}

TEST(what_is_too_short_is_refused)
{
	u8 buf[RCL_TEXT_HEAD];
	u32 len;

	rcl_text_begin(buf, RCL_TEXT_DATA);
	for (len = 0; len < RCL_TEXT_HEAD; len++)
		EXPECT_EQ(-EBADMSG, kind_of(buf, len));
}

TEST(each_other_byte_is_refused)
{
	u8 buf[RCL_TEXT_HEAD];
	u32 at, value;

	for (at = 0; at < RCL_TEXT_HEAD; at++) {
		for (value = 0; value < 256; value++) {
			int want = -EBADMSG;

			rcl_text_begin(buf, RCL_TEXT_DATA);
			if (buf[at] == value ||
			    (at == 1 && value == RCL_TEXT_HERE))
				want = at == 1 ? (int)value : RCL_TEXT_DATA;
			buf[at] = value;
			EXPECT_EQ(want, kind_of(buf, RCL_TEXT_HEAD))
				TH_LOG("byte %u: %u", at, value);
		}
	}
}

TEST_HARNESS_MAIN
