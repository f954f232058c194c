// SPDX-License-Identifier: GPL-2.0
/*
 * Who listens may be anybody, and may not get a processor for long while he is
 * in our midst. So nothing is waited for with the lock of the table held, and
 * there is no other: who goes through it is among the users of the entry that
 * he looks at, and that stays until the last one has left it. Who offers is
 * among those that its end waits for.
 */
#include "service.h"

#include <linux/err.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define RCL_SERVICES_MAX	4096	/* of a user: links look through all */

/* Protects the table, users and states. */
static DEFINE_SPINLOCK(rcl_services_lock);
static LIST_HEAD(rcl_services);

/* True when the caller has to put it. */
static bool rcl_service_leave_locked(struct rcl_service *service)
{
	lockdep_assert_held(&rcl_services_lock);
	if (--service->users)
		return false;
	list_del(&service->node);
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

/* The next one there, which is to be left, too; NULL behind the last one. */
static struct rcl_service *rcl_service_next(struct rcl_service *from,
					    const char *link, const char *name)
{
	struct rcl_service *service, *found = NULL;
	bool last;

	spin_lock(&rcl_services_lock);
	service = list_prepare_entry(from, &rcl_services, node);
	list_for_each_entry_continue(service, &rcl_services, node) {
		if (strcmp(service->link, link) || strcmp(service->name, name))
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

static int rcl_service_insert(struct rcl_service *service)
{
	struct rcl_service *other;
	u32 n = 0;

	spin_lock(&rcl_services_lock);
	list_for_each_entry(other, &rcl_services, node)
		n += uid_eq(other->user, service->user);
	if (n < RCL_SERVICES_MAX)
		list_add_tail(&service->node, &rcl_services);
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

/* Of two that are added at once the later one gives way. */
static bool rcl_service_is_taken(const struct rcl_service *service)
{
	struct rcl_service *other = NULL;
	bool taken;

	for (;;) {
		other = rcl_service_next(other, service->link, service->name);
		taken = other != service;
		if (!taken || (READ_ONCE(other->state) != RCL_SERVICE_ENDED &&
			       other->may(other)))
			break;
	}
	rcl_service_leave(other);
	return taken;
}

/**
 * rcl_service_del - listen no more
 * @service: was added; its @offer is not running any more afterwards
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
 * rcl_service_add - begin to listen
 * @service: filled in down to @service->offer; the reference that
 *	@service->put drops is the table's, also after a failure
 *
 * Who has no right on the link, or not yet, does not keep the name from others.
 * So several may be there; the first that has the right is the one.
 *
 * Context: may sleep.
 * Return: 0, -EADDRINUSE when somebody who has the right listens there, or
 * -ENOSPC when this user listens too often.
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

/* False when it ended meanwhile. */
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
 * rcl_service_offer - a peer connects
 * @link: name of its link, by which the link is known, too
 * @name: of the service
 *
 * Context: may sleep.
 * Return: a lessee with a reference, -ECONNREFUSED when nobody listens, or the
 * ERR_PTR of who does.
 */
struct rcl_lessee *rcl_service_offer(const char *link, const char *name)
{
	struct rcl_lessee *lessee = ERR_PTR(-ECONNREFUSED);
	struct rcl_service *service = NULL;

	while ((service = rcl_service_next(service, link, name))) {
		if (!service->may(service) ||
		    !rcl_service_ask(service, link, &lessee))
			continue;
		rcl_service_leave(service);
		break;
	}
	return lessee;
}
