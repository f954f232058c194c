/* SPDX-License-Identifier: GPL-2.0 */
/* Who on this host hears what the members of a group send. */
#ifndef RCL_GROUP_HEAR_H
#define RCL_GROUP_HEAR_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <uapi/linux/rclink.h>
#include <uapi/linux/rclink_dev.h>

#define RCL_GROUP_LISTENERS	64	/* of a group */
/* Of a message that came under the key before the newest. */
#define RCL_GROUP_NOBODY	(~0U)

/**
 * struct rcl_heard - a message of another member
 * @service: name that it is for, without an end
 * @service_len: bytes of that
 * @data: of it
 * @len: bytes
 * @sender: number under the newest key, or RCL_GROUP_NOBODY
 * @gid: where it says it comes from
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
 * struct rcl_group_listener - who hears them; embedded in its owner
 * @hear: of each one; false: it had no room for it
 * @ended: there will be no more
 * @service: hears only what is for that name
 * @leaving: private
 * @node: private
 *
 * Both are called one at a time, may sleep, and must not call back. They must
 * not wait for who may not get a processor: the group waits for them.
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
 * @turn: held while they are told of something
 * @lock: protects the rest; not held while one is told
 * @listeners: they
 * @told: the one that is told just now, which does not leave, or NULL
 * @left: woken when that is over
 * @n: how many
 * @missed: how often one had no room for a message
 * @closed: no more may come
 */
struct rcl_group_hear {
	struct mutex turn;	/* serializes who tells */
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
