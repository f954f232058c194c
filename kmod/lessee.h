/* SPDX-License-Identifier: GPL-2.0 */
/* Who leases a pooled QP, as the pool sees it. */
#ifndef RCL_LESSEE_H
#define RCL_LESSEE_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include "export.h"

#define RCL_CALL_RKEYS	109	/* that one answer has room for */

struct ib_pd;
struct rcl_lessee;
struct rcl_qp;
struct rcl_reg;

/**
 * struct rcl_grant - what a lessee may use from attach to gone
 * @qp: in RTS; to be posted to and polled until detach
 * @pd: of the link, for registrations
 * @reg: of the link, for registrations
 * @exports: of the link
 * @access: rights that the device can give
 * @max_sge: pieces that a work request may have
 */
struct rcl_grant {
	struct rcl_qp *qp;
	struct ib_pd *pd;
	struct rcl_reg *reg;
	struct rcl_exports *exports;
	int access;
	u32 max_sge;
};

/**
 * struct rcl_lessee_ops - what the pool tells a lessee
 * @attach: the lease begins; an errno refuses it, and nothing more is called
 * @event: a completion came in after rcl_qp_arm(); any context, must not poll
 * @detach: the lease ends for that reason: when it returns, nobody posts to or
 *	polls the QP any more; the pool polls what is left
 * @heard: the peer's lessee has posted its first receive; may come again
 * @gone: nothing of the QP will complete any more; registrations go now
 * @release: the last reference was dropped
 *
 * All but @event come from the link's work item, and may sleep.
 */
struct rcl_lessee_ops {
	int (*attach)(struct rcl_lessee *lessee, const struct rcl_grant *grant);
	void (*event)(struct rcl_lessee *lessee);
	void (*heard)(struct rcl_lessee *lessee);
	void (*detach)(struct rcl_lessee *lessee, int why);
	void (*gone)(struct rcl_lessee *lessee);
	void (*release)(struct kref *ref);
};

/**
 * struct rcl_lessee - somebody who wants or has a lease
 * @ref: held by its owner, by calls under way, and by the lease
 * @ops: constant
 * @hears: it has posted a receive; set by the lessee, who kicks the link
 * @told: and the peer was told so; of the link's work item
 */
struct rcl_lessee {
	struct kref ref;
	const struct rcl_lessee_ops *ops;
	bool hears;
	bool told;
};

static inline void rcl_lessee_put(struct rcl_lessee *lessee)
{
	kref_put(&lessee->ref, lessee->ops->release);
}

enum rcl_call_kind {
	RCL_CALL_OPEN,		/* lease a QP to @lessee, for service @name */
	RCL_CALL_CLOSE,		/* end the lease of @lessee, if it has one */
	RCL_CALL_IMPORT,	/* look up the peer's region @name */
};

/**
 * struct rcl_call - something that the pool of a link is asked to do
 * @node: in the link's inbox, or in the pool
 * @ref: one for who waits, one for the pool
 * @kind: what
 * @lessee: who asks; a reference is held until it is finished, then NULL
 * @name: service or region
 * @wait: OPEN: for a QP to become free
 * @cookie: of the question, when it was asked
 * @first: of IMPORT: extent whose key is asked for, with those behind it
 * @window: out: of IMPORT; has no keys
 * @nrkeys: out: of IMPORT: how many
 * @rkeys: out: of IMPORT
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
	u32 cookie;
	u32 first;
	struct rcl_window window;
	u32 nrkeys;
	u32 rkeys[RCL_CALL_RKEYS];
	struct completion done;
	int ret;
};

struct rcl_call *rcl_call_new(enum rcl_call_kind kind,
			      struct rcl_lessee *lessee, gfp_t gfp);
void rcl_call_put(struct rcl_call *call);
void rcl_call_finish(struct rcl_call *call, int ret);

#endif /* RCL_LESSEE_H */
