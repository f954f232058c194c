/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_SCHED_H
#define UNIT_LINUX_SCHED_H

#define MAX_SCHEDULE_TIMEOUT	0x7fffffffffffffffL
#define cond_resched()		do { } while (0)

#endif /* UNIT_LINUX_SCHED_H */
