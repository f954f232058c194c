/* SPDX-License-Identifier: GPL-2.0 */
/* The data path of a channel. */
#ifndef RCL_CHAN_IO_H
#define RCL_CHAN_IO_H

#include <linux/types.h>

struct rcl_chan;
struct rclink_dev_sqe;

void rcl_chan_io_init(struct rcl_chan *chan);
int rcl_chan_post(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe);
void rcl_chan_flush(struct rcl_chan *chan);
void rcl_chan_drop(struct rcl_chan *chan);
int rcl_chan_poll(struct rcl_chan *chan, int budget);

#endif /* RCL_CHAN_IO_H */
