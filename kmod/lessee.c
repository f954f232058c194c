// SPDX-License-Identifier: GPL-2.0
#include "lessee.h"

#include <linux/slab.h>

/**
 * rcl_call_new - allocate a call
 * @kind: what is asked
 * @lessee: who asks; the call holds a reference
 * @gfp: how to allocate
 *
 * Return: the call with one reference, or NULL.
 */
struct rcl_call *rcl_call_new(enum rcl_call_kind kind,
			      struct rcl_lessee *lessee, gfp_t gfp)
{
	struct rcl_call *call;

	call = kzalloc(sizeof(*call), gfp);
	if (!call)
		return NULL;
	refcount_set(&call->ref, 1);
	init_completion(&call->done);
	call->kind = kind;
	kref_get(&lessee->ref);
	call->lessee = lessee;
	return call;
}

/**
 * rcl_call_put - drop a reference
 * @call: may be freed
 *
 * Context: may sleep.
 */
void rcl_call_put(struct rcl_call *call)
{
	if (!refcount_dec_and_test(&call->ref))
		return;
	if (call->lessee)
		rcl_lessee_put(call->lessee);
	kfree(call);
}

/**
 * rcl_call_finish - say how a call ended, and drop the pool's reference
 * @call: in no list any more
 * @ret: 0, or a negative errno
 *
 * Context: may sleep.
 */
void rcl_call_finish(struct rcl_call *call, int ret)
{
	struct rcl_lessee *lessee = call->lessee;

	call->ret = ret;
	call->lessee = NULL;
	/* First: who waits for the end of a lease is the last to let go. */
	rcl_lessee_put(lessee);
	complete(&call->done);
	rcl_call_put(call);
}
