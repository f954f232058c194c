// SPDX-License-Identifier: GPL-2.0
/*
 * An import is only looked at while an operation is posted, under the channel's
 * lock: the work request gets a copy of its key. So an import can be released
 * while operations that use it are in flight.
 */
#include "remote.h"

#include <linux/mm.h>
#include <linux/string.h>

#include "chan.h"
#include "region.h"

/**
 * rcl_remote_keep - assign a handle to memory of the peer
 * @chan: any
 * @lease: @chan->leases when the memory was asked for
 * @name: of the region
 * @window: copied; on success the channel owns its keys
 * @handle: set; valid for this channel only
 *
 * Context: process context.
 * Return: 0, -ENOSPC, -EAGAIN when the channel was suspended meanwhile, or
 * @chan->why when it is not attached.
 */
int rcl_remote_keep(struct rcl_chan *chan, u32 lease, const char *name,
		    const struct rcl_window *window, u32 *handle)
{
	struct rcl_remote *remote;
	int ret = -ENOSPC;
	u32 i;

	spin_lock_bh(&chan->lock);
	if (chan->leases != lease || !chan->attached)
		ret = chan->attached ? -EAGAIN : chan->why;
	for (i = 0; ret == -ENOSPC && i < RCL_HANDLE_SLOTS; i++) {
		remote = &chan->imports[i];
		if (remote->window.rkeys)
			continue;
		remote->window = *window;
		remote->handle = rcl_region_new_handle(i);
		if (chan->keep)
			strscpy(chan->keep->import[i], name,
				sizeof(chan->keep->import[i]));
		*handle = remote->handle;
		ret = 0;
	}
	spin_unlock_bh(&chan->lock);
	return ret;
}

/**
 * rcl_remote_revoke - the peer's registration is about to end
 * @chan: any, its lock held
 * @rkey: its key; it may be imported under any number of handles
 */
void rcl_remote_revoke(struct rcl_chan *chan, u32 rkey)
{
	u32 i;

	lockdep_assert_held(&chan->lock);
	for (i = 0; i < RCL_HANDLE_SLOTS; i++) {
		struct rcl_window *window = &chan->imports[i].window;

		if (window->rkeys && window->rkeys[0] == rkey)
			window->rights = 0;
	}
}

/**
 * rcl_remote_next - find an import that is to be fetched again
 * @chan: with @chan->keep
 * @slot: the first one to look at; set to that of the import
 * @handle: set
 * @name: set; has room for RCLINK_DEV_REGION_LEN bytes
 *
 * Context: process context.
 * Return: false when there is none.
 */
bool rcl_remote_next(struct rcl_chan *chan, u32 *slot, u32 *handle, char *name)
{
	bool found;

	spin_lock_bh(&chan->lock);
	while (*slot < RCL_HANDLE_SLOTS && !chan->imports[*slot].window.rkeys)
		++*slot;
	found = *slot < RCL_HANDLE_SLOTS;
	if (found) {
		*handle = chan->imports[*slot].handle;
		strscpy(name, chan->keep->import[*slot], RCLINK_DEV_REGION_LEN);
	}
	spin_unlock_bh(&chan->lock);
	return found;
}

/**
 * rcl_remote_renew - replace the keys of an import
 * @chan: any
 * @handle: from rcl_remote_next()
 * @window: as it is now, or NULL when it no longer exists; its keys become the
 *	channel's, or are freed
 *
 * Context: process context.
 */
void rcl_remote_renew(struct rcl_chan *chan, u32 handle,
		      const struct rcl_window *window)
{
	u32 *rkeys = window ? window->rkeys : NULL;
	struct rcl_window *old;

	spin_lock_bh(&chan->lock);
	old = rcl_remote_find(chan, handle);
	/* A different region of that name is not what the consumer saw. */
	if (old && rkeys && old->len == window->len &&
	    old->addr == window->addr && old->shift == window->shift) {
		swap(rkeys, old->rkeys);
		old->rights = window->rights;
	} else if (old) {
		old->rights = 0;
	}
	spin_unlock_bh(&chan->lock);
	kvfree(rkeys);
}

/**
 * rcl_remote_release - forget memory of the peer
 * @chan: any
 * @handle: from rcl_remote_keep(); invalid afterwards
 *
 * Operations in flight go on.
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
 * rcl_remote_free_all - forget all imports
 * @chan: nobody else refers to it any more
 *
 * Context: process context.
 */
void rcl_remote_free_all(struct rcl_chan *chan)
{
	u32 i;

	for (i = 0; i < RCL_HANDLE_SLOTS; i++)
		kvfree(chan->imports[i].window.rkeys);
}
