// SPDX-License-Identifier: GPL-2.0
#include "group-hear.h"

#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/string.h>

/**
 * rcl_group_hear_init - begin without listeners
 * @hear: zeroed
 */
void rcl_group_hear_init(struct rcl_group_hear *hear)
{
	mutex_init(&hear->turn);
	spin_lock_init(&hear->lock);
	INIT_LIST_HEAD(&hear->listeners);
	init_waitqueue_head(&hear->left);
}

/**
 * rcl_group_hear_enter - hear messages from now on
 * @hear: initialized
 * @listener: its functions and its service are set
 *
 * Context: process context.
 * Return: 0, -ESHUTDOWN or -ENOSPC.
 */
int rcl_group_hear_enter(struct rcl_group_hear *hear,
			 struct rcl_group_listener *listener)
{
	int ret = 0;

	spin_lock(&hear->lock);
	if (hear->closed) {
		ret = -ESHUTDOWN;
	} else if (hear->n == RCL_GROUP_LISTENERS) {
		ret = -ENOSPC;
	} else {
		list_add_tail(&listener->node, &hear->listeners);
		hear->n++;
	}
	spin_unlock(&hear->lock);
	return ret;
}

static bool rcl_group_hear_try_leave(struct rcl_group_hear *hear,
				     struct rcl_group_listener *listener)
{
	bool ret;

	spin_lock(&hear->lock);
	listener->leaving = true;
	ret = hear->told != listener;
	if (ret) {
		list_del(&listener->node);
		hear->n--;
	}
	spin_unlock(&hear->lock);
	return ret;
}

/**
 * rcl_group_hear_leave - the mirror of rcl_group_hear_enter()
 * @hear: entered, maybe closed since
 * @listener: hears nothing more afterwards
 *
 * Context: may sleep while @listener is being called.
 */
void rcl_group_hear_leave(struct rcl_group_hear *hear,
			  struct rcl_group_listener *listener)
{
	wait_event(hear->left, rcl_group_hear_try_leave(hear, listener));
}

static bool rcl_group_hear_is_for(const struct rcl_heard *heard,
				  const struct rcl_group_listener *listener)
{
	return heard->service_len == strlen(listener->service) &&
	       !memcmp(heard->service, listener->service, heard->service_len);
}

/*
 * Drops @hear->lock for the call, so that it can be a spinlock: those who
 * enter, leave or look hold up nobody, even if they get no processor.
 */
static bool rcl_group_hear_call(struct rcl_group_hear *hear,
				struct rcl_group_listener *listener,
				const struct rcl_heard *heard)
	__must_hold(&hear->lock)
{
	bool taken = true;

	lockdep_assert_held(&hear->lock);
	hear->told = listener;
	spin_unlock(&hear->lock);
	if (heard)
		taken = listener->hear(listener, heard);
	else
		listener->ended(listener);
	spin_lock(&hear->lock);
	hear->told = NULL;
	wake_up_all(&hear->left);
	return taken;
}

/**
 * rcl_group_hear_tell - pass a message on to its listeners
 * @hear: initialized
 * @heard: the message
 *
 * Context: may sleep.
 */
void rcl_group_hear_tell(struct rcl_group_hear *hear,
			 const struct rcl_heard *heard)
{
	struct rcl_group_listener *listener;

	mutex_lock(&hear->turn);
	spin_lock(&hear->lock);
	list_for_each_entry(listener, &hear->listeners, node)
		if (!listener->leaving &&
		    rcl_group_hear_is_for(heard, listener) &&
		    !rcl_group_hear_call(hear, listener, heard))
			hear->missed++;
	spin_unlock(&hear->lock);
	mutex_unlock(&hear->turn);
}

/**
 * rcl_group_hear_read - read the counters
 * @hear: initialized
 * @n: set to the number of listeners
 * @missed: set to how often a listener missed a message
 *
 * Context: process context.
 */
void rcl_group_hear_read(struct rcl_group_hear *hear, u32 *n, u64 *missed)
{
	spin_lock(&hear->lock);
	*n = hear->n;
	*missed = hear->missed;
	spin_unlock(&hear->lock);
}

/**
 * rcl_group_hear_close - tell all listeners of the end, and admit no more
 * @hear: initialized
 *
 * Context: may sleep.
 */
void rcl_group_hear_close(struct rcl_group_hear *hear)
{
	struct rcl_group_listener *listener;

	mutex_lock(&hear->turn);
	spin_lock(&hear->lock);
	hear->closed = true;
	list_for_each_entry(listener, &hear->listeners, node)
		rcl_group_hear_call(hear, listener, NULL);
	spin_unlock(&hear->lock);
	mutex_unlock(&hear->turn);
}
