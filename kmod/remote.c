// SPDX-License-Identifier: GPL-2.0
/*
 * What was imported is only looked at while an operation is posted, under the
 * channel's lock: a work request has a copy of its key. So an import can be
 * given back while operations that use it are in flight.
 */
#include "remote.h"

#include <linux/mm.h>
#include <linux/nospec.h>

#include "chan.h"
#include "region.h"

/**
 * rcl_remote_keep - give a handle to memory of the peer
 * @chan: any
 * @window: copied; its keys are the channel's after success
 * @handle: set; good for this channel only
 *
 * Context: process context.
 * Return: 0, or -ENOSPC.
 */
int rcl_remote_keep(struct rcl_chan *chan, const struct rcl_window *window,
		    u32 *handle)
{
	struct rcl_remote *remote;
	int ret = -ENOSPC;
	u32 i;

	spin_lock_bh(&chan->lock);
	for (i = 0; ret && i < RCL_CHAN_IMPORTS; i++) {
		remote = &chan->imports[i];
		if (remote->window.rkeys)
			continue;
		remote->window = *window;
		remote->handle = rcl_region_handle(i);
		*handle = remote->handle;
		ret = 0;
	}
	spin_unlock_bh(&chan->lock);
	return ret;
}

/**
 * rcl_remote_find - what has that handle?
 * @chan: any, its lock held
 * @handle: hostile
 *
 * Return: the memory, as long as the lock is held, or NULL.
 */
struct rcl_window *rcl_remote_find(struct rcl_chan *chan, u32 handle)
{
	u32 slot = rcl_region_slot(handle);
	struct rcl_remote *remote;

	lockdep_assert_held(&chan->lock);
	if (slot >= RCL_CHAN_IMPORTS)
		return NULL;
	remote = &chan->imports[array_index_nospec(slot, RCL_CHAN_IMPORTS)];
	return remote->window.rkeys && remote->handle == handle ?
	       &remote->window : NULL;
}

/**
 * rcl_remote_release - forget memory of the peer
 * @chan: any
 * @handle: of rcl_remote_keep(); names nothing any more
 *
 * What is in flight goes on.
 *
 * Context: process context.
 * Return: 0, or -ESTALE.
 */
int rcl_remote_release(struct rcl_chan *chan, u32 handle)
{
	struct rcl_window *window;
	u32 *rkeys = NULL;

	spin_lock_bh(&chan->lock);
	window = rcl_remote_find(chan, handle);
	if (window)
		swap(rkeys, window->rkeys);
	spin_unlock_bh(&chan->lock);
	if (!rkeys)
		return -ESTALE;
	kvfree(rkeys);
	return 0;
}

/**
 * rcl_remote_free_all - forget everything
 * @chan: that nobody knows any more
 *
 * Context: process context.
 */
void rcl_remote_free_all(struct rcl_chan *chan)
{
	u32 i;

	for (i = 0; i < RCL_CHAN_IMPORTS; i++)
		kvfree(chan->imports[i].window.rkeys);
}
