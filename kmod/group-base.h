/* SPDX-License-Identifier: GPL-2.0 */
/* The definition of a group, for the files that implement it. */
#ifndef RCL_GROUP_BASE_H
#define RCL_GROUP_BASE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "announce.h"
#include "device.h"
#include "group-conf.h"
#include "group-hear.h"
#include "group-talk.h"
#include "keeper.h"
#include "lessee.h"
#include "mcast.h"
#include "mcast-sa.h"
#include "reason.h"
#include "upcall.h"

/**
 * struct rcl_group - a group
 * @ref: one for the table, and one for each user or reader
 * @node: in the table, ordered by @id
 * @id: ID of the group
 * @conf: constant except for the rights, which @note_lock protects
 * @up: told of failures
 * @work: leaves after a failure, and joins again
 * @tick: asks for the key, and tells the others that this host is present
 * @ask_at: used by @tick: when to ask for a newer key again, in jiffies
 * @call: used by @tick: the pending question, or NULL
 * @keeper: keeper of the key, if this host keeps it
 * @talk: the key, and what the others say
 * @told: used by @tick: links whose peers may learn what is exported to them
 * @exported: used by @tick: all that this host exports to those peers
 * @announce: used by @tick: the part of @exported that was announced last
 * @hear: listeners to the other members: channels and modules
 * @room: woken when a send may have room, or fails at once
 * @note_lock: protects @note and the rights in @conf
 * @note: the first failure since it was joined
 * @lock: protects those below
 * @attached: @user is attached
 * @dead: still being created, or being deleted: not joined again
 * @reason: why it is down; none while it is joined
 * @refusal: why the last try to join again failed: a constant string, or NULL
 *	if none failed or no explanation was given
 * @user: its use of the device
 * @last: port that it was on when it last left
 * @sa: membership with the subnet manager, where there is one
 * @mtu: MTU of the group when it last joined, in bytes
 * @joins: how often it has joined
 * @qkey: Q_Key of the group, as far as this host knows
 * @told_key: identifier of the last key that listeners were told of
 * @send_lock: also protects @mcast, and is held while sending, so that the
 *	sender cannot lose the processor meanwhile; taken after @lock
 * @mcast: the QP while it is joined, or NULL
 */
struct rcl_group {
	struct kref ref;
	struct list_head node;
	u32 id;
	struct rcl_group_conf conf;
	struct rcl_upcall up;
	struct delayed_work work;
	struct delayed_work tick;
	u64 ask_at;
	struct rcl_call *call;
	struct rcl_keeper keeper;
	struct rcl_talk talk;
	struct rcl_keeper_links told;
	struct rcl_announce_list *exported;
	struct rcl_announce announce;
	struct rcl_group_hear hear;
	wait_queue_head_t room;
	spinlock_t note_lock;	/* protects note, conf.access */
	struct rcl_reason note;
	struct mutex lock;	/* protects all below */
	bool attached;
	bool dead;
	struct rcl_reason reason;
	const char *refusal;
	struct rcl_dev_user user;
	struct rcl_group_port last;
	struct rcl_mcast_sa sa;
	u32 mtu;
	u64 joins;
	u32 qkey;
	u64 told_key;
	spinlock_t send_lock;	/* protects mcast, and its sends */
	struct rcl_mcast *mcast;
};

static inline u32 rcl_group_state(const struct rcl_group *group)
{
	return group->mcast ? RCLINK_GROUP_STATE_JOINED :
			      RCLINK_GROUP_STATE_DOWN;
}

struct rcl_group *rcl_group_get(const char *name);
struct rcl_group *rcl_group_get_next(u32 after);
struct rcl_group *rcl_group_get_behind(u32 id);
void rcl_group_put(struct rcl_group *group);

#endif /* RCL_GROUP_BASE_H */
