// SPDX-License-Identifier: GPL-2.0
/* Events for which there is no memory. Needs the debug kernel. */
#include "rcl.h"

#include <errno.h>

#include "fault.h"
#include "harness.h"

#define STEPS_MAX	2000	/* more than a new link allocates */

/* If a link is created, but its event is lost, the listener is told so. */
TEST(no_event_is_lost_in_silence)
{
	unsigned int lost = 0, n;
	struct genl_sock s, events;
	unsigned long left = 0;
	struct genl_msg m;
	int ret, heard;

	if (!fault_there())
		SKIP(return, "the kernel has no failslab");
	ASSERT_EQ(0, fault_nth_setup());
	ASSERT_EQ(0, rcl_open(&s));
	ASSERT_EQ(0, rcl_open(&events));
	ASSERT_EQ(0, genl_join(&events));
	for (n = 1; !left && n < STEPS_MAX; n++) {
		fault_nth(n);
		ret = rcl_new(&s, "a");
		left = fault_nth(0);
		if (ret)
			continue;
		heard = genl_recv(&events, &m, 1000);
		EXPECT_TRUE(!heard || heard == -ENOBUFS)
			TH_LOG("allocation %u: %d", n, heard);
		lost += heard == -ENOBUFS;
		ASSERT_EQ(0, rcl_del(&s, "a"));
		EXPECT_EQ(0, genl_recv(&events, &m, 1000));
	}
	EXPECT_LT(0, lost);
	genl_close(&events);
	genl_close(&s);
}

TEST_HARNESS_MAIN
