// SPDX-License-Identifier: GPL-2.0
/*
 * The table of groups, and the life of each: joined, or down with a reason and
 * joined again when possible. When down, a group holds nothing of a device, or
 * is asking a subnet manager through it, but keeps its key: what it sends under
 * that later has other nonces.
 */
#include "group.h"

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "group-ask.h"
#include "group-base.h"
#include "group-join.h"
#include "group-tell.h"
#include "link.h"
#include "offer.h"
#include "reason.h"

#define RCL_GROUP_AGAIN_MS	2000	/* between two attempts to join */
#define RCL_GROUP_ANSWER_MS	10000	/* for the subnet manager to answer */

static DEFINE_MUTEX(rcl_groups_lock);	/* protects the four below */
static LIST_HEAD(rcl_groups);
static unsigned int rcl_groups_generation;
static bool rcl_groups_closed;
static u32 rcl_groups_last_id;

static void rcl_group_kick(struct rcl_upcall *up)
{
	struct rcl_group *group = container_of(up, struct rcl_group, up);

	mod_delayed_work(system_unbound_wq, &group->work, 0);
	wake_up(&group->room);
}

static void rcl_group_fail(struct rcl_upcall *up, u32 reason, u32 wc_status,
			   u32 vendor_err, u32 qp)
{
	struct rcl_group *group = container_of(up, struct rcl_group, up);
	unsigned long flags;

	spin_lock_irqsave(&group->note_lock, flags);
	if (!group->note.reason)
		group->note = (struct rcl_reason){
			reason, wc_status, vendor_err
		};
	spin_unlock_irqrestore(&group->note_lock, flags);
	rcl_group_kick(up);
}

static struct rcl_reason rcl_group_take_note(struct rcl_group *group)
{
	struct rcl_reason note;

	spin_lock_irq(&group->note_lock);
	note = group->note;
	memset(&group->note, 0, sizeof(group->note));
	spin_unlock_irq(&group->note_lock);
	return note;
}

static void rcl_group_try(struct rcl_group *group)
{
	const char *why = NULL;
	int ret;

	ret = rcl_group_join(group, &why);
	if (ret != -EINPROGRESS)
		group->refusal = ret ? why : NULL;
}

static void rcl_group_work(struct work_struct *work)
{
	struct rcl_group *group =
		container_of(to_delayed_work(work), struct rcl_group, work);
	struct rcl_reason note;
	u32 reason;

	mutex_lock(&group->lock);
	/* A group still being created: its creator kicks us when it is done. */
	if (group->dead)
		goto out_unlock;
	reason = group->reason.reason;
	note = rcl_group_take_note(group);
	if (group->attached && note.reason) {
		rcl_group_leave(group);
		/* Failures that leaving has caused do not count. */
		rcl_group_take_note(group);
		group->reason = note;
		group->refusal = NULL;
	} else if (!group->mcast) {
		rcl_group_try(group);
	}
	/* No reason while joined; a failed try may have set another. */
	if (group->reason.reason != reason)
		rcl_group_tell(group, RCLINK_EVENT_KIND_CHANGED);
	/*
	 * Even if leaving has queued it to run at once. A group that waits for
	 * the subnet manager is kicked, which this would delay.
	 */
	if (!group->attached)
		mod_delayed_work(system_unbound_wq, &group->work,
				 msecs_to_jiffies(RCL_GROUP_AGAIN_MS));
out_unlock:
	mutex_unlock(&group->lock);
}

static void rcl_group_rekeyed(struct rcl_keeper *keeper, bool now)
{
	struct rcl_group *group =
		container_of(keeper, struct rcl_group, keeper);

	rcl_talk_install(&group->talk, &keeper->grant, now);
}

/* What is exported over the links by which the group shares its key. */
static void rcl_group_collect(struct rcl_group *group)
{
	struct rcl_keeper_links *links = &group->told;
	struct rcl_announce_list *list = group->exported;
	u32 i;

	list->total = 0;
	list->n = 0;
	rcl_keeper_read(&group->keeper, links);
	/* A host that gets the key gives it to nobody. */
	if (group->conf.from[0])
		strscpy(links->name[links->n++], group->conf.from,
			sizeof(links->name[0]));
	for (i = 0; i < links->n; i++)
		rcl_link_exports(links->name[i], list);
	rcl_offer_list(links, list);
	rcl_announce_turn(list, rcl_announce_room(READ_ONCE(group->mtu) -
						  RCL_GROUP_ROOM),
			  &group->announce);
}

static int rcl_group_say_locked(struct rcl_group *group)
{
	struct rcl_mcast_slot *slot;
	int len;

	lockdep_assert_held(&group->send_lock);
	/* It may have joined again since, on a port with a smaller MTU. */
	if (group->announce.n > rcl_announce_room(group->mtu - RCL_GROUP_ROOM))
		return 0;
	slot = rcl_mcast_begin(group->mcast, true);
	if (!slot)
		return 0;
	len = rcl_talk_make(&group->talk, slot->buf, &group->announce);
	return len > 0 ? rcl_mcast_send(slot, len) : 0;
}

static void rcl_group_say(struct rcl_group *group)
{
	int ret = 0;

	spin_lock_bh(&group->send_lock);
	if (group->mcast)
		ret = rcl_group_say_locked(group);
	/* Before it can leave and join again: the new QP has not failed. */
	if (ret)
		rcl_group_fail(&group->up, RCLINK_DOWN_REASON_LOCAL_ERROR, 0,
			       0, RCL_QP_NONE);
	/* This lets the tasklet of a software device run at once. */
	spin_unlock_bh(&group->send_lock);
}

static void rcl_group_tick(struct work_struct *work)
{
	struct rcl_group *group =
		container_of(to_delayed_work(work), struct rcl_group, tick);

	rcl_talk_expire(&group->talk);
	if (group->conf.from[0])
		rcl_group_ask(group);
	rcl_group_collect(group);
	rcl_group_say(group);
	rcl_group_check_mtu(group);
	mutex_lock(&group->lock);
	if (!group->dead) {
		rcl_group_tell_key(group);
		queue_delayed_work(system_unbound_wq, &group->tick,
				   msecs_to_jiffies(RCL_GROUP_TICK_MS));
	}
	mutex_unlock(&group->lock);
}

static struct rcl_group *rcl_group_find_locked(const char *name)
{
	struct rcl_group *group;

	lockdep_assert_held(&rcl_groups_lock);
	list_for_each_entry(group, &rcl_groups, node)
		if (!strcmp(group->conf.name, name))
			return group;
	return NULL;
}

static struct rcl_group *rcl_group_new(const struct rcl_group_conf *conf)
{
	struct rcl_group *group;

	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!group)
		return NULL;
	group->exported = kmalloc(sizeof(*group->exported), GFP_KERNEL);
	if (!group->exported) {
		kfree(group);
		return NULL;
	}
	kref_init(&group->ref);
	group->conf = *conf;
	group->up.kick = rcl_group_kick;
	group->up.fail = rcl_group_fail;
	group->user.up = &group->up;
	group->sa.up = &group->up;
	group->dead = true;
	group->qkey = conf->addr.qkey;
	group->keeper.name = group->conf.name;
	group->keeper.rekeyed = rcl_group_rekeyed;
	rcl_talk_init(&group->talk);
	rcl_group_hear_init(&group->hear);
	init_waitqueue_head(&group->room);
	INIT_DELAYED_WORK(&group->work, rcl_group_work);
	INIT_DELAYED_WORK(&group->tick, rcl_group_tick);
	spin_lock_init(&group->note_lock);
	spin_lock_init(&group->send_lock);
	mutex_init(&group->lock);
	return group;
}

static void rcl_group_release(struct kref *ref)
{
	struct rcl_group *group = container_of(ref, struct rcl_group, ref);

	kfree(group->exported);
	kfree(group);
}

/**
 * rcl_group_get - look up a group
 * @name: of the group
 *
 * Context: may sleep.
 * Return: the group with a reference, or the ERR_PTR of -ENOENT, or of -EINTR
 * for a fatal signal: a device may take long while the table is locked.
 */
struct rcl_group *rcl_group_get(const char *name)
{
	struct rcl_group *group;

	if (mutex_lock_killable(&rcl_groups_lock))
		return ERR_PTR(-EINTR);
	group = rcl_group_find_locked(name);
	if (group)
		kref_get(&group->ref);
	mutex_unlock(&rcl_groups_lock);
	return group ? : ERR_PTR(-ENOENT);
}

static struct rcl_group *rcl_group_get_behind_locked(u32 id)
{
	struct rcl_group *group;

	lockdep_assert_held(&rcl_groups_lock);
	list_for_each_entry(group, &rcl_groups, node) {
		if (group->id <= id)
			continue;
		kref_get(&group->ref);
		return group;
	}
	return NULL;
}

/**
 * rcl_group_get_behind - get one group after the other, despite signals
 * @id: ID of the previous group, 0 for the first
 *
 * Context: may sleep.
 * Return: the group with a reference, or NULL after the last one.
 */
struct rcl_group *rcl_group_get_behind(u32 id)
{
	struct rcl_group *group;

	mutex_lock(&rcl_groups_lock);
	group = rcl_group_get_behind_locked(id);
	mutex_unlock(&rcl_groups_lock);
	return group;
}

/**
 * rcl_group_get_next - get one group after the other
 * @after: ID of the previous group, 0 for the first
 *
 * Context: may sleep.
 * Return: the group with a reference, or the ERR_PTR of -ENOENT after the last
 * one, or of -EINTR, as for rcl_group_get().
 */
struct rcl_group *rcl_group_get_next(u32 after)
{
	struct rcl_group *group;

	if (mutex_lock_killable(&rcl_groups_lock))
		return ERR_PTR(-EINTR);
	group = rcl_group_get_behind_locked(after);
	mutex_unlock(&rcl_groups_lock);
	return group ? : ERR_PTR(-ENOENT);
}

/**
 * rcl_group_put - drop a reference
 * @group: may be freed
 *
 * Context: any.
 */
void rcl_group_put(struct rcl_group *group)
{
	kref_put(&group->ref, rcl_group_release);
}

/* From now on, another group may have the name. */
static void rcl_group_remove_locked(struct rcl_group *group)
{
	lockdep_assert_held(&rcl_groups_lock);
	list_del(&group->node);
	rcl_groups_generation++;
	if (!group->conf.from[0])
		rcl_keeper_stop(&group->keeper);
}

/* Nobody can find the group any more. */
static void rcl_group_end(struct rcl_group *group)
{
	mutex_lock(&group->lock);
	group->dead = true;
	if (group->attached)
		rcl_group_leave(group);
	if (group->id)
		rcl_group_tell(group, RCLINK_EVENT_KIND_DELETED);
	mutex_unlock(&group->lock);
	cancel_delayed_work_sync(&group->tick);
	cancel_delayed_work_sync(&group->work);
	mutex_lock(&group->lock);
	rcl_group_ask_no_more(group);
	mutex_unlock(&group->lock);
	rcl_group_hear_close(&group->hear);
	rcl_talk_wipe(&group->talk);
	rcl_group_put(group);
}

static int rcl_group_check_name_locked(const char *name, const char **why)
{
	lockdep_assert_held(&rcl_groups_lock);
	if (rcl_groups_closed) {
		*why = "the module is being unloaded";
		return -ESHUTDOWN;
	}
	if (rcl_group_find_locked(name)) {
		*why = "name: there is a group of that name already";
		return -EEXIST;
	}
	return 0;
}

/* Checked before anything that takes long or that others may refuse. */
static int rcl_group_check_name(const char *name, const char **why)
{
	int ret;

	mutex_lock(&rcl_groups_lock);
	ret = rcl_group_check_name_locked(name, why);
	mutex_unlock(&rcl_groups_lock);
	return ret;
}

static int rcl_group_insert_locked(struct rcl_group *group,
				   const struct rcl_keeper_links *links,
				   const char **why)
{
	int ret;

	ret = rcl_group_check_name_locked(group->conf.name, why);
	if (ret)
		return ret;
	mutex_lock(&group->lock);
	ret = rcl_group_join(group, why);
	if (!ret) {
		group->dead = false;
		group->id = ++rcl_groups_last_id;
		rcl_group_tell(group, RCLINK_EVENT_KIND_CREATED);
		/* The device may have failed since it was attached. */
		rcl_group_kick(&group->up);
	}
	mutex_unlock(&group->lock);
	if (ret)
		return ret;
	list_add_tail(&group->node, &rcl_groups);
	rcl_groups_generation++;
	if (!group->conf.from[0])
		rcl_keeper_start(&group->keeper, group->qkey, links);
	queue_delayed_work(system_unbound_wq, &group->tick, 0);
	return 0;
}

static bool rcl_group_has_note(struct rcl_group *group)
{
	return READ_ONCE(group->note.reason);
}

/* Once the port has failed, no answer will come. */
static int rcl_group_await_answer(struct rcl_group *group, const char **why)
{
	unsigned long limit = msecs_to_jiffies(RCL_GROUP_ANSWER_MS);
	struct rcl_reason note;

	if (wait_event_killable_timeout(group->room,
					rcl_mcast_sa_has_answer(&group->sa) ||
					rcl_group_has_note(group),
					limit) < 0) {
		*why = "interrupted";
		return -EINTR;
	}
	if (rcl_mcast_sa_has_answer(&group->sa) || !rcl_group_has_note(group))
		return 0;
	note = rcl_group_take_note(group);
	*why = rcl_reason_text(&note);
	return note.reason == RCLINK_DOWN_REASON_DEVICE_REMOVED ? -ENODEV :
								  -ENETDOWN;
}

/* Waits for the subnet manager unlocked: nobody can find the group yet. */
static int rcl_group_prepare(struct rcl_group *group, const char **why)
{
	int ret;

	mutex_lock(&group->lock);
	ret = rcl_group_attach(group, why);
	mutex_unlock(&group->lock);
	if (ret || !rcl_mcast_sa_is_asked(&group->sa))
		return ret;
	return rcl_group_await_answer(group, why);
}

/**
 * rcl_group_create - create a group and join it
 * @conf: configuration of the group
 * @links: links that its key is for, if this host keeps it
 * @why: set to a sentence when it is refused
 *
 * Context: may sleep; takes the RTNL lock.
 * Return: 0, -EINVAL, -EINTR, -EEXIST, -ESHUTDOWN, -ENOMEM, -ETIMEDOUT when no
 * subnet manager answers, -ENODEV or -ENETDOWN when its port fails first, what
 * rcl_dev_attach() returns, or the errno of what refused.
 */
int rcl_group_create(const struct rcl_group_conf *conf,
		     const struct rcl_keeper_links *links, const char **why)
{
	struct rcl_group *group;
	int ret;

	ret = rcl_group_conf_check(conf, links, why);
	if (!ret)
		ret = rcl_group_check_name(conf->name, why);
	if (ret)
		return ret;
	/* A host that has just booted may not be able to draw a key yet. */
	if (wait_for_random_bytes()) {
		*why = "interrupted";
		return -EINTR;
	}
	group = rcl_group_new(conf);
	if (!group)
		return -ENOMEM;
	ret = rcl_group_prepare(group, why);
	if (!ret) {
		mutex_lock(&rcl_groups_lock);
		ret = rcl_group_insert_locked(group, links, why);
		mutex_unlock(&rcl_groups_lock);
	}
	if (ret)
		rcl_group_end(group);
	return ret == -EINPROGRESS ? -ETIMEDOUT : ret;
}

/**
 * rcl_group_delete - leave and forget a group
 * @name: of the group
 *
 * Context: may sleep, for flushes; takes the RTNL lock.
 * Return: 0 or -ENOENT.
 */
int rcl_group_delete(const char *name)
{
	struct rcl_group *group;

	mutex_lock(&rcl_groups_lock);
	group = rcl_group_find_locked(name);
	if (group)
		rcl_group_remove_locked(group);
	mutex_unlock(&rcl_groups_lock);
	if (!group)
		return -ENOENT;
	rcl_group_end(group);
	return 0;
}

static int rcl_group_set_key(struct rcl_group *group,
			     const struct rcl_keeper_change *change,
			     const char **why)
{
	if (!change->on.n && !change->off.n && !change->rekey)
		return 0;
	if (!group->conf.from[0])
		return rcl_keeper_set(&group->keeper, change, why);
	*why = "name: its key comes from another host; say that there";
	return -EINVAL;
}

/* The rights change only here, under the table's lock. */
static int rcl_group_set_locked(struct rcl_group *group,
				const struct rcl_group_change *change,
				const char **why)
{
	struct rcl_access access = group->conf.access;
	int ret;

	lockdep_assert_held(&rcl_groups_lock);
	if (change->owner)
		access.owner = change->access.owner;
	if (change->group)
		access.group = change->access.group;
	if (change->mode)
		access.mode = change->access.mode;
	ret = rcl_group_conf_check_access(&access, why);
	if (!ret)
		ret = rcl_group_set_key(group, &change->key, why);
	if (ret)
		return ret;
	spin_lock_irq(&group->note_lock);
	group->conf.access = access;
	spin_unlock_irq(&group->note_lock);
	return 0;
}

static bool rcl_group_changes_settings(const struct rcl_group_change *change)
{
	return change->key.on.n || change->key.off.n || change->owner ||
	       change->group || change->mode;
}

/* Not with the table locked, because the device may take long. */
static void rcl_group_tell_change(struct rcl_group *group,
				  const struct rcl_group_change *change)
{
	mutex_lock(&group->lock);
	if (!group->dead) {
		rcl_group_tell_key(group);
		if (rcl_group_changes_settings(change))
			rcl_group_tell(group, RCLINK_EVENT_KIND_SET);
	}
	mutex_unlock(&group->lock);
}

/**
 * rcl_group_set - change who may have a group's key or use the group
 * @name: of the group
 * @change: what is to change
 * @why: set to a sentence when it is refused
 *
 * Context: may sleep.
 * Return: 0, -ENOENT, -EINVAL also for a group whose key comes from elsewhere,
 * or what rcl_keeper_set() returns.
 */
int rcl_group_set(const char *name, const struct rcl_group_change *change,
		  const char **why)
{
	struct rcl_group *group;
	int ret;

	ret = rcl_group_conf_check_links(&change->key.on, why);
	if (ret)
		return ret;
	mutex_lock(&rcl_groups_lock);
	group = rcl_group_find_locked(name);
	ret = group ? rcl_group_set_locked(group, change, why) : -ENOENT;
	if (!ret)
		kref_get(&group->ref);
	mutex_unlock(&rcl_groups_lock);
	if (ret)
		return ret;
	rcl_group_tell_change(group, change);
	rcl_group_put(group);
	return 0;
}

/**
 * rcl_group_generation - has the set of groups changed?
 *
 * Return: a number that differs after each creation and deletion.
 */
unsigned int rcl_group_generation(void)
{
	return READ_ONCE(rcl_groups_generation);
}

/**
 * rcl_group_exit - delete all groups, and allow no new ones
 *
 * Context: may sleep.
 */
void rcl_group_exit(void)
{
	struct rcl_group *group, *next;
	LIST_HEAD(ending);

	mutex_lock(&rcl_groups_lock);
	rcl_groups_closed = true;
	list_for_each_entry_safe(group, next, &rcl_groups, node) {
		rcl_group_remove_locked(group);
		list_add(&group->node, &ending);
	}
	mutex_unlock(&rcl_groups_lock);
	list_for_each_entry_safe(group, next, &ending, node)
		rcl_group_end(group);
}
