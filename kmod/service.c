// SPDX-License-Identifier: GPL-2.0
#include "service.h"

#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/string.h>

#define RCL_SERVICES_MAX	4096	/* of a user: links look through all */

static DEFINE_MUTEX(rcl_services_lock);	/* protects rcl_services */
static LIST_HEAD(rcl_services);

/*
 * Who has no right on the link, or not yet, does not keep the name from others.
 * So several may be here; the first that has the right is the one.
 */
static struct rcl_service *rcl_service_find_locked(const char *link,
						   const char *name)
{
	struct rcl_service *service;

	lockdep_assert_held(&rcl_services_lock);
	list_for_each_entry(service, &rcl_services, node)
		if (!strcmp(service->link, link) &&
		    !strcmp(service->name, name) && service->may(service))
			return service;
	return NULL;
}

static u32 rcl_service_count_locked(kuid_t user)
{
	struct rcl_service *service;
	u32 n = 0;

	lockdep_assert_held(&rcl_services_lock);
	list_for_each_entry(service, &rcl_services, node)
		n += uid_eq(service->user, user);
	return n;
}

/**
 * rcl_service_add - begin to listen
 * @service: filled in; stays in the table until rcl_service_del()
 *
 * Context: may sleep.
 * Return: 0, -EADDRINUSE when somebody who has the right listens there, or
 * -ENOSPC when this user listens too often.
 */
int rcl_service_add(struct rcl_service *service)
{
	int ret = 0;

	mutex_lock(&rcl_services_lock);
	if (rcl_service_count_locked(service->user) >= RCL_SERVICES_MAX)
		ret = -ENOSPC;
	else if (rcl_service_find_locked(service->link, service->name))
		ret = -EADDRINUSE;
	else
		list_add_tail(&service->node, &rcl_services);
	mutex_unlock(&rcl_services_lock);
	return ret;
}

/**
 * rcl_service_del - listen no more
 * @service: was added; its @offer is not running any more afterwards
 *
 * Context: may sleep.
 */
void rcl_service_del(struct rcl_service *service)
{
	mutex_lock(&rcl_services_lock);
	list_del(&service->node);
	mutex_unlock(&rcl_services_lock);
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
	struct rcl_service *service;

	mutex_lock(&rcl_services_lock);
	service = rcl_service_find_locked(link, name);
	if (service)
		lessee = service->offer(service, link);
	mutex_unlock(&rcl_services_lock);
	return lessee;
}
