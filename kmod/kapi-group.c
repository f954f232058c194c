// SPDX-License-Identifier: GPL-2.0
/*
 * Groups of kernel modules: see include/rclink.h. The callbacks run one at a
 * time, and the end of a membership waits for its callbacks (group-hear.c).
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <rclink.h>

#include "group-use.h"
#include "kapi.h"
#include "mcast.h"

/**
 * struct rclink_member - a group as a module uses it
 * @listener: its listener in the group
 * @group: the group
 * @ops: of the consumer
 * @ctx: for @ops
 * @over: the group is gone
 */
struct rclink_member {
	struct rcl_group_listener listener;
	struct rcl_group *group;
	const struct rclink_group_ops *ops;
	void *ctx;
	bool over;
};

static struct rclink_member *
rcl_kapi_member_of(struct rcl_group_listener *listener)
{
	return container_of(listener, struct rclink_member, listener);
}

static bool rcl_kapi_member_hear(struct rcl_group_listener *listener,
				 const struct rcl_heard *heard)
{
	struct rclink_member *member = rcl_kapi_member_of(listener);

	BUILD_BUG_ON(RCLINK_GROUP_NOBODY != RCL_GROUP_NOBODY);
	BUILD_BUG_ON(RCLINK_GROUP_LEN_MAX != RCL_MCAST_MTU);
	return member->ops->received(member, member->ctx, heard->data,
				     heard->len, heard->sender, heard->gid);
}

static void rcl_kapi_member_ended(struct rcl_group_listener *listener)
{
	struct rclink_member *member = rcl_kapi_member_of(listener);

	WRITE_ONCE(member->over, true);
	member->ops->ended(member, member->ctx);
}

/**
 * rclink_group_join - use a group of this host
 * @name: of the group
 * @service: name: what is sent is for members that joined with the same one, on
 *	whatever host, and no other messages come
 * @ops: the caller's, constant
 * @ctx: for @ops
 *
 * Context: may sleep. Not from a callback of rclink, and not with the RTNL lock
 * held.
 * Return: the membership, or an ERR_PTR: -ENODEV for no such group, -ENOSPC if
 * too many use it, -EINVAL for a service name that is empty or too long, or for
 * @ops without a callback, -EINTR for a fatal signal, or -ENOMEM.
 */
struct rclink_member *rclink_group_join(const char *name, const char *service,
					const struct rclink_group_ops *ops,
					void *ctx)
{
	struct rclink_member *member;
	int ret;

	if (!rcl_kapi_is_name(service, RCLINK_DEV_SERVICE_LEN) ||
	    !ops->received || !ops->ended)
		return ERR_PTR(-EINVAL);
	member = kzalloc(sizeof(*member), GFP_KERNEL);
	if (!member)
		return ERR_PTR(-ENOMEM);
	member->listener.hear = rcl_kapi_member_hear;
	member->listener.ended = rcl_kapi_member_ended;
	strscpy(member->listener.service, service,
		sizeof(member->listener.service));
	member->ops = ops;
	member->ctx = ctx;
	ret = rcl_group_use(name, NULL, &member->listener, &member->group);
	if (!ret)
		return member;
	kfree(member);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(rclink_group_join);

/**
 * rclink_group_leave - the mirror of rclink_group_join()
 * @member: not used any more except by its callbacks; its group may be gone
 *
 * Afterwards no callback runs, and @member is gone. Work that callbacks have
 * queued must not use @member from before this call on, and is to be ended
 * after it.
 *
 * Context: may sleep, while a callback runs. Not from a callback of rclink.
 */
void rclink_group_leave(struct rclink_member *member)
{
	rcl_group_unuse(member->group, &member->listener);
	kfree(member);
}
EXPORT_SYMBOL_GPL(rclink_group_leave);

/**
 * rclink_group_max - how long may a message be?
 * @member: any
 *
 * The limit is for what is sent: what comes in may be longer, up to
 * RCLINK_GROUP_LEN_MAX. It may change when the group was down and is joined
 * again.
 *
 * Context: any, also a callback of @member.
 * Return: bytes; while the group is down, as when it was joined last.
 */
u32 rclink_group_max(const struct rclink_member *member)
{
	return rcl_group_max(member->group, member->listener.service);
}
EXPORT_SYMBOL_GPL(rclink_group_max);

/**
 * rclink_group_send - send a message to the service on other hosts
 * @member: any
 * @data: the message, which is copied
 * @len: bytes
 *
 * After success all that is known is that the device has the message. Consumers
 * on this host do not hear it. While as many as possible are under way, this
 * waits, one second at most.
 *
 * Context: may sleep; a signal interrupts it. Not from a callback of rclink,
 * and not with the RTNL lock held.
 * Return: 0, -EMSGSIZE beyond rclink_group_max(), -ENETDOWN while the group is
 * down or has no key, -EBUSY if the device takes longer than that, -EINTR, or
 * -ESHUTDOWN if the group is gone.
 */
int rclink_group_send(struct rclink_member *member, const void *data, u32 len)
{
	if (READ_ONCE(member->over))
		return -ESHUTDOWN;
	return rcl_group_send(member->group, member->listener.service, data,
			      len);
}
EXPORT_SYMBOL_GPL(rclink_group_send);
