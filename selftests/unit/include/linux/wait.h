/* SPDX-License-Identifier: GPL-2.0 */
/* Nobody sleeps: a wait with a timeout ends at once, another one aborts. */
#ifndef UNIT_LINUX_WAIT_H
#define UNIT_LINUX_WAIT_H

#include <linux/minmax.h>
#include <stdbool.h>
#include <stdlib.h>

struct wait_queue_head {
	int woken;
	void (*then)(void);	/* between a wake-up and what the waiter does */
};

#define wait_queue_head_t	struct wait_queue_head

static inline void init_waitqueue_head(wait_queue_head_t *wait)
{
	wait->woken = 0;
	wait->then = NULL;
}

static inline bool wq_has_sleeper(wait_queue_head_t *wait)
{
	return true;
}

static inline void wake_up(wait_queue_head_t *wait)
{
	wait->woken++;
}

static inline long wait_go_on(wait_queue_head_t *wait, long left)
{
	if (wait->then)
		wait->then();
	return left;
}

#define wake_up_all(wait)	wake_up(wait)
#define wait_event(wait, condition) \
	((condition) ? (void)(wait) : abort())
#define wait_event_interruptible_timeout(wait, condition, left) \
	((condition) ? wait_go_on(&(wait), max_t(long, left, 1)) : 0)

#endif /* UNIT_LINUX_WAIT_H */
