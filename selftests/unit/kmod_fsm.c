// SPDX-License-Identifier: GPL-2.0
/* The whole state table, written down a second time. */
#include "fsm.h"

#include <kselftest_harness.h>

#define STATES	RCLINK_LINK_STATE_DOWN

/*
 * +: allowed; or an errno: b busy, n not connected. In the order prepare,
 * connect, activate, disconnect, replace, rotate.
 */
static const char * const expected[STATES + 1] = {
	[RCLINK_LINK_STATE_IDLE]	= "+nnnnn",
	[RCLINK_LINK_STATE_PREPARED]	= "b+n+nn",
	[RCLINK_LINK_STATE_CONNECTED]	= "bb++nn",
	[RCLINK_LINK_STATE_UP]		= "bbb+++",
	[RCLINK_LINK_STATE_DOWN]	= "+nnnnn",
};

static int meaning(char c)
{
	switch (c) {
	case '+': return 0;
	case 'b': return -EBUSY;
	default: return -ENOTCONN;
	}
}

TEST(every_request_has_its_place_in_every_state)
{
	unsigned int state, kind;

	for (state = RCLINK_LINK_STATE_IDLE; state <= STATES; state++) {
		ASSERT_EQ(RCL_REQ_MAX, strlen(expected[state]));
		for (kind = 0; kind < RCL_REQ_MAX; kind++) {
			const char *why = NULL;

			EXPECT_EQ(meaning(expected[state][kind]),
				  rcl_fsm_check(state, kind, &why))
				TH_LOG("state %u, request %u", state, kind);
		}
	}
}

TEST(every_refusal_has_a_sentence_and_nothing_else_has)
{
	unsigned int state, kind;

	for (state = RCLINK_LINK_STATE_IDLE; state <= STATES; state++) {
		for (kind = 0; kind < RCL_REQ_MAX; kind++) {
			const char *why = NULL;
			int ret = rcl_fsm_check(state, kind, &why);

			EXPECT_EQ(ret < 0, why && *why)
				TH_LOG("state %u, request %u", state, kind);
		}
	}
}

TEST(only_prepare_leads_out_of_idle_and_down)
{
	static const unsigned int ends[] = {
		RCLINK_LINK_STATE_IDLE, RCLINK_LINK_STATE_DOWN
	};
	unsigned int i, kind;
	const char *why;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		for (kind = 0; kind < RCL_REQ_MAX; kind++)
			EXPECT_EQ(kind == RCL_REQ_PREPARE,
				  !rcl_fsm_check(ends[i], kind, &why));
}

TEST_HARNESS_MAIN
