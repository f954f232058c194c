/* SPDX-License-Identifier: GPL-2.0 */
/* A consumer that waits for channels on a service. */
#ifndef RCL_LISTENER_H
#define RCL_LISTENER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "service.h"

struct cred;
struct rcl_chan;
struct rcl_listener;

/**
 * struct rcl_listener_ops - callbacks of the consumer's side
 * @make: returns a channel that is not open yet, or NULL; may sleep
 * @waiting: a channel waits; process context, must not sleep
 * @release: the last reference was dropped
 */
struct rcl_listener_ops {
	struct rcl_chan *(*make)(struct rcl_listener *listener);
	void (*waiting)(struct rcl_listener *listener);
	void (*release)(struct rcl_listener *listener);
};

/**
 * struct rcl_listener - a consumer that waits
 * @service: what the table of services knows of it
 * @ops: constant
 * @ref: held by its consumer and by each channel made for it
 * @cred: of its consumer, NULL for the kernel; a reference is held
 * @memcg: that the channels are charged to, or NULL; a reference is held
 * @flags: RCLINK_CHAN_*, of the channels
 * @max: channels that may wait
 * @wait: wait queue for @ops->waiting to wake
 * @lock: protects the three below
 * @waiting: channels that are open, by @backlog; each with a reference
 * @n: entries of @waiting
 * @closed: nobody accepts any more
 */
struct rcl_listener {
	struct rcl_service service;
	const struct rcl_listener_ops *ops;
	struct kref ref;
	const struct cred *cred;
	struct mem_cgroup *memcg;
	u32 flags;
	u32 max;
	wait_queue_head_t wait;
	spinlock_t lock;	/* protects the three below */
	struct list_head waiting;
	u32 n;
	bool closed;
};

void rcl_listener_init(struct rcl_listener *listener,
		       const struct rcl_listener_ops *ops,
		       const struct cred *cred, const char *link,
		       const char *service);
void rcl_listener_put(struct rcl_listener *listener);
bool rcl_listener_is_full(struct rcl_listener *listener);
bool rcl_listener_add(struct rcl_listener *listener, struct rcl_chan *chan);
void rcl_listener_shut(struct rcl_listener *listener);
struct rcl_chan *rcl_listener_take(struct rcl_listener *listener);
void rcl_listener_untake(struct rcl_listener *listener, struct rcl_chan *chan);

#endif /* RCL_LISTENER_H */
