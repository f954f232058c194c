/* SPDX-License-Identifier: GPL-2.0 */
/* A channel of a process to a group. */
#ifndef RCL_GROUP_CHAN_H
#define RCL_GROUP_CHAN_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "group-hear.h"
#include "group-mem.h"

/* A power of two, so that numbers may wrap; not all of them are used. */
#define RCL_GROUP_RECVS	32

struct cred;
struct rcl_group;
struct vm_area_struct;

/**
 * struct rcl_group_recv - a receive that is posted
 * @user_data: for its completion
 * @num_sge: pieces
 * @sge: where the message goes to
 */
struct rcl_group_recv {
	u64 user_data;
	u32 num_sge;
	struct rclink_dev_sge sge[RCLINK_DEV_SGE_MAX];
};

/**
 * struct rcl_group_chan - such a channel
 * @listener: what the group knows of it
 * @group: in use; constant
 * @shared: rings, mapped by the consumer: hostile
 * @wait: woken by completions and by the end
 * @submit: protects the two below; held while a send waits for its turn
 * @sq_head: submissions taken
 * @buf: RCL_MCAST_MTU bytes: what is being sent
 * @lock: protects those below; a leaf
 * @over: the group is gone
 * @filled: completions
 * @posted: receives
 * @done: of those
 * @full_at: so many were posted when the next entry had no room, and nothing
 *	was there to reap; else 0
 * @recv: number i is at i % RCL_GROUP_RECVS
 * @mem: regions
 */
struct rcl_group_chan {
	struct rcl_group_listener listener;
	struct rcl_group *group;
	struct rclink_dev_group_shared *shared;
	wait_queue_head_t wait;
	struct mutex submit;	/* protects sq_head and buf */
	u32 sq_head;
	u8 *buf;
	spinlock_t lock;	/* protects all below */
	bool over;
	u32 filled;
	u32 posted;
	u32 done;
	u32 full_at;
	struct rcl_group_recv recv[RCL_GROUP_RECVS];
	struct rcl_group_mem mem;
};

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
bool rcl_group_chan_may_submit(struct rcl_group_chan *chan);
bool rcl_group_chan_is_over(const struct rcl_group_chan *chan);
u32 rcl_group_chan_ready(const struct rcl_group_chan *chan);
int rcl_group_chan_wait(struct rcl_group_chan *chan, u32 want,
			unsigned long end);

#endif /* RCL_GROUP_CHAN_H */
