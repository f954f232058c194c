/* SPDX-License-Identifier: GPL-2.0 */
/* A channel of a process: rings that it maps, and waiting in calls. */
#ifndef RCL_RING_H
#define RCL_RING_H

#include <linux/wait.h>

#include "chan.h"

/**
 * struct rcl_ring - such a channel
 * @chan: the channel
 * @shared: rings, mapped by the consumer: hostile
 * @sq_head: submissions taken; under the channel's lock
 * @full_at: so many operations were in flight when the next one had no room,
 *	and nothing was there to reap; else 0; likewise
 * @wait: woken by completions and by the end
 */
struct rcl_ring {
	struct rcl_chan chan;
	struct rclink_dev_shared *shared;
	u32 sq_head;
	u32 full_at;
	wait_queue_head_t wait;
};

struct rcl_ring *rcl_ring_of(struct rcl_chan *chan);
struct rcl_ring *rcl_ring_new(u32 flags);
struct rcl_listener *rcl_ring_listen(const struct cred *cred, const char *link,
				     const char *service, u32 max, u32 flags);
int rcl_ring_submit(struct rcl_ring *ring, u32 count, bool wait,
		    unsigned long end, u32 *taken);
int rcl_ring_settle(struct rcl_chan *chan, int ret);
bool rcl_ring_has_room(struct rcl_ring *ring);
int rcl_ring_look(struct rcl_ring *ring);
int rcl_ring_wait(struct rcl_ring *ring, u32 want, unsigned long end);

#endif /* RCL_RING_H */
