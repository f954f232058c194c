/* SPDX-License-Identifier: GPL-2.0 */
/* For one thread; aborts if a lock is taken twice, or not held as required. */
#ifndef UNIT_LINUX_MUTEX_H
#define UNIT_LINUX_MUTEX_H

#include <assert.h>

struct mutex {
	int held;
};

#define DEFINE_MUTEX(name)	struct mutex name

static inline void mutex_lock(struct mutex *lock)
{
	assert(!lock->held++);
}

static inline void mutex_unlock(struct mutex *lock)
{
	assert(lock->held--);
}

#define lockdep_assert_held(lock)	assert((lock)->held)

#endif /* UNIT_LINUX_MUTEX_H */
