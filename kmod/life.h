/* SPDX-License-Identifier: GPL-2.0 */
/* The life of a link: one work item is the only writer of its state. */
#ifndef RCL_LIFE_H
#define RCL_LIFE_H

#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "export.h"
#include "policy.h"
#include "reason.h"
#include "record.h"
#include "stats.h"
#include "upcall.h"

struct rcl_epoch;
struct rcl_request;

/**
 * struct rcl_used - what the newest epoch uses or used
 * @device: RDMA device, empty before the first epoch
 * @port: of the device
 * @link_layer: enum rclink_link_layer
 * @gid: own GID
 * @lid: own LID
 * @mtu: path MTU in bytes, 0 before connect
 * @gid_reason: why that GID was chosen
 */
struct rcl_used {
	char device[RCLINK_DEVICE_MAX + 1];
	u32 port;
	u32 link_layer;
	u8 gid[RCLINK_GID_LEN];
	u32 lid;
	u32 mtu;
	const char *gid_reason;
};

/* What the hello has shown. */
enum rcl_proven {
	RCL_PROVEN_HEARD = BIT(0),	/* the peer's hello came in */
	RCL_PROVEN_ANSWERED = BIT(1),	/* our hello was answered */
	RCL_PROVEN_SAID = BIT(2),	/* we have answered the peer's hello */
	RCL_PROVEN_ALL = RCL_PROVEN_HEARD | RCL_PROVEN_ANSWERED |
			 RCL_PROVEN_SAID,
};

/**
 * struct rcl_slot - room for an epoch
 * @up: handed down to the epoch
 * @link: that the slot belongs to; constant
 * @epoch: verbs objects, while prepared, connected or up
 * @state: of this epoch, or of the last one
 * @reason: why that epoch is down
 * @failure: first failure of the epoch, not yet handled
 * @number: of the epoch, or of the last one; agreed from connect on
 * @owner: netlink socket that prepared it, until it is up
 * @role: enum rclink_role, after connect
 * @peer: identity of the peer, after connect
 * @used: by the epoch
 * @proven: enum rcl_proven; of the work item only
 * @beside: part of a rotation, so the peer may have to end another epoch first;
 *	of the work item only
 * @still_by: by then the other epoch's leases are to become still, in jiffies;
 *	0: nobody waits for that; of the work item only
 * @due: by then a hello or an answer must come, in jiffies; 0: none is due; of
 *	the work item only
 *
 * All but @failure is written by the work item alone, under the link's lock
 * unless it says otherwise. An epoch that is not up belongs to the link's chore
 * while the chore works on it.
 */
struct rcl_slot {
	struct rcl_upcall up;
	struct rcl_link *link;
	struct rcl_epoch *epoch;
	enum rclink_link_state state;
	struct rcl_reason reason;
	struct rcl_reason failure;
	u64 number;
	u32 owner;
	u32 role;
	char peer[RCLINK_PEER_MAX + 1];
	struct rcl_used used;
	unsigned int proven;
	bool beside;
	u64 still_by;
	u64 due;
};

/**
 * struct rcl_link - a link
 * @name: constant
 * @id: constant; used again only after all others
 * @ref: held by the table and by whoever looked it up
 * @node: in the table, later in the list of deleted links
 * @work: the life of the link
 * @chore: what takes long with an epoch that is not up
 * @busy: slot whose epoch @chore has until it gives it back, or NULL; of @work,
 *	and, like @asked and @ends, of @chore while that runs
 * @asked: request that @chore carries out; NULL: @busy is given up
 * @ends: why, then
 * @traffic: of its channels; any context
 * @timer: wakes @work when something is late
 * @calm: until then the link is not rotated for what befalls channels, in
 *	jiffies; of @work only
 * @suspended: lessees that wait for the next epoch; of @work only
 * @was: the peer of these lessees; of @work only
 * @exports: regions of its channels; has a lock of its own
 * @ended: completed when a dead link holds nothing any more
 * @lock: protects everything below; taken in any context
 * @requests: not yet handled
 * @pings: not yet begun
 * @npings: entries of @pings
 * @calls: for the pool, not yet taken
 * @dead: deletion has begun: nothing more is accepted
 * @done: @chore has given back what it had; not yet handled
 * @wary: access failed on a channel of @live; not yet handled
 * @shut: no errand of a lessee may ask for anything
 * @record: what happened, written in any context; allocated by itself, because
 *	both together would take twice as much memory
 * @policy: for the next epoch; who may open channels applies at once
 * @slots: for the epoch, and for one that is to take its place
 * @live: the slot that the link is known by
 * @next: the other one
 * @counted: highest number that an epoch had here
 * @unwanted: number of the last epoch that somebody wanted replaced
 * @stats: counters
 *
 * Only the work item writes below @lock, except that others write @requests,
 * @pings, @npings, @calls, @dead, @done, @wary, failures, @record and @policy,
 * too.
 */
struct rcl_link {
	char name[RCLINK_NAME_MAX + 1];
	u32 id;
	struct kref ref;
	struct hlist_node node;
	struct work_struct work;
	struct work_struct chore;
	struct rcl_slot *busy;
	struct rcl_request *asked;
	struct rcl_reason ends;
	struct rcl_traffic __percpu *traffic;
	struct timer_list timer;
	struct completion ended;
	u64 calm;
	struct list_head suspended;
	char was[RCLINK_PEER_MAX + 1];
	struct rcl_exports exports;
	spinlock_t lock;	/* protects everything below */
	struct list_head requests;
	struct list_head pings;
	u32 npings;
	struct list_head calls;
	bool dead;
	bool done;
	bool wary;
	bool shut;
	struct rcl_record *record;
	struct rcl_policy policy;
	struct rcl_slot slots[2];
	struct rcl_slot *live;
	struct rcl_slot *next;
	u64 counted;
	u64 unwanted;
	struct rcl_stats stats;
};

static inline void rcl_link_read_policy(struct rcl_link *link,
					struct rcl_policy *policy)
{
	spin_lock_irq(&link->lock);
	*policy = link->policy;
	spin_unlock_irq(&link->lock);
}

void rcl_life_create(struct rcl_link *link);
void rcl_life_destroy(struct rcl_link *link);

#endif /* RCL_LIFE_H */
