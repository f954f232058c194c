/* SPDX-License-Identifier: GPL-2.0 */
/* A sentence for a person, to go with an errno. */
#ifndef RCL_FAIL_H
#define RCL_FAIL_H

#include <stdarg.h>
#include <stdio.h>

#define RCL_ERR_LEN	1024	/* of every char *err */

static inline __attribute__((format(printf, 3, 4)))
int rcl_fail(char *err, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, RCL_ERR_LEN, fmt, ap);
	va_end(ap);

	return ret;
}

#endif /* RCL_FAIL_H */
