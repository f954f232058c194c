/* SPDX-License-Identifier: GPL-2.0 */
/* The data path of a channel. */
#ifndef RCL_CHAN_IO_H
#define RCL_CHAN_IO_H

#include <linux/types.h>

struct rcl_chan;

void rcl_chan_io_init(struct rcl_chan *chan);
void rcl_chan_io_exit(struct rcl_chan *chan);
int rcl_chan_submit(struct rcl_chan *chan, u32 count, u32 *taken);
int rcl_chan_wait(struct rcl_chan *chan, u32 want, unsigned int timeout_ms);
bool rcl_chan_is_over(struct rcl_chan *chan);
u32 rcl_chan_ready(struct rcl_chan *chan);
bool rcl_chan_arm(struct rcl_chan *chan);

#endif /* RCL_CHAN_IO_H */
