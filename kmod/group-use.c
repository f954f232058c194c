// SPDX-License-Identifier: GPL-2.0
#include "group-use.h"

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "access.h"
#include "group-base.h"

#define RCL_GROUP_SEND_MS	1000	/* time that a device has per packet */

static bool rcl_group_may(struct rcl_group *group, const struct cred *cred)
{
	struct rcl_access access;

	spin_lock_irq(&group->note_lock);
	access = group->conf.access;
	spin_unlock_irq(&group->note_lock);
	return rcl_access_may(&access, cred, true);
}

/**
 * rcl_group_use - begin to hear a group, and to be able to send to it
 * @name: of the group
 * @cred: credentials of the consumer
 * @listener: its service and its functions are set, which may be called from
 *	now on
 * @group: set before any of them is called
 *
 * Context: may sleep.
 * Return: 0 with a reference, -ENODEV for no such group, -EACCES, -ENOSPC when
 * too many use it, or -EINTR for a fatal signal.
 */
int rcl_group_use(const char *name, const struct cred *cred,
		  struct rcl_group_listener *listener, struct rcl_group **group)
{
	int ret;

	*group = rcl_group_get(name);
	ret = PTR_ERR_OR_ZERO(*group);
	if (ret)
		goto out;
	ret = -EACCES;
	if (rcl_group_may(*group, cred))
		ret = rcl_group_hear_enter(&(*group)->hear, listener);
	if (ret)
		rcl_group_put(*group);
out:
	/* There is no such group, or it was deleted just now. */
	return ret == -ENOENT || ret == -ESHUTDOWN ? -ENODEV : ret;
}

/**
 * rcl_group_unuse - the mirror of rcl_group_use()
 * @group: in use
 * @listener: hears nothing more
 *
 * Context: may sleep.
 */
void rcl_group_unuse(struct rcl_group *group,
		     struct rcl_group_listener *listener)
{
	rcl_group_hear_leave(&group->hear, listener);
	rcl_group_put(group);
}

/**
 * rcl_group_max - how much data does a message have room for?
 * @group: in use
 * @service: service that it is for
 *
 * Context: any.
 * Return: bytes; if the group is down, those of when it last joined.
 */
u32 rcl_group_max(const struct rcl_group *group, const char *service)
{
	return READ_ONCE(group->mtu) - RCL_TALK_ROOM - strlen(service);
}

static int rcl_group_send_locked(struct rcl_group *group, const char *service,
				 const u8 *data, u32 len)
{
	struct rcl_mcast_slot *slot;
	int ret;

	lockdep_assert_held(&group->send_lock);
	if (!group->mcast)
		return -ENETDOWN;
	if (len > rcl_group_max(group, service))
		return -EMSGSIZE;
	slot = rcl_mcast_begin(group->mcast, false);
	if (!slot)
		return -EBUSY;
	ret = rcl_talk_make_data(&group->talk, slot->buf, service, data, len);
	if (ret < 0)
		return -ENETDOWN;
	if (!rcl_mcast_send(slot, ret))
		return 0;
	group->up.fail(&group->up, RCLINK_DOWN_REASON_LOCAL_ERROR, 0, 0,
		       RCL_QP_NONE);
	return -ENETDOWN;
}

static bool rcl_group_is_free(struct rcl_group *group)
{
	bool is_free;

	spin_lock_bh(&group->send_lock);
	is_free = !group->mcast || rcl_mcast_has_room(group->mcast);
	spin_unlock_bh(&group->send_lock);
	return is_free;
}

static long rcl_group_wait(struct rcl_group *group, long left)
{
	return wait_event_interruptible_timeout(group->room,
						rcl_group_is_free(group), left);
}

/**
 * rcl_group_send - send a message to all other members
 * @group: in use
 * @service: service that it is for
 * @data: the message
 * @len: bytes
 *
 * Afterwards, all that is known of the message is that the device has it. While
 * as many are under way as may be, this waits for one of them.
 *
 * Context: may sleep; can be interrupted.
 * Return: 0, -EMSGSIZE, -ENETDOWN when it is down, or has no key, -EBUSY when
 * the device takes too long, or -EINTR.
 */
int rcl_group_send(struct rcl_group *group, const char *service,
		   const u8 *data, u32 len)
{
	long left = msecs_to_jiffies(RCL_GROUP_SEND_MS);
	int ret;

	for (;;) {
		spin_lock_bh(&group->send_lock);
		ret = rcl_group_send_locked(group, service, data, len);
		/* This lets the tasklet of a software device run at once. */
		spin_unlock_bh(&group->send_lock);
		if (ret != -EBUSY || !left)
			return ret;
		left = rcl_group_wait(group, left);
		if (left < 0)
			return -EINTR;
	}
}
