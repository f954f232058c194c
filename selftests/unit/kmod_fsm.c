// SPDX-License-Identifier: GPL-2.0
/* The whole state table, written down a second time. */
#include "fsm.h"

#include <kselftest_harness.h>

#define STATES	RCLINK_LINK_STATE_DOWN

/*
 * +: it has a place; or an errno: b busy, n not connected, p protocol. In the
 * order prepare, connect, activate, proven, disconnect, renew.
 */
static const char * const expected[STATES + 1] = {
	[RCLINK_LINK_STATE_IDLE]	= "+nnpnn",
	[RCLINK_LINK_STATE_PREPARED]	= "b+np+n",
	[RCLINK_LINK_STATE_CONNECTED]	= "bb+++n",
	[RCLINK_LINK_STATE_UP]		= "bbb+++",
	[RCLINK_LINK_STATE_DOWN]	= "+nnpnn",
};

static int meaning(char c)
{
	switch (c) {
	case '+': return 0;
	case 'b': return -EBUSY;
	case 'n': return -ENOTCONN;
	default: return -EPROTO;
	}
}

TEST(every_input_has_its_place_in_every_state)
{
	unsigned int state, in;

	for (state = RCLINK_LINK_STATE_IDLE; state <= STATES; state++) {
		ASSERT_EQ(RCL_IN_MAX, strlen(expected[state]));
		for (in = 0; in < RCL_IN_MAX; in++) {
			const char *why = NULL;

			EXPECT_EQ(meaning(expected[state][in]),
				  rcl_fsm_check(state, in, &why))
				TH_LOG("state %u, input %u", state, in);
		}
	}
}

TEST(every_refusal_has_a_sentence_and_nothing_else_has)
{
	unsigned int state, in;

	for (state = RCLINK_LINK_STATE_IDLE; state <= STATES; state++) {
		for (in = 0; in < RCL_IN_MAX; in++) {
			const char *why = NULL;
			int ret = rcl_fsm_check(state, in, &why);

			EXPECT_EQ(ret < 0, why && *why)
				TH_LOG("state %u, input %u", state, in);
		}
	}
}

TEST(only_prepare_leads_out_of_idle_and_down)
{
	static const unsigned int ends[] = {
		RCLINK_LINK_STATE_IDLE, RCLINK_LINK_STATE_DOWN
	};
	unsigned int i, in;
	const char *why;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		for (in = 0; in < RCL_IN_MAX; in++)
			EXPECT_EQ(in == RCL_IN_PREPARE,
				  !rcl_fsm_check(ends[i], in, &why));
}

TEST_HARNESS_MAIN
