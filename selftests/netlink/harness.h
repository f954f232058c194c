/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's harness, with longer timeouts on a slow kernel. */
#ifndef HARNESS_H
#define HARNESS_H

#include <kselftest_harness.h>

#include "slow.h"

/* Without a priority it runs after all tests have been registered. */
static void __attribute__((constructor)) harness_slow(void)
{
	struct __fixture_metadata *f;
	struct __test_metadata *t;

	for (f = __fixture_list; f; f = f->next)
		for (t = f->tests; t; t = t->next)
			t->timeout = slow(t->timeout);
}

#endif /* HARNESS_H */
