// SPDX-License-Identifier: GPL-2.0
#include "pool.h"

#include <linux/slab.h>

/**
 * rcl_pool_create - begin with all QPs free
 * @pool: zeroed, filled in
 * @qp: the pooled QPs, not yet created
 * @n: how many
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rcl_pool_create(struct rcl_pool *pool, struct rcl_qp *qp, u32 n)
{
	u32 i;

	pool->lease = kcalloc(n, sizeof(*pool->lease), GFP_KERNEL);
	if (!pool->lease)
		return -ENOMEM;
	pool->n = n;
	for (i = 0; i < n; i++) {
		pool->lease[i].qp = &qp[i];
		spin_lock_init(&pool->lease[i].lock);
		qp[i].owner = &pool->lease[i];
	}
	INIT_LIST_HEAD(&pool->calls);
	INIT_LIST_HEAD(&pool->asked);
	INIT_LIST_HEAD(&pool->taken);
	rcl_errands_init(&pool->errands);
	return 0;
}

/**
 * rcl_pool_destroy - the mirror of rcl_pool_create()
 * @pool: nobody leases anything, and the QPs are gone
 */
void rcl_pool_destroy(struct rcl_pool *pool)
{
	kfree(pool->lease);
}

/**
 * rcl_pool_event - tell a lessee that its pooled QP has something to poll
 * @qp: armed, or the device has reported an error of it
 *
 * Context: any.
 */
void rcl_pool_event(struct rcl_qp *qp)
{
	struct rcl_lease *lease = qp->owner;
	unsigned long flags;

	spin_lock_irqsave(&lease->lock, flags);
	if (lease->lessee)
		lease->lessee->ops->event(lease->lessee);
	spin_unlock_irqrestore(&lease->lock, flags);
}

/**
 * rcl_pool_find - find the lease that a lessee has or is about to have
 * @pool: of a link that is up
 * @lessee: any
 *
 * Context: the link's work item.
 * Return: the lease, or NULL.
 */
struct rcl_lease *rcl_pool_find(struct rcl_pool *pool,
				const struct rcl_lessee *lessee)
{
	struct rcl_lease *lease;

	rcl_pool_for_each(lease, pool)
		if (lease->lessee == lessee ||
		    (lease->call && lease->call->lessee == lessee))
			return lease;
	return NULL;
}

/**
 * rcl_pool_find_asked - find the call whose answer has come in
 * @pool: of a link that is up
 * @cookie: of an answer whose type fits its question
 *
 * Context: the link's work item.
 * Return: the call, IMPORT or GROUP, or NULL.
 */
struct rcl_call *rcl_pool_find_asked(struct rcl_pool *pool, u32 cookie)
{
	struct rcl_call *call;

	list_for_each_entry(call, &pool->asked, node)
		if (call->cookie == cookie)
			return call;
	return NULL;
}

/**
 * rcl_lease_put_in - put a lessee in, which hears of events from now on
 * @lease: without lessee
 * @lessee: the lease takes over the caller's reference to it
 *
 * Context: process context.
 */
void rcl_lease_put_in(struct rcl_lease *lease, struct rcl_lessee *lessee)
{
	lease->probed = false;
	lease->until = 0;
	spin_lock_irq(&lease->lock);
	lease->lessee = lessee;
	spin_unlock_irq(&lease->lock);
}

/**
 * rcl_lease_take_out - take the lessee out, which hears of no more events
 * @lease: any
 *
 * Context: process context.
 * Return: the lessee with the lease's reference, or NULL.
 */
struct rcl_lessee *rcl_lease_take_out(struct rcl_lease *lease)
{
	struct rcl_lessee *lessee;

	spin_lock_irq(&lease->lock);
	lessee = lease->lessee;
	lease->lessee = NULL;
	spin_unlock_irq(&lease->lock);
	return lessee;
}
