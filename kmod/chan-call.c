// SPDX-License-Identifier: GPL-2.0
#include "chan-call.h"

#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "chan.h"
#include "charge.h"
#include "inbox.h"

/* For an errand, which nobody interrupts, and whose place others wait for. */
static int rcl_chan_await_until(struct rcl_call *call, unsigned long until)
{
	/* Read jiffies once, or @until might pass in between. */
	long left = until - jiffies;

	return wait_for_completion_timeout(&call->done, max(left, 0L)) ?
	       0 : -ETIMEDOUT;
}

/* A caller that can leave calls behind must not be able to pile them up. */
static bool rcl_chan_leave(struct rcl_chan *chan, struct rcl_call *call)
{
	struct rcl_call *left;
	bool may;

	spin_lock_bh(&chan->lock);
	left = chan->left;
	may = !left || completion_done(&left->done);
	if (may) {
		refcount_inc(&call->ref);
		chan->left = call;
	}
	spin_unlock_bh(&chan->lock);
	if (may && left)
		rcl_call_put(left);
	return may;
}

static int rcl_chan_await(struct rcl_chan *chan, struct rcl_call *call)
{
	int ret = wait_for_completion_interruptible(&call->done);

	if (ret && !rcl_chan_leave(chan, call))
		ret = wait_for_completion_killable(&call->done);
	return ret ? -EINTR : 0;
}

/**
 * rcl_chan_call - ask the pool of the link for something
 * @chan: with a link
 * @call: left to the pool if the caller stops waiting for it
 * @until: of RCL_CALL_RENEW: how long to wait, in jiffies; else NULL
 *
 * Context: may sleep; can be interrupted, but only killed while a call that was
 * left behind earlier has no answer.
 * Return: 0, -EINTR, -ETIMEDOUT, -ESHUTDOWN if the link is being deleted, or
 * the result of the call.
 */
int rcl_chan_call(struct rcl_chan *chan, struct rcl_call *call,
		  const unsigned long *until)
{
	int ret;

	ret = rcl_inbox_ask_call(chan->link, call);
	if (!ret)
		ret = until ? rcl_chan_await_until(call, *until) :
			      rcl_chan_await(chan, call);
	return ret ? : call->ret;
}

/* An errand charges the owner of the channel. */
static u32 *rcl_chan_new_rkeys(struct rcl_chan *chan,
			       const struct rcl_call *call)
{
	u32 n = rcl_window_extents(&call->window);

	if (call->kind == RCL_CALL_RENEW)
		return rcl_charged_kvcalloc(chan->memcg, n, sizeof(u32));
	return kvmalloc_array(n, sizeof(u32), RCL_GFP_CHARGED);
}

static int rcl_chan_got(struct rcl_chan *chan, struct rcl_window *window,
			u32 *n, const struct rcl_call *call)
{
	const struct rcl_window *got = &call->window;

	if (!*n) {
		*window = *got;
		window->rkeys = rcl_chan_new_rkeys(chan, call);
		if (!window->rkeys)
			return -ENOMEM;
	}
	/* It was withdrawn, and there is another one of that name. */
	if (window->addr != got->addr || window->len != got->len ||
	    window->rights != got->rights || window->shift != got->shift)
		return -ENOENT;
	memcpy(window->rkeys + *n, call->rkeys,
	       call->nrkeys * sizeof(*call->rkeys));
	*n += call->nrkeys;
	return 0;
}

/* Asks once, for the keys from number *n on, as many as one answer holds. */
static int rcl_chan_ask_import(struct rcl_chan *chan, const char *name,
			       struct rcl_window *window, u32 *n,
			       const unsigned long *until)
{
	struct rcl_call *call;
	int ret;

	call = rcl_call_new(until ? RCL_CALL_RENEW : RCL_CALL_IMPORT,
			    &chan->lessee, GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	/* Calls of killed callers count until they have an answer. */
	if (atomic_read(&chan->lessee.calls) > RCL_HANDLE_SLOTS) {
		rcl_call_put(call);
		return -EBUSY;
	}
	strscpy(call->name, name, sizeof(call->name));
	call->first = *n;
	ret = rcl_chan_call(chan, call, until);
	if (!ret)
		ret = rcl_chan_got(chan, window, n, call);
	rcl_call_put(call);
	return ret;
}

/*
 * The peer registers it because it was asked to. Many links may wait for that:
 * the longer a caller has waited, the less often it asks, and it is at most an
 * eighth later than it could be.
 */
static int rcl_chan_wait_busy(unsigned long since)
{
	schedule_timeout_interruptible(clamp_t(long, (jiffies - since) / 8,
					       1, HZ / 10));
	return signal_pending(current) ? -EINTR : 0;
}

/**
 * rcl_chan_fetch - what does the peer have under that name?
 * @chan: open or suspended
 * @name: of a region
 * @window: set on success; the caller frees its keys
 * @until: of an errand: how long it may wait, in jiffies; else NULL
 *
 * Context: may sleep; can be interrupted, like rcl_chan_call().
 * Return: 0, -ENOENT, -EINTR, -ENOMEM, -ETIMEDOUT, also if the peer could not
 * be asked for RCL_FETCH_MS, or has said for that long that it is busy, -EAGAIN
 * if the link was rotated meanwhile, or what ended the channel or the epoch.
 */
int rcl_chan_fetch(struct rcl_chan *chan, const char *name,
		   struct rcl_window *window, const unsigned long *until)
{
	unsigned long since;
	bool busy = false;
	u32 n = 0;
	int ret;

	memset(window, 0, sizeof(*window));
	do {
		if (!busy)
			since = jiffies;
		/* Past the deadline no call is made, to be left behind. */
		ret = time_after_eq(jiffies, until ? *until :
				    since + msecs_to_jiffies(RCL_FETCH_MS)) ?
		      -ETIMEDOUT :
		      rcl_chan_ask_import(chan, name, window, &n, until);
		busy = ret == -EBUSY;
		if (busy)
			ret = rcl_chan_wait_busy(since);
	} while (!ret && (busy || n < rcl_window_extents(window)));
	if (ret)
		kvfree(window->rkeys);
	return ret;
}
