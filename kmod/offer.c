// SPDX-License-Identifier: GPL-2.0
/*
 * A region that is offered is registered with a link when the link's peer first
 * imports it in an epoch, and stays registered until the epoch ends or the
 * offer is taken back: links whose peers never ask cost nothing. Registering
 * takes time, so it is an errand, and the peer is told to ask again. One
 * address serves all links.
 *
 * Whoever takes a registration out of both lists, the link's work item or the
 * owner, ends it; the other one waits: the epoch for its errands, before the PD
 * goes, and the owner for @users, before the memory goes.
 */
#include "offer.h"

#include <linux/cred.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "announce.h"
#include "deputy.h"
#include "epoch.h"
#include "export.h"
#include "keeper.h"
#include "mapping.h"
#include "memory.h"
#include "queues.h"

/**
 * struct rcl_taken - an offer in one epoch of a link
 * @of_offer: in the list of @offer
 * @of_pool: in the list of the pool of @ep
 * @offer: counts this among its users
 * @ep: its pool counts this among its errands
 * @work: registers the region
 * @ret: 0 when it is registered, -EBUSY until then, or the errno of a failure
 * @window: how the peer addresses it, with the rights that the device can give
 * @mapping: the registration; belongs to @work until that is done
 */
struct rcl_taken {
	struct list_head of_offer;
	struct list_head of_pool;
	struct rcl_offer *offer;
	struct rcl_epoch *ep;
	struct work_struct work;
	int ret;
	struct rcl_window window;
	struct rcl_mapping mapping;
};

#define RCL_OFFERS_MAX	1024	/* per user: links search all of them */
#define RCL_TAKING_MAX	8	/* per link: they wait for each other */

/* Protects rcl_offers, where each was taken, and its state; links need it. */
static DEFINE_MUTEX(rcl_offers_lock);
static LIST_HEAD(rcl_offers);

/* The kernel counts as root, as it does when it listens. */
static kuid_t rcl_offer_user(const struct rcl_offer *offer)
{
	return offer->cred ? offer->cred->fsuid : GLOBAL_ROOT_UID;
}

/**
 * struct rcl_offer_job - what a deputy does
 * @offer: to be added
 * @ret: result
 */
struct rcl_offer_job {
	struct rcl_offer *offer;
	int ret;
};

static int rcl_offer_add_locked(struct rcl_offer *offer)
{
	struct rcl_offer *other;
	u32 n = 0;

	lockdep_assert_held(&rcl_offers_lock);
	list_for_each_entry(other, &rcl_offers, node) {
		if (!uid_eq(rcl_offer_user(other), rcl_offer_user(offer)))
			continue;
		n++;
		if (!strcmp(other->name, offer->name))
			return -EEXIST;
	}
	if (n >= RCL_OFFERS_MAX)
		return -ENOSPC;
	/* Kernel offers go first: no user takes a name from them. */
	if (!offer->cred)
		list_add(&offer->node, &rcl_offers);
	else
		list_add_tail(&offer->node, &rcl_offers);
	return 0;
}

static void rcl_offer_add_job(void *arg)
{
	struct rcl_offer_job *job = arg;

	mutex_lock(&rcl_offers_lock);
	job->ret = rcl_offer_add_locked(job->offer);
	mutex_unlock(&rcl_offers_lock);
}

/**
 * rcl_offer_add - offer a region to all peers
 * @offer: zeroed, and filled in down to @offer->may
 *
 * Context: may sleep; has a deputy.
 * Return: 0, -EEXIST when the same user offers another one of that name, or
 * -ENOSPC when that user offers too many.
 */
int rcl_offer_add(struct rcl_offer *offer)
{
	struct rcl_offer_job job = { .offer = offer };

	INIT_LIST_HEAD(&offer->taken);
	rcl_errands_init(&offer->users);
	offer->addr = ((u64)get_random_u32() << RCL_EXTENT_SHIFT_MAX) +
		      offer->memory->first;
	offer->wanted = true;
	rcl_deputy_run(rcl_offer_add_job, &job);
	return job.ret;
}

static void rcl_taken_end(struct rcl_taken *taken)
{
	bool waited = cancel_work_sync(&taken->work);
	struct rcl_offer *offer = taken->offer;
	struct rcl_epoch *ep = taken->ep;

	if (waited) {
		mutex_lock(&rcl_offers_lock);
		ep->pool.taking--;
		mutex_unlock(&rcl_offers_lock);
	}
	rcl_mapping_unmap(&taken->mapping);
	if (taken->mapping.stuck)
		WRITE_ONCE(offer->stuck, true);
	rcl_mapping_free(&taken->mapping);
	kfree(taken);
	rcl_errands_drop(&ep->pool.errands);
	rcl_errands_drop(&offer->users);
}

/*
 * Nobody finds it any more. The others stay in their lists until it is their
 * turn, for whoever cannot wait so long.
 */
static void rcl_taken_end_locked(struct rcl_taken *taken)
{
	lockdep_assert_held(&rcl_offers_lock);
	list_del(&taken->of_pool);
	list_del(&taken->of_offer);
	mutex_unlock(&rcl_offers_lock);
	rcl_taken_end(taken);
	mutex_lock(&rcl_offers_lock);
}

static void rcl_offer_del_job(void *arg)
{
	struct rcl_offer *offer = arg;

	mutex_lock(&rcl_offers_lock);
	list_del(&offer->node);
	while (!list_empty(&offer->taken))
		rcl_taken_end_locked(list_last_entry(&offer->taken,
						     struct rcl_taken,
						     of_offer));
	mutex_unlock(&rcl_offers_lock);
}

/**
 * rcl_offer_del - take a region back
 * @offer: was added; afterwards no peer reaches the memory any more, unless
 *	@offer->stuck is set
 *
 * Context: may sleep; has a deputy.
 */
void rcl_offer_del(struct rcl_offer *offer)
{
	WRITE_ONCE(offer->wanted, false);
	rcl_deputy_run(rcl_offer_del_job, offer);
	rcl_errands_wait(&offer->users);
}

/**
 * rcl_offer_end - end the registrations of an epoch that has ended
 * @pool: of the epoch; its QPs are gone, its PD is not
 *
 * To be followed by rcl_errands_wait(): others may be ending some.
 *
 * Context: may sleep; the link's work item.
 */
void rcl_offer_end(struct rcl_pool *pool)
{
	mutex_lock(&rcl_offers_lock);
	while (!list_empty(&pool->taken))
		rcl_taken_end_locked(list_last_entry(&pool->taken,
						     struct rcl_taken,
						     of_pool));
	mutex_unlock(&rcl_offers_lock);
}

static int rcl_taken_register(struct rcl_taken *taken)
{
	struct rcl_offer *offer = taken->offer;
	struct rcl_epoch *ep = taken->ep;
	int ret;

	ret = rcl_mapping_lay_out(&taken->mapping, offer->addr,
				  rcl_mapping_shift(ep->pd->device));
	if (ret)
		return ret;
	return rcl_mapping_map(&taken->mapping, ep->pd, &ep->reg,
			       &offer->wanted);
}

static void rcl_taken_work(struct work_struct *work)
{
	struct rcl_taken *taken = container_of(work, struct rcl_taken, work);
	unsigned int noio = memalloc_noio_save();
	int ret;

	ret = rcl_taken_register(taken);
	/* Whoever sees that it is done may free it. */
	mutex_lock(&rcl_offers_lock);
	/* If the driver says that it is busy, that is final, too. */
	taken->ret = ret == -EBUSY ? -EIO : ret;
	taken->ep->pool.taking--;
	mutex_unlock(&rcl_offers_lock);
	memalloc_noio_restore(noio);
}

/* A peer that asks twice gets one registration. */
static int rcl_taken_begin(struct rcl_offer *offer, struct rcl_epoch *ep)
{
	struct rcl_taken *taken;
	u32 rights = offer->rights;

	lockdep_assert_held(&rcl_offers_lock);
	if (!(ep->access & IB_ACCESS_REMOTE_ATOMIC))
		rights &= ~RCLINK_REGION_ATOMIC;
	if (!rights)
		return -EOPNOTSUPP;
	/* The peer will ask again. */
	if (ep->pool.taking == RCL_TAKING_MAX)
		return -EBUSY;
	taken = kzalloc(sizeof(*taken), GFP_KERNEL);
	if (!taken)
		return -ENOMEM;
	taken->offer = offer;
	taken->ep = ep;
	taken->ret = -EBUSY;
	taken->window.rights = rights;
	taken->mapping.memory = offer->memory;
	taken->mapping.window = &taken->window;
	INIT_WORK(&taken->work, rcl_taken_work);
	list_add(&taken->of_offer, &offer->taken);
	list_add(&taken->of_pool, &ep->pool.taken);
	rcl_errands_add(&offer->users);
	rcl_errands_add(&ep->pool.errands);
	ep->pool.taking++;
	rcl_queue_work(RCL_QUEUE_OFFERS, &taken->work);
	return -EBUSY;
}

/* Nobody gets one that is being taken back, even if it waits for a deputy. */
static bool rcl_offer_is_for(const struct rcl_offer *offer, const char *name)
{
	return READ_ONCE(offer->wanted) && !strcmp(offer->name, name);
}

/* If several users offer a name, the first one that has the right counts. */
static struct rcl_offer *rcl_offer_find_locked(const char *name,
					       const char *link)
{
	struct rcl_offer *offer;

	lockdep_assert_held(&rcl_offers_lock);
	list_for_each_entry(offer, &rcl_offers, node)
		if (rcl_offer_is_for(offer, name) && offer->may(offer, link))
			return offer;
	return NULL;
}

static struct rcl_taken *rcl_taken_find_locked(const struct rcl_offer *offer,
					       const struct rcl_pool *pool)
{
	struct rcl_taken *taken;

	lockdep_assert_held(&rcl_offers_lock);
	list_for_each_entry(taken, &pool->taken, of_pool)
		if (taken->offer == offer)
			return taken;
	return NULL;
}

/**
 * rcl_offer_find - find the region offered to all peers under a name
 * @ep: of a link that is up, whose peer asks
 * @name: of the region
 * @window: set; @window->rkeys stays, with room for RCL_WINDOW_RKEYS keys
 * @first: first extent of interest; those behind it are, too
 *
 * Context: may sleep; the link's work item.
 * Return: the number of keys, -EBUSY while it is being registered, -ENOENT when
 * there is none for this link, or the errno of a failed registration, which the
 * next question tries again.
 */
int rcl_offer_find(struct rcl_epoch *ep, const char *name,
		   struct rcl_window *window, u32 first)
{
	struct rcl_taken *taken = NULL;
	struct rcl_offer *offer;
	int ret = -ENOENT;

	mutex_lock(&rcl_offers_lock);
	offer = rcl_offer_find_locked(name, ep->pool.link);
	if (offer)
		taken = rcl_taken_find_locked(offer, &ep->pool);
	if (taken)
		ret = taken->ret;
	else if (offer)
		ret = rcl_taken_begin(offer, ep);
	if (taken && !ret)
		ret = rcl_window_copy(window, &taken->window, first);
	else if (taken && ret != -EBUSY)
		rcl_taken_end_locked(taken);
	mutex_unlock(&rcl_offers_lock);
	return ret;
}

static bool rcl_offer_may_any(const struct rcl_offer *offer,
			      const struct rcl_keeper_links *links)
{
	u32 i;

	for (i = 0; i < links->n; i++)
		if (offer->may(offer, links->name[i]))
			return true;
	return false;
}

/**
 * rcl_offer_list - list what is offered over some links and may be announced
 * @links: over any of these
 * @list: added to
 *
 * Context: may sleep.
 */
void rcl_offer_list(const struct rcl_keeper_links *links,
		    struct rcl_announce_list *list)
{
	struct rcl_announce_region region;
	struct rcl_offer *offer;

	mutex_lock(&rcl_offers_lock);
	list_for_each_entry(offer, &rcl_offers, node) {
		strscpy_pad(region.name, offer->name, sizeof(region.name));
		if (!READ_ONCE(offer->wanted) ||
		    !rcl_announce_is_name(region.name) ||
		    !rcl_offer_may_any(offer, links))
			continue;
		region.len = offer->memory->len;
		region.rights = offer->rights;
		rcl_announce_add(list, &region);
	}
	mutex_unlock(&rcl_offers_lock);
}
