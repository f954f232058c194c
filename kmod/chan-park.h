/* SPDX-License-Identifier: GPL-2.0 */
/* Channels that keep still while their link is rotated. */
#ifndef RCL_CHAN_PARK_H
#define RCL_CHAN_PARK_H

#include <linux/types.h>

struct rcl_chan;

void rcl_chan_park(struct rcl_chan *chan, bool park);
bool rcl_chan_is_still(struct rcl_chan *chan);

#endif /* RCL_CHAN_PARK_H */
