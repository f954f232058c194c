// SPDX-License-Identifier: GPL-2.0
#include "hall.h"

#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/string.h>

/**
 * rcl_hall_init - begin without hearers
 * @hall: zeroed
 */
void rcl_hall_init(struct rcl_hall *hall)
{
	mutex_init(&hall->turn);
	spin_lock_init(&hall->lock);
	INIT_LIST_HEAD(&hall->hearers);
	init_waitqueue_head(&hall->left);
}

/**
 * rcl_hall_enter - hear messages from now on
 * @hall: initialized
 * @hearer: with its functions and its service set
 *
 * Context: process context.
 * Return: 0, -ESHUTDOWN or -ENOSPC.
 */
int rcl_hall_enter(struct rcl_hall *hall, struct rcl_hearer *hearer)
{
	int ret = 0;

	spin_lock(&hall->lock);
	if (hall->closed) {
		ret = -ESHUTDOWN;
	} else if (hall->n == RCL_HALL_MAX) {
		ret = -ENOSPC;
	} else {
		list_add_tail(&hearer->node, &hall->hearers);
		hall->n++;
	}
	spin_unlock(&hall->lock);
	return ret;
}

static bool rcl_hall_try_leave(struct rcl_hall *hall, struct rcl_hearer *hearer)
{
	bool ret;

	spin_lock(&hall->lock);
	hearer->leaving = true;
	ret = hall->told != hearer;
	if (ret) {
		list_del(&hearer->node);
		hall->n--;
	}
	spin_unlock(&hall->lock);
	return ret;
}

/**
 * rcl_hall_leave - the mirror of rcl_hall_enter()
 * @hall: entered, maybe closed since
 * @hearer: hears nothing more afterwards
 *
 * Context: may sleep, while @hearer is told of something.
 */
void rcl_hall_leave(struct rcl_hall *hall, struct rcl_hearer *hearer)
{
	wait_event(hall->left, rcl_hall_try_leave(hall, hearer));
}

static bool rcl_hall_is_for(const struct rcl_heard *heard,
			    const struct rcl_hearer *hearer)
{
	return heard->service_len == strlen(hearer->service) &&
	       !memcmp(heard->service, hearer->service, heard->service_len);
}

/* Who enters, leaves or looks may lose the processor, and holds up nobody. */
static bool rcl_hall_call(struct rcl_hall *hall, struct rcl_hearer *hearer,
			  const struct rcl_heard *heard)
	__must_hold(&hall->lock)
{
	bool taken = true;

	lockdep_assert_held(&hall->lock);
	hall->told = hearer;
	spin_unlock(&hall->lock);
	if (heard)
		taken = hearer->hear(hearer, heard);
	else
		hearer->ended(hearer);
	cond_resched();
	spin_lock(&hall->lock);
	hall->told = NULL;
	wake_up_all(&hall->left);
	return taken;
}

/**
 * rcl_hall_tell - a message came in
 * @hall: initialized
 * @heard: the message
 *
 * Context: may sleep.
 */
void rcl_hall_tell(struct rcl_hall *hall, const struct rcl_heard *heard)
{
	struct rcl_hearer *hearer;

	mutex_lock(&hall->turn);
	spin_lock(&hall->lock);
	list_for_each_entry(hearer, &hall->hearers, node)
		if (!hearer->leaving && rcl_hall_is_for(heard, hearer) &&
		    !rcl_hall_call(hall, hearer, heard))
			hall->missed++;
	spin_unlock(&hall->lock);
	mutex_unlock(&hall->turn);
}

/**
 * rcl_hall_read - how does it stand?
 * @hall: initialized
 * @n: set to how many hear
 * @missed: set to how many messages one of them did not get
 *
 * Context: may sleep.
 */
void rcl_hall_read(struct rcl_hall *hall, u32 *n, u64 *missed)
{
	spin_lock(&hall->lock);
	*n = hall->n;
	*missed = hall->missed;
	spin_unlock(&hall->lock);
}

/**
 * rcl_hall_close - tell all that there will be no more, and let nobody in
 * @hall: initialized
 *
 * Context: may sleep.
 */
void rcl_hall_close(struct rcl_hall *hall)
{
	struct rcl_hearer *hearer;

	mutex_lock(&hall->turn);
	spin_lock(&hall->lock);
	hall->closed = true;
	list_for_each_entry(hearer, &hall->hearers, node)
		rcl_hall_call(hall, hearer, NULL);
	spin_unlock(&hall->lock);
	mutex_unlock(&hall->turn);
}
