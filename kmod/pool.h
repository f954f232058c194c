/* SPDX-License-Identifier: GPL-2.0 */
/* The pooled QPs of an epoch and their lessees. */
#ifndef RCL_POOL_H
#define RCL_POOL_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "export.h"
#include "lessee.h"
#include "qp.h"

/**
 * enum rcl_lease_state - state of one pooled QP
 * @RCL_LEASE_FREE: in RTS at both ends, for either to lease
 * @RCL_LEASE_OPENING: the peer was asked to lease it
 * @RCL_LEASE_OPEN: leased at both ends
 * @RCL_LEASE_STOPPED: has a new QP, in INIT; the peer is to be told of it
 * @RCL_LEASE_RECYCLING: the peer was told
 * @RCL_LEASE_READY: in RTS; the peer is to be told to go
 * @RCL_LEASE_ANSWERED: in RTR; the peer says when to go
 * @RCL_LEASE_DEAD: a verbs call failed at one end, or a QP did not stop; lasts
 *	until the epoch ends
 * @RCL_LEASE_RESUMING: its lessee is from the last epoch; see resume.c
 */
enum rcl_lease_state {
	RCL_LEASE_FREE,
	RCL_LEASE_OPENING,
	RCL_LEASE_OPEN,
	RCL_LEASE_STOPPED,
	RCL_LEASE_RECYCLING,
	RCL_LEASE_READY,
	RCL_LEASE_ANSWERED,
	RCL_LEASE_DEAD,
	RCL_LEASE_RESUMING,
};

/**
 * struct rcl_lease - one pooled QP
 * @qp: constant
 * @state: where it is
 * @failed: in STOPPED and READY: a verbs call failed, the peer is to be told
 * @call: in OPENING: the OPEN that waits for the peer; NULL when given up
 * @cookie: of the last question
 * @probed: in OPEN: the peer was asked whether it is there
 * @until: if @probed: 0 until the peer has answered; then the time by which
 *	another epoch must come, in jiffies
 * @owes: in ANSWERED, and in RESUMING when the peer is busy: the time by which
 *	the peer must say more, in jiffies; in RESUMING 0 until the peer is busy
 * @we_asked: in RESUMING: the peer was asked to resume it
 * @peer_agreed: and the peer has agreed
 * @we_agreed: the peer has asked, and this end agreed
 * @we_refused: the peer has asked, and this end did not
 * @lock: protects @lessee against rcl_pool_event()
 * @lessee: in OPEN and RESUMING, with a reference held; in RESUMING NULL when
 *	it has ended; in DEAD one that was detached, if its QP may not have
 *	stopped
 *
 * Belongs to the link's work item.
 */
struct rcl_lease {
	struct rcl_qp *qp;
	enum rcl_lease_state state;
	bool failed;
	struct rcl_call *call;
	u32 cookie;
	bool probed;
	u64 until;
	u64 owes;
	bool we_asked;
	bool peer_agreed;
	bool we_agreed;
	bool we_refused;
	spinlock_t lock;	/* protects lessee against rcl_pool_event() */
	struct rcl_lessee *lessee;
};

/**
 * struct rcl_pool - the pooled QPs of an epoch
 * @link: name of the link
 * @role: enum rclink_role of this end
 * @calls: calls that have not been asked yet
 * @nopens: OPENs among them
 * @asked: IMPORT and GROUP calls that wait for their answer
 * @exports: what the peer may import; the link's
 * @taken: what it has imported of the regions for all links; for offer.c
 * @taking: how many of these are not registered yet; for offer.c
 * @still: lessees are to post no sends
 * @mortal: the peer has said that its channels end with this epoch
 * @stuck: a QP did not stop, so the epoch is about to end
 * @errands: of those that lease, or did in this epoch, and of @taken
 * @n: entries of @lease
 * @lease: the QPs; number i is wired to number i of the peer
 */
struct rcl_pool {
	const char *link;
	u32 role;
	struct list_head calls;
	u32 nopens;
	struct list_head asked;
	struct rcl_exports *exports;
	struct list_head taken;
	u32 taking;
	bool still;
	bool mortal;
	bool stuck;
	struct rcl_errands errands;
	u32 n;
	struct rcl_lease *lease;
};

#define rcl_pool_for_each(pos, pool) \
	for (pos = (pool)->lease; pos < (pool)->lease + (pool)->n; pos++)

static inline u32 rcl_pool_index(const struct rcl_pool *pool,
				 const struct rcl_lease *lease)
{
	return lease - pool->lease;
}

int rcl_pool_create(struct rcl_pool *pool, struct rcl_qp *qp, u32 n);
void rcl_pool_destroy(struct rcl_pool *pool);
void rcl_pool_event(struct rcl_qp *qp);
struct rcl_lease *rcl_pool_find(struct rcl_pool *pool,
				const struct rcl_lessee *lessee);
struct rcl_call *rcl_pool_find_asked(struct rcl_pool *pool, u32 cookie);
void rcl_lease_put_in(struct rcl_lease *lease, struct rcl_lessee *lessee);
struct rcl_lessee *rcl_lease_take_out(struct rcl_lease *lease);

#endif /* RCL_POOL_H */
