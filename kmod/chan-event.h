/* SPDX-License-Identifier: GPL-2.0 */
/* When a channel is polled. */
#ifndef RCL_CHAN_EVENT_H
#define RCL_CHAN_EVENT_H

#include <linux/types.h>

struct rcl_chan;

void rcl_chan_events_init(struct rcl_chan *chan);
void rcl_chan_events_exit(struct rcl_chan *chan);
bool rcl_chan_arm(struct rcl_chan *chan);
void rcl_chan_kick(struct rcl_chan *chan);

#endif /* RCL_CHAN_EVENT_H */
