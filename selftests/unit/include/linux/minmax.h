/* SPDX-License-Identifier: GPL-2.0 */
/* Minimum and maximum of numbers that fit into a long. */
#ifndef UNIT_LINUX_MINMAX_H
#define UNIT_LINUX_MINMAX_H

static inline long min(long a, long b)
{
	return a < b ? a : b;
}

static inline long unit_max(long a, long b)
{
	return a > b ? a : b;
}

#define min_t(type, a, b)	((type)min((type)(a), (type)(b)))
#define max_t(type, a, b)	((type)unit_max((type)(a), (type)(b)))

#endif /* UNIT_LINUX_MINMAX_H */
