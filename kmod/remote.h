/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of the peer that a channel has imported, by handle. */
#ifndef RCL_REMOTE_H
#define RCL_REMOTE_H

#include <linux/types.h>

#include "chan.h"
#include "region.h"

/**
 * rcl_remote_find - look up an import by its handle
 * @chan: any, its lock held
 * @handle: hostile
 *
 * Return: the memory, valid while the lock is held, or NULL.
 */
static inline struct rcl_window *rcl_remote_find(struct rcl_chan *chan,
						 u32 handle)
{
	struct rcl_remote *remote = &chan->imports[rcl_region_slot(handle)];

	lockdep_assert_held(&chan->lock);
	return remote->window.rkeys && remote->handle == handle ?
	       &remote->window : NULL;
}

int rcl_remote_keep(struct rcl_chan *chan, u32 lease, const char *name,
		    const struct rcl_window *window, u32 *handle);
void rcl_remote_revoke(struct rcl_chan *chan, u32 rkey);
bool rcl_remote_next(struct rcl_chan *chan, u32 *slot, u32 *handle, char *name);
void rcl_remote_renew(struct rcl_chan *chan, u32 handle,
		      const struct rcl_window *window);
int rcl_remote_release(struct rcl_chan *chan, u32 handle);
void rcl_remote_free_all(struct rcl_chan *chan);

#endif /* RCL_REMOTE_H */
