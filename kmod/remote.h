/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of the peer that a channel has imported, by handle. */
#ifndef RCL_REMOTE_H
#define RCL_REMOTE_H

#include <linux/types.h>

struct rcl_chan;
struct rcl_window;

int rcl_remote_keep(struct rcl_chan *chan, const struct rcl_window *window,
		    u32 *handle);
struct rcl_window *rcl_remote_find(struct rcl_chan *chan, u32 handle);
int rcl_remote_release(struct rcl_chan *chan, u32 handle);
void rcl_remote_free_all(struct rcl_chan *chan);

#endif /* RCL_REMOTE_H */
