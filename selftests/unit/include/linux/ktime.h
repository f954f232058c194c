/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_KTIME_H
#define UNIT_LINUX_KTIME_H

#include <linux/jiffies.h>

#define ktime_get_ns()	(jiffies * 1000000ULL)

#endif /* UNIT_LINUX_KTIME_H */
