/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_LINUX_LIMITS_H
#define TOOLS_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U32_MAX		0xffffffffU

#endif /* TOOLS_LINUX_LIMITS_H */
