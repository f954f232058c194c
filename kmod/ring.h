/* SPDX-License-Identifier: GPL-2.0 */
/* A channel of a process: rings that it maps, and calls that wait. */
#ifndef RCL_RING_H
#define RCL_RING_H

#include <linux/poll.h>
#include <linux/types.h>

struct cred;
struct file;
struct rcl_chan;
struct rcl_listener;
struct vm_area_struct;

struct rcl_chan *rcl_ring_new(u32 flags);
struct rcl_listener *rcl_ring_listen(const struct cred *cred, const char *link,
				     const char *service, u32 max, u32 flags);
int rcl_ring_submit(struct rcl_chan *chan, u32 count, bool wait,
		    unsigned long end, u32 *taken);
int rcl_ring_settle(struct rcl_chan *chan, int ret);
int rcl_ring_look(struct rcl_chan *chan);
int rcl_ring_wait(struct rcl_chan *chan, u32 want, unsigned long end);
__poll_t rcl_ring_poll(struct rcl_chan *chan, struct file *filp,
		       poll_table *wait);
int rcl_ring_mmap(struct rcl_chan *chan, struct vm_area_struct *vma);

#endif /* RCL_RING_H */
