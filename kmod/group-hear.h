/* SPDX-License-Identifier: GPL-2.0 */
/* Listeners on this host to what the members of a group send. */
#ifndef RCL_GROUP_HEAR_H
#define RCL_GROUP_HEAR_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <uapi/linux/rclink.h>
#include <uapi/linux/rclink_dev.h>

#define RCL_GROUP_LISTENERS	64	/* per group */
/* Sender of a message that came under the key before the newest. */
#define RCL_GROUP_NOBODY	(~0U)

/**
 * struct rcl_heard - a message from another member
 * @service: name of the service that it is for, not terminated
 * @service_len: length of that, in bytes
 * @data: data of the message
 * @len: length of that, in bytes
 * @sender: sender number under the newest key, or RCL_GROUP_NOBODY
 * @gid: GID that it claims to come from
 */
struct rcl_heard {
	const char *service;
	u32 service_len;
	const u8 *data;
	u32 len;
	u32 sender;
	const u8 *gid;
};

/**
 * struct rcl_group_listener - hears messages; embedded in its owner
 * @hear: called for each message; returns false if it had no room for it
 * @ended: called when there will be no more messages
 * @service: hears only messages for this name
 * @leaving: private
 * @node: private
 *
 * Both functions are called one at a time, may sleep, and must not call back.
 * They must not wait for anyone who may not get a processor: the group waits
 * for them.
 */
struct rcl_group_listener {
	bool (*hear)(struct rcl_group_listener *listener,
		     const struct rcl_heard *heard);
	void (*ended)(struct rcl_group_listener *listener);
	char service[RCLINK_DEV_SERVICE_LEN];
	bool leaving;
	struct list_head node;
};

/**
 * struct rcl_group_hear - the listeners of a group
 * @turn: held while listeners are called
 * @lock: protects the rest; not held while one is called
 * @listeners: the listeners
 * @told: the one being called, which cannot leave meanwhile, or NULL
 * @left: woken after each call
 * @n: number of listeners
 * @missed: how often one had no room for a message
 * @closed: no more may enter
 */
struct rcl_group_hear {
	struct mutex turn;	/* serializes the calls */
	spinlock_t lock;	/* protects the rest */
	struct list_head listeners;
	struct rcl_group_listener *told;
	wait_queue_head_t left;
	u32 n;
	u64 missed;
	bool closed;
};

void rcl_group_hear_init(struct rcl_group_hear *hear);
int rcl_group_hear_enter(struct rcl_group_hear *hear,
			 struct rcl_group_listener *listener);
void rcl_group_hear_leave(struct rcl_group_hear *hear,
			  struct rcl_group_listener *listener);
void rcl_group_hear_tell(struct rcl_group_hear *hear,
			 const struct rcl_heard *heard);
void rcl_group_hear_read(struct rcl_group_hear *hear, u32 *n, u64 *missed);
void rcl_group_hear_close(struct rcl_group_hear *hear);

#endif /* RCL_GROUP_HEAR_H */
