/* SPDX-License-Identifier: GPL-2.0 */
/* When something is due, in jiffies that do not wrap; 0 means never. */
#ifndef RCL_DUE_H
#define RCL_DUE_H

#include <linux/jiffies.h>
#include <linux/types.h>

static inline u64 rcl_due_in(unsigned int ms)
{
	return get_jiffies_64() + msecs_to_jiffies(ms);
}

static inline bool rcl_due_lies_ahead(u64 due)
{
	return time_before64(get_jiffies_64(), due);
}

/* The earlier of the two; 0 if both are never. */
static inline u64 rcl_due_first(u64 a, u64 b)
{
	return !a || (b && time_before64(b, a)) ? b : a;
}

#endif /* RCL_DUE_H */
