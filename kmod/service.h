/* SPDX-License-Identifier: GPL-2.0 */
/* Services that somebody on this host listens on. */
#ifndef RCL_SERVICE_H
#define RCL_SERVICE_H

#include <linux/list.h>
#include <linux/uidgid.h>

#include <uapi/linux/rclink_dev.h>

struct rcl_lessee;

/**
 * struct rcl_service - somebody listens
 * @node: in the table
 * @link: name of the link
 * @name: of the service
 * @user: who listens
 * @may: has who listens the right to use the link now? May sleep
 * @offer: returns a lessee with a reference for a peer that connects over that
 *	link, or an ERR_PTR; may sleep
 */
struct rcl_service {
	struct list_head node;
	char link[RCLINK_DEV_LINK_LEN];
	char name[RCLINK_DEV_SERVICE_LEN];
	kuid_t user;
	bool (*may)(const struct rcl_service *service);
	struct rcl_lessee *(*offer)(struct rcl_service *service,
				    const char *link);
};

int rcl_service_add(struct rcl_service *service);
void rcl_service_del(struct rcl_service *service);
struct rcl_lessee *rcl_service_offer(const char *link, const char *name);

#endif /* RCL_SERVICE_H */
