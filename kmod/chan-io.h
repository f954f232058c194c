/* SPDX-License-Identifier: GPL-2.0 */
/* The data path of a channel. */
#ifndef RCL_CHAN_IO_H
#define RCL_CHAN_IO_H

#include <linux/types.h>

struct rcl_chain;
struct rcl_chan;
struct rcl_op;
struct rclink_dev_sqe;

void rcl_chan_io_init(struct rcl_chan *chan);
int rcl_chan_post(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe);
bool rcl_chan_flush(struct rcl_chan *chan);
void rcl_chan_retire(struct rcl_chan *chan, u32 number);
void rcl_chan_drained(struct rcl_chan *chan);
void rcl_chan_drop(struct rcl_chan *chan);
void rcl_chan_chain_empty(struct rcl_chain *chain);
void rcl_chan_pass_head(struct rcl_chan *chan);

#endif /* RCL_CHAN_IO_H */
