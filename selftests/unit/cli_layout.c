// SPDX-License-Identifier: GPL-2.0
/* The module's check of endpoints is given the tool's struct. */
#include <kselftest_harness.h>

#include "endpoint.h"
#include "layout.h"

TEST(an_endpoint_lies_in_memory_as_the_modules_does)
{
	const size_t *kmod = kmod_layout();
	size_t i;

	for (i = 0; i < sizeof(layout) / sizeof(layout[0]); i++)
		EXPECT_EQ(kmod[i], layout[i]);
}

TEST_HARNESS_MAIN
