/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of the peer that a channel has imported, by handle. */
#ifndef RCL_REMOTE_H
#define RCL_REMOTE_H

#include <linux/types.h>

struct rcl_chan;
struct rcl_window;

int rcl_remote_keep(struct rcl_chan *chan, u32 lease, const char *name,
		    const struct rcl_window *window, u32 *handle);
void rcl_remote_revoke(struct rcl_chan *chan, u32 rkey);
bool rcl_remote_next(struct rcl_chan *chan, u32 *slot, u32 *handle, char *name);
void rcl_remote_renew(struct rcl_chan *chan, u32 handle,
		      const struct rcl_window *window);
struct rcl_window *rcl_remote_find(struct rcl_chan *chan, u32 handle);
int rcl_remote_release(struct rcl_chan *chan, u32 handle);
void rcl_remote_free_all(struct rcl_chan *chan);

#endif /* RCL_REMOTE_H */
