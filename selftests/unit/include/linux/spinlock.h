/* SPDX-License-Identifier: GPL-2.0 */
/* Spinlocks, which are mutexes in unit tests. */
#ifndef UNIT_LINUX_SPINLOCK_H
#define UNIT_LINUX_SPINLOCK_H

#include <linux/mutex.h>

#define spinlock_t		struct mutex
#define DEFINE_SPINLOCK(name)	DEFINE_MUTEX(name)
#define spin_lock_init(lock)	((lock)->held = 0)
#define spin_lock(lock)		mutex_lock(lock)
#define spin_unlock(lock)	mutex_unlock(lock)

#endif /* UNIT_LINUX_SPINLOCK_H */
