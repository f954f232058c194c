/* SPDX-License-Identifier: GPL-2.0 */
/* From the module's endpoint.c; its struct has the layout of the one here. */
#ifndef RCV_CHECK_H
#define RCV_CHECK_H

#include <stdbool.h>

struct rcl_endpoint;

/* 0, or -EINVAL with a sentence in why. remote is hostile. */
int rcl_endpoint_check(const struct rcl_endpoint *local,
		       const struct rcl_endpoint *remote, bool loopback,
		       const char **why);

#endif /* RCV_CHECK_H */
