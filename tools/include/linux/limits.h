/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_LIMITS_H
#define UNIT_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U32_MAX		0xffffffffU

#endif /* UNIT_LINUX_LIMITS_H */
