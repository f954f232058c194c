/* SPDX-License-Identifier: GPL-2.0 */
/* Services that somebody on this host listens on. */
#ifndef RCL_SERVICE_H
#define RCL_SERVICE_H

#include <linux/list.h>
#include <linux/uidgid.h>

#include <uapi/linux/rclink_dev.h>

#include "lessee.h"

enum rcl_service_state {
	RCL_SERVICE_NEW,	/* no peer is offered to it yet */
	RCL_SERVICE_OPEN,
	RCL_SERVICE_ENDED,	/* somebody may still look at it */
};

/**
 * struct rcl_service - a listener of a service
 * @link: name of the link
 * @name: of the service
 * @user: who listens
 * @may: may the listener use the link now? May sleep
 * @offer: returns a lessee with a reference for a peer that connects over that
 *	link, or an ERR_PTR; may sleep
 * @put: drops a reference to it
 * @hash: of @link and @name
 * @node: in the table
 * @of_user: among those of @user
 * @users: those who look at it, and the listener
 * @offers: calls of @offer that are running
 * @state: its state
 */
struct rcl_service {
	char link[RCLINK_DEV_LINK_LEN];
	char name[RCLINK_DEV_SERVICE_LEN];
	kuid_t user;
	bool (*may)(const struct rcl_service *service);
	struct rcl_lessee *(*offer)(struct rcl_service *service,
				    const char *link);
	void (*put)(struct rcl_service *service);
	u32 hash;
	struct hlist_node node;
	struct hlist_node of_user;
	u32 users;
	struct rcl_errands offers;
	enum rcl_service_state state;
};

int rcl_service_add(struct rcl_service *service);
void rcl_service_del(struct rcl_service *service);
struct rcl_lessee *rcl_service_offer(const char *link, const char *name);

#endif /* RCL_SERVICE_H */
