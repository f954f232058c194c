/* SPDX-License-Identifier: GPL-2.0 */
/* A channel of a process to a group. */
#ifndef RCL_GROUP_CHAN_H
#define RCL_GROUP_CHAN_H

#include <linux/poll.h>
#include <linux/types.h>

struct cred;
struct file;
struct rcl_group_chan;
struct rclink_dev_region;
struct vm_area_struct;

struct rcl_group_chan *rcl_group_chan_open(const char *name,
					   const char *service,
					   const struct cred *cred);
void rcl_group_chan_close(struct rcl_group_chan *chan);
int rcl_group_chan_region(struct rcl_group_chan *chan,
			  struct rclink_dev_region *arg, bool allocate);
int rcl_group_chan_withdraw(struct rcl_group_chan *chan, u32 handle);
int rcl_group_chan_mmap(struct rcl_group_chan *chan,
			struct vm_area_struct *vma);
int rcl_group_chan_submit(struct rcl_group_chan *chan, u32 count, u32 *taken);
int rcl_group_chan_wait(struct rcl_group_chan *chan, u32 want,
			unsigned long end);
__poll_t rcl_group_chan_poll(struct rcl_group_chan *chan, struct file *filp,
			     poll_table *wait);

#endif /* RCL_GROUP_CHAN_H */
