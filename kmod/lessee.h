/* SPDX-License-Identifier: GPL-2.0 */
/* Who leases a pooled QP, as the pool sees it. */
#ifndef RCL_LESSEE_H
#define RCL_LESSEE_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "export.h"
#include "group-seal.h"

struct ib_pd;
struct rcl_lessee;
struct rcl_qp;
struct rcl_reg;
struct rcl_upcall;

/**
 * struct rcl_grant - what a lessee may use from attach to gone
 * @qp: in RTS; to be posted to and polled until detach
 * @pd: of the link, for registrations
 * @reg: of the link, for registrations
 * @access: rights that the device can give
 * @atomics: the devices of both ends have them
 * @masked_atomics: and those on some of the bits
 * @max_sge: pieces that a work request may have
 * @resumes: the lease may go on in the next epoch
 */
struct rcl_grant {
	struct rcl_qp *qp;
	struct ib_pd *pd;
	struct rcl_reg *reg;
	int access;
	bool atomics;
	bool masked_atomics;
	u32 max_sge;
	bool resumes;
};

/**
 * struct rcl_lessee_ops - what the pool tells a lessee
 * @attach: the lease begins; an errno refuses it, and nothing more is called
 * @event: a completion came in after rcl_qp_arm(); any context, must not poll
 * @detach: the lease ends for that reason: when it returns, nobody posts to or
 *	polls the QP any more; the pool polls what is left
 * @heard: the peer's lessee has posted its first receive; may come again.
 *	Returns true if the lease can go on in another epoch
 * @stopped: all that was posted has completed, unless the QP does not stop;
 *	@gone follows
 * @gone: nothing of the QP will complete any more; registrations go now, which
 *	may take long; the grant is good until it returns
 * @keep_still: post no sends any more, or again
 * @is_still: has all that was posted completed? Asked now and then
 * @suspend: instead of @detach: the lease is to go on in another epoch, if this
 *	returns true; @gone and @can_rejoin follow, then @rejoin or @lost
 * @can_rejoin: false if it cannot go on, as the drain has shown; asked after
 *	@gone, and @lost follows then
 * @rejoin: it goes on, with that; an errno refuses it, and @lost follows
 * @register_again: register again what was registered; then @ready
 * @resume: the peer has got @had of the messages; post what has to be posted
 *	again
 * @lost: it will not go on, for that reason
 * @release: the last reference was dropped
 *
 * All but @event, @release and three errands come from the link's work item.
 * Those are @gone, @register_again and @resume, in work items of the lessee's:
 * @resume, which may wait for the peer, in one of its own, and @gone after it.
 * @release comes from who drops the reference. All but @event may sleep.
 */
struct rcl_lessee_ops {
	int (*attach)(struct rcl_lessee *lessee, const struct rcl_grant *grant);
	void (*event)(struct rcl_lessee *lessee);
	bool (*heard)(struct rcl_lessee *lessee);
	void (*detach)(struct rcl_lessee *lessee, int why);
	void (*stopped)(struct rcl_lessee *lessee);
	void (*gone)(struct rcl_lessee *lessee);
	void (*keep_still)(struct rcl_lessee *lessee, bool still);
	bool (*is_still)(struct rcl_lessee *lessee);
	bool (*suspend)(struct rcl_lessee *lessee);
	bool (*can_rejoin)(struct rcl_lessee *lessee);
	int (*rejoin)(struct rcl_lessee *lessee, const struct rcl_grant *grant);
	int (*register_again)(struct rcl_lessee *lessee);
	void (*resume)(struct rcl_lessee *lessee);
	void (*lost)(struct rcl_lessee *lessee, int why);
	void (*release)(struct kref *ref);
};

/* What a lessee does for itself, because it may take long. */
enum rcl_errand {
	RCL_ERRAND_NONE,
	RCL_ERRAND_GONE,
	RCL_ERRAND_REGISTER,
};

/**
 * struct rcl_errands - what somebody has to wait for in the end, such as an
 *	epoch for lessees on errands
 * @n: how many, and one until rcl_errands_wait()
 * @none: completed when nobody is left
 */
struct rcl_errands {
	refcount_t n;
	struct completion none;
};

/**
 * struct rcl_lessee - somebody who wants or has a lease
 * @ref: held by its owner, by calls under way, and by the lease
 * @ops: constant
 * @up: of the epoch, from rejoin on; kicked after an errand
 * @hears: it has posted a receive; set by the lessee, who kicks the link
 * @told: and the peer was told so; of the link's work item
 * @stalled: the peer's QP does not answer; set by the lessee, who kicks the
 *	link
 * @calls: that it asked for, and that are not finished
 * @id: of the lease, the same at both ends, drawn by who opened it
 * @index: of the QP in the pool, since it was suspended
 * @node: among those that are suspended
 * @ready: RCL_ERRAND_REGISTER was run
 * @failed: what RCL_ERRAND_REGISTER ended with: 0 or an errno
 * @got: messages that it has got, in all epochs
 * @had: and the peer's, when it resumes
 * @work: an errand
 * @resuming: that of rcl_lessee_run_resume()
 * @errand: which; the next one may already be queued
 * @errands: where it counts
 */
struct rcl_lessee {
	struct kref ref;
	const struct rcl_lessee_ops *ops;
	struct rcl_upcall *up;
	bool hears;
	bool told;
	bool stalled;
	atomic_t calls;
	u32 id;
	u32 index;
	struct list_head node;
	bool ready;
	int failed;
	u32 got;
	u32 had;
	struct work_struct work;
	struct work_struct resuming;
	enum rcl_errand errand;
	struct rcl_errands *errands;
};

static inline void rcl_lessee_put(struct rcl_lessee *lessee)
{
	kref_put(&lessee->ref, lessee->ops->release);
}

enum rcl_call_kind {
	RCL_CALL_OPEN,		/* lease a QP to @lessee, for service @name */
	RCL_CALL_CLOSE,		/* end the lease of @lessee, if it has one */
	RCL_CALL_IMPORT,	/* look up the peer's region @name */
	RCL_CALL_RENEW,		/* the same, of an errand of @lessee */
	RCL_CALL_GROUP,		/* ask for the key of group @name; no lessee */
};

/**
 * struct rcl_call - something that the pool of a link is asked to do
 * @node: in the link's inbox, or in the pool
 * @ref: one for who waits, one for the pool
 * @kind: what
 * @lessee: who asks; a reference is held until it is finished, then NULL
 * @name: service, region or group
 * @wait: OPEN: for a QP to become free
 * @until: OPEN without @wait: for one that comes back, in jiffies
 * @why: CLOSE: errno for @lessee
 * @cookie: of the question, when it was asked
 * @first: of IMPORT, RENEW: extent whose key is asked for, with those behind it
 * @window: out: of IMPORT, RENEW; has no keys
 * @nrkeys: out: of IMPORT, RENEW: how many
 * @rkeys: out: of IMPORT, RENEW
 * @grant: of GROUP: in: identifier of the key that is there; out: another key,
 *	or the same
 * @done: completed with the result
 * @ret: 0, or a negative errno
 */
struct rcl_call {
	struct list_head node;
	refcount_t ref;
	enum rcl_call_kind kind;
	struct rcl_lessee *lessee;
	char name[RCLINK_DEV_SERVICE_LEN];
	bool wait;
	u64 until;
	int why;
	u32 cookie;
	u32 first;
	struct rcl_window window;
	u32 nrkeys;
	u32 rkeys[RCL_WINDOW_RKEYS];
	struct rcl_group_grant grant;
	struct completion done;
	int ret;
};

void rcl_lessee_init(struct rcl_lessee *lessee,
		     const struct rcl_lessee_ops *ops);
void rcl_lessee_run(struct rcl_lessee *lessee, enum rcl_errand errand,
		    struct rcl_errands *errands);
void rcl_lessee_run_resume(struct rcl_lessee *lessee,
			   struct rcl_errands *errands);
void rcl_lessee_leave(struct rcl_lessee *lessee, struct rcl_errands *errands);

void rcl_errands_init(struct rcl_errands *errands);
void rcl_errands_add(struct rcl_errands *errands);
void rcl_errands_drop(struct rcl_errands *errands);
void rcl_errands_wait(struct rcl_errands *errands);

struct rcl_call *rcl_call_new(enum rcl_call_kind kind,
			      struct rcl_lessee *lessee, gfp_t gfp);
void rcl_call_put(struct rcl_call *call);
void rcl_call_cancel(struct rcl_call *call, int why);
void rcl_call_finish(struct rcl_call *call, int ret);

#endif /* RCL_LESSEE_H */
