/* SPDX-License-Identifier: GPL-2.0 */
/* Time limits on a slow kernel; see slow.sh. */
#ifndef SLOW_H
#define SLOW_H

#include <stdlib.h>

/* Scale @limit, which is right for Debian's kernel, for this kernel. */
static inline int slow(int limit)
{
	const char *factor = getenv("RCL_SLOW");

	return factor ? limit * atoi(factor) : limit;
}

#endif /* SLOW_H */
