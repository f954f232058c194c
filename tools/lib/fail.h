/* SPDX-License-Identifier: GPL-2.0 */
/* A sentence for a person, to go with an errno. */
#ifndef RCL_FAIL_H
#define RCL_FAIL_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
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

/* Some providers' verbs fail without setting errno, which was 0 before. */
static inline int rcl_errno(void)
{
	return errno ? errno : EINVAL;
}

/* Does this errno blame nobody's mistake, so that the same may work later? */
static inline bool rcl_may_pass(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ||
	       error == EIO;
}

#endif /* RCL_FAIL_H */
