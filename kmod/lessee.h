/* SPDX-License-Identifier: GPL-2.0 */
/* The lessee of a pooled QP, as the pool sees it. */
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
 * @qp: in RTS; the lessee posts to it and polls it until detach
 * @pd: of the link, for registrations
 * @reg: of the link, for registrations
 * @access: rights that the device can give
 * @atomics: the devices of both ends support them
 * @masked_atomics: they also support atomics on some of the bits
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
 * @event: see struct rcl_qp
 * @detach: the lease ends for the given reason: once it returns, nobody posts
 *	to or polls the QP any more; the pool polls what is left
 * @heard: whether the peer's lessee has posted its first receive; may come
 *	again. Returns true if the lease can go on in another epoch
 * @stopped: all that was posted has completed; not called if the QP does not
 *	stop, or nobody has waited for that; @gone follows
 * @gone: nothing on the QP will complete any more; registrations end now,
 *	which may take long; the grant is good until it returns
 * @keep_still: post no sends any more, or again
 * @is_still: has all that was posted completed? Asked repeatedly
 * @suspend: takes the place of @detach if it returns true: the lease is to go
 *	on in another epoch; @gone and @can_rejoin follow, then @rejoin or @lost
 * @can_rejoin: false if the drain has shown that the lease cannot go on: then
 *	@lost follows; asked after @gone
 * @rejoin: the lease goes on with this grant; an errno refuses it, and @lost
 *	follows
 * @register_again: register again what was registered; then it is @ready
 * @resume: the peer has got @had messages; post what has to be posted again
 * @lost: the lease will not go on, for the given reason
 * @release: the last reference was dropped
 *
 * All but @event, @release and three errands are called by the link's work
 * item. The errands are @gone, @register_again and @resume, and run in work
 * items of the lessee: @resume, which may wait for the peer, in one of its own,
 * and @gone after it. @release is called by whoever drops the reference. All
 * but @event may sleep.
 */
struct rcl_lessee_ops {
	int (*attach)(struct rcl_lessee *lessee, const struct rcl_grant *grant);
	void (*event)(struct rcl_lessee *lessee);
	bool (*heard)(struct rcl_lessee *lessee, bool posted);
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

/* What a lessee does on its own, because it may take long. */
enum rcl_errand {
	RCL_ERRAND_NONE,
	RCL_ERRAND_GONE,
	RCL_ERRAND_REGISTER,
};

/**
 * struct rcl_errands - errands that somebody must wait for in the end, such as
 *	an epoch for those of its lessees
 * @n: how many, plus one until rcl_errands_wait()
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
 * @hears: it has posted a receive; set by the lessee, which then kicks the link
 * @told: the peer was told that; written by the link's work item
 * @stalled: the peer's QP does not answer; set by the lessee, which then kicks
 *	the link
 * @calls: calls that it asked for, and that are not finished
 * @id: of the lease, the same at both ends, drawn by the end that opened it
 * @index: of its QP in the pool; set when it is suspended
 * @node: in the list of suspended lessees
 * @ready: RCL_ERRAND_REGISTER has run
 * @failed: result of RCL_ERRAND_REGISTER: 0 or an errno
 * @got: messages that it has got, in all epochs
 * @had: messages that the peer had got when it resumed
 * @work: an errand
 * @resuming: the errand of rcl_lessee_run_resume()
 * @errand: which one @work does; the next one may already be queued
 * @errands: where its errands are counted
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
	RCL_CALL_RENEW,		/* the same, for an errand of @lessee */
	RCL_CALL_GROUP,		/* ask for the key of group @name; no lessee */
};

/**
 * struct rcl_call - something that the pool of a link is asked to do
 * @node: in the link's inbox, or in the pool
 * @ref: one for the waiter, one for the pool
 * @kind: what is asked
 * @lessee: who asks; a reference is held until it is finished, then NULL
 * @name: service, region or group
 * @wait: OPEN: wait for a QP to become free
 * @until: OPEN without @wait: deadline for one that comes back, in jiffies
 * @why: CLOSE: errno for @lessee
 * @cookie: of the question, once it was asked
 * @first: IMPORT, RENEW: first of the extents whose keys are asked for
 * @window: out: IMPORT, RENEW; has no keys
 * @nrkeys: out: IMPORT, RENEW: entries of @rkeys
 * @rkeys: out: IMPORT, RENEW
 * @grant: GROUP: in: identifier of the key at hand; out: another key, or the
 *	same
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
