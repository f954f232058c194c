/* SPDX-License-Identifier: GPL-2.0 */
/* A clock that the test sets; a jiffy is one ms, and a long has 32 bits. */
#ifndef UNIT_LINUX_JIFFIES_H
#define UNIT_LINUX_JIFFIES_H

extern unsigned long jiffies;

#define time_before(a, b)	((int)((a) - (b)) < 0)
#define time_before64(a, b)	((long long)((a) - (b)) < 0)
#define msecs_to_jiffies(ms)	((unsigned long)(ms))

static inline unsigned long long get_jiffies_64(void)
{
	return jiffies;
}

#endif /* UNIT_LINUX_JIFFIES_H */
