/* SPDX-License-Identifier: GPL-2.0 */
/* Who on this host hears what the members of a group send. */
#ifndef RCL_HALL_H
#define RCL_HALL_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <uapi/linux/rclink.h>
#include <uapi/linux/rclink_dev.h>

#define RCL_HALL_MAX	64	/* hearers of a group */
/* Of a message that came under the key before the newest. */
#define RCL_HALL_NOBODY	(~0U)

/**
 * struct rcl_heard - a message of another member
 * @service: name that it is for, without an end
 * @service_len: bytes of that
 * @data: of it
 * @len: bytes
 * @sender: number under the newest key, or RCL_HALL_NOBODY
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
 * struct rcl_hearer - who hears them; embedded in its owner
 * @hear: of each one; false: it had no room for it
 * @ended: there will be no more
 * @service: hears only what is for that name
 * @leaving: private
 * @node: private
 *
 * Both are called one at a time, may sleep, and must not call back. They must
 * not wait for who may not get a processor: the group waits for them.
 */
struct rcl_hearer {
	bool (*hear)(struct rcl_hearer *hearer, const struct rcl_heard *heard);
	void (*ended)(struct rcl_hearer *hearer);
	char service[RCLINK_DEV_SERVICE_LEN];
	bool leaving;
	struct list_head node;
};

/**
 * struct rcl_hall - the hearers of a group
 * @turn: held while they are told of something
 * @lock: protects the rest; not held while one is told
 * @hearers: they
 * @told: the one that is told just now, which does not leave, or NULL
 * @left: woken when that is over
 * @n: how many
 * @missed: how often one had no room for a message
 * @closed: no more may come
 */
struct rcl_hall {
	struct mutex turn;	/* serializes who tells */
	spinlock_t lock;	/* protects the rest */
	struct list_head hearers;
	struct rcl_hearer *told;
	wait_queue_head_t left;
	u32 n;
	u64 missed;
	bool closed;
};

void rcl_hall_init(struct rcl_hall *hall);
int rcl_hall_enter(struct rcl_hall *hall, struct rcl_hearer *hearer);
void rcl_hall_leave(struct rcl_hall *hall, struct rcl_hearer *hearer);
void rcl_hall_tell(struct rcl_hall *hall, const struct rcl_heard *heard);
void rcl_hall_read(struct rcl_hall *hall, u32 *n, u64 *missed);
void rcl_hall_close(struct rcl_hall *hall);

#endif /* RCL_HALL_H */
