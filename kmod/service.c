// SPDX-License-Identifier: GPL-2.0
/*
 * A listener can be anybody, and may go without a processor for long while in
 * here. So nothing is waited for with the table's lock held, and there is no
 * other lock: whoever walks the table is a user of the entry being looked at,
 * which stays until its last user has left. Its end waits for running offers.
 */
#include "service.h"

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/once.h>
#include <linux/random.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define RCL_SERVICES_MAX	4096	/* per user: links ask all of a name */
#define RCL_SERVICES_BITS	10

/* Protects the tables, users and states. */
static DEFINE_SPINLOCK(rcl_services_lock);
/* By link and name, the oldest first. */
static DEFINE_HASHTABLE(rcl_services, RCL_SERVICES_BITS);
static DEFINE_HASHTABLE(rcl_services_of_user, RCL_SERVICES_BITS);

/* Nobody may choose whose hash chain they get into. */
static u32 rcl_service_seed(void)
{
	static u32 seed;

	get_random_once(&seed, sizeof(seed));
	return seed;
}

static u32 rcl_service_hash(const char *link, const char *name)
{
	return jhash(name, strlen(name),
		     jhash(link, strlen(link), rcl_service_seed()));
}

static struct hlist_head *rcl_service_chain(u32 hash)
{
	return &rcl_services[hash_min(hash, RCL_SERVICES_BITS)];
}

/* True when the caller has to put @service. */
static bool rcl_service_leave_locked(struct rcl_service *service)
{
	lockdep_assert_held(&rcl_services_lock);
	if (--service->users)
		return false;
	hlist_del(&service->node);
	hlist_del(&service->of_user);
	return true;
}

static void rcl_service_leave(struct rcl_service *service)
{
	bool last;

	spin_lock(&rcl_services_lock);
	last = rcl_service_leave_locked(service);
	spin_unlock(&rcl_services_lock);
	if (last)
		service->put(service);
}

/* Leave @from, and find the next one, to be left in turn, or NULL. */
static struct rcl_service *rcl_service_next(struct rcl_service *from, u32 hash,
					    const char *link, const char *name)
{
	struct rcl_service *service, *found = NULL;
	bool last;

	spin_lock(&rcl_services_lock);
	service = hlist_entry_safe(from ? from->node.next :
				   rcl_service_chain(hash)->first,
				   struct rcl_service, node);
	hlist_for_each_entry_from(service, node) {
		if (service->hash != hash || strcmp(service->link, link) ||
		    strcmp(service->name, name))
			continue;
		service->users++;
		found = service;
		break;
	}
	last = from && rcl_service_leave_locked(from);
	spin_unlock(&rcl_services_lock);
	if (last)
		from->put(from);
	return found;
}

static void rcl_service_add_tail(struct rcl_service *service)
{
	struct hlist_head *chain = rcl_service_chain(service->hash);
	struct hlist_node *node, *last = NULL;

	hlist_for_each(node, chain)
		last = node;
	if (last)
		hlist_add_behind(&service->node, last);
	else
		hlist_add_head(&service->node, chain);
}

static int rcl_service_insert(struct rcl_service *service)
{
	u32 user = jhash_1word(__kuid_val(service->user), rcl_service_seed());
	struct rcl_service *other;
	u32 n = 0;

	service->hash = rcl_service_hash(service->link, service->name);
	spin_lock(&rcl_services_lock);
	hash_for_each_possible(rcl_services_of_user, other, of_user, user)
		n += uid_eq(other->user, service->user);
	if (n < RCL_SERVICES_MAX) {
		hash_add(rcl_services_of_user, &service->of_user, user);
		rcl_service_add_tail(service);
	}
	spin_unlock(&rcl_services_lock);
	return n < RCL_SERVICES_MAX ? 0 : -ENOSPC;
}

static void rcl_service_set(struct rcl_service *service,
			    enum rcl_service_state state)
{
	spin_lock(&rcl_services_lock);
	WRITE_ONCE(service->state, state);
	spin_unlock(&rcl_services_lock);
}

/* If two are added at the same time, the later one gives way. */
static bool rcl_service_is_taken(const struct rcl_service *service)
{
	struct rcl_service *other = NULL;
	bool taken;

	for (;;) {
		other = rcl_service_next(other, service->hash, service->link,
					 service->name);
		taken = other != service;
		if (!taken || (READ_ONCE(other->state) != RCL_SERVICE_ENDED &&
			       other->may(other)))
			break;
	}
	rcl_service_leave(other);
	return taken;
}

/**
 * rcl_service_del - stop listening
 * @service: was added; its @offer no longer runs afterwards
 *
 * Context: may sleep.
 */
void rcl_service_del(struct rcl_service *service)
{
	rcl_service_set(service, RCL_SERVICE_ENDED);
	rcl_errands_wait(&service->offers);
	rcl_service_leave(service);
}

/**
 * rcl_service_add - start listening
 * @service: filled in down to @service->put; the reference that
 *	@service->put drops is the table's, also after a failure
 *
 * A listener that has no right on the link, or not yet, does not keep the name
 * from others. So there may be several; the first that has the right counts.
 *
 * Context: may sleep.
 * Return: 0, -EADDRINUSE when somebody with the right listens there, or -ENOSPC
 * when this user has too many services.
 */
int rcl_service_add(struct rcl_service *service)
{
	int ret;

	rcl_errands_init(&service->offers);
	service->state = RCL_SERVICE_NEW;
	service->users = 1;
	ret = rcl_service_insert(service);
	if (ret) {
		service->put(service);
		return ret;
	}
	if (rcl_service_is_taken(service)) {
		rcl_service_del(service);
		return -EADDRINUSE;
	}
	rcl_service_set(service, RCL_SERVICE_OPEN);
	return 0;
}

/* False when it is not open yet, or has ended meanwhile. */
static bool rcl_service_ask(struct rcl_service *service, const char *link,
			    struct rcl_lessee **lessee)
{
	bool open;

	spin_lock(&rcl_services_lock);
	open = service->state == RCL_SERVICE_OPEN;
	if (open)
		rcl_errands_add(&service->offers);
	spin_unlock(&rcl_services_lock);
	if (!open)
		return false;
	*lessee = service->offer(service, link);
	rcl_errands_drop(&service->offers);
	return true;
}

/**
 * rcl_service_offer - find who accepts a peer that connects
 * @link: name of its link; the pointer identifies the link, too
 * @name: of the service
 *
 * Context: may sleep.
 * Return: a lessee with a reference, or the ERR_PTR of -ECONNREFUSED when
 * nobody listens, or of what the listener's @offer returned.
 */
struct rcl_lessee *rcl_service_offer(const char *link, const char *name)
{
	struct rcl_lessee *lessee = ERR_PTR(-ECONNREFUSED);
	u32 hash = rcl_service_hash(link, name);
	struct rcl_service *service = NULL;

	while ((service = rcl_service_next(service, hash, link, name))) {
		if (!service->may(service) ||
		    !rcl_service_ask(service, link, &lessee))
			continue;
		rcl_service_leave(service);
		break;
	}
	return lessee;
}
