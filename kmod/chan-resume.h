/* SPDX-License-Identifier: GPL-2.0 */
/* A channel between two epochs. */
#ifndef RCL_CHAN_RESUME_H
#define RCL_CHAN_RESUME_H

#include <linux/types.h>

struct rcl_chan;

bool rcl_chan_hold(struct rcl_chan *chan);
bool rcl_chan_go_on(struct rcl_chan *chan);

#endif /* RCL_CHAN_RESUME_H */
