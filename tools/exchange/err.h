/* SPDX-License-Identifier: GPL-2.0 */
/* A sentence for a person beside the errno, in RCX_ERR_LEN bytes. */
#ifndef RCX_ERR_H
#define RCX_ERR_H

#include <stdarg.h>
#include <stdio.h>

#include "session.h"

static inline __attribute__((format(printf, 3, 4)))
int rcx_fail(char *err, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, RCX_ERR_LEN, fmt, ap);
	va_end(ap);

	return ret;
}

#endif /* RCX_ERR_H */
