// SPDX-License-Identifier: GPL-2.0
/*
 * The table of links and their references. The table holds one; whoever looks a
 * link up holds another until the end of its call. Deletion takes the name from
 * the link, asks its work item to end everything, takes the link out of the
 * table, and drops that one's reference; the last reference is dropped in
 * process context, when nobody can find the link and its work item has nothing
 * left to do.
 */
#include "link.h"

#include <linux/hashtable.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/xarray.h>

#include "device.h"
#include "epoch.h"
#include "event.h"
#include "recorder.h"
#include "state.h"

#define RCL_LINKS_BITS	8

/*
 * Protects all below, for those who create or delete links. A lookup does not
 * take it: anybody may do one, and nobody is to wait for one that gets no CPU.
 */
static DEFINE_MUTEX(rcl_links_lock);
/* Protects rcl_links_by_name against lookups. */
static DEFINE_SPINLOCK(rcl_names_lock);
static DEFINE_HASHTABLE(rcl_links_by_name, RCL_LINKS_BITS);
/* Has a lock of its own, for lookups. */
static DEFINE_XARRAY_ALLOC1(rcl_links_by_id);
/* Deleted, but not reaped yet. */
static HLIST_HEAD(rcl_links_ending);
static unsigned int rcl_links_generation;
static bool rcl_links_closed;
static u32 rcl_links_next_id;

/*
 * An emulated host stands still for longer than any peer should be allowed to:
 * its links need another default, whoever creates them.
 */
static u32 rcl_link_heartbeat = RCL_HEARTBEAT_MS;

static int rcl_link_set_heartbeat(const char *val,
				  const struct kernel_param *kp)
{
	struct rcl_policy_change change = { .mask = BIT(RCL_P_HEARTBEAT) };
	const char *why;
	int ret;

	ret = kstrtou32(val, 0, &change.to.v[RCL_P_HEARTBEAT]);
	if (!ret)
		ret = rcl_policy_check(&change, &why);
	if (!ret)
		WRITE_ONCE(rcl_link_heartbeat, change.to.v[RCL_P_HEARTBEAT]);
	return ret;
}

static const struct kernel_param_ops rcl_link_heartbeat_ops = {
	.set = rcl_link_set_heartbeat,
	.get = param_get_uint,
};

module_param_cb(heartbeat, &rcl_link_heartbeat_ops, &rcl_link_heartbeat, 0644);
MODULE_PARM_DESC(heartbeat, "Heartbeat interval of new links in ms, 0 for none");

static u32 rcl_link_hash(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

static struct rcl_link *rcl_link_find_locked(const char *name)
{
	struct rcl_link *link;

	lockdep_assert(lockdep_is_held(&rcl_links_lock) ||
		       lockdep_is_held(&rcl_names_lock));
	hash_for_each_possible(rcl_links_by_name, link, node,
			       rcl_link_hash(name))
		if (!strcmp(link->name, name))
			return link;
	return NULL;
}

/**
 * rcl_link_get - look up a link
 * @name: of the link
 *
 * Context: process context.
 * Return: the link with a reference, or NULL.
 */
struct rcl_link *rcl_link_get(const char *name)
{
	struct rcl_link *link;

	spin_lock(&rcl_names_lock);
	link = rcl_link_find_locked(name);
	if (link)
		kref_get(&link->ref);
	spin_unlock(&rcl_names_lock);
	return link;
}

/**
 * rcl_link_policy - read the policy of a link
 * @name: of the link
 * @policy: set, if the link exists
 *
 * Context: process context; leaves no reference that somebody must drop.
 * Return: false if there is no link of that name.
 */
bool rcl_link_policy(const char *name, struct rcl_policy *policy)
{
	struct rcl_link *link;

	spin_lock(&rcl_names_lock);
	link = rcl_link_find_locked(name);
	if (link)
		rcl_link_read_policy(link, policy);
	spin_unlock(&rcl_names_lock);
	return link;
}

static void rcl_link_free(struct rcl_link *link)
{
	kfree(link->record);
	free_percpu(link->traffic);
	kfree(link);
}

static struct rcl_link *rcl_link_new(const char *name)
{
	struct rcl_link *link = kzalloc(sizeof(*link), GFP_KERNEL);

	if (!link)
		return NULL;
	link->traffic = alloc_percpu(struct rcl_traffic);
	link->record = kzalloc(sizeof(*link->record), GFP_KERNEL);
	if (!link->traffic || !link->record) {
		rcl_link_free(link);
		return NULL;
	}
	strscpy(link->name, name, sizeof(link->name));
	return link;
}

static void rcl_link_release(struct kref *ref)
{
	struct rcl_link *link = container_of(ref, struct rcl_link, ref);

	rcl_life_destroy(link);
	rcl_link_free(link);
}

/**
 * rcl_link_put - drop a reference
 * @link: may be freed
 *
 * Context: may sleep.
 */
void rcl_link_put(struct rcl_link *link)
{
	kref_put(&link->ref, rcl_link_release);
}

/*
 * If no port is named, any port of the device may do, because one may be
 * InfiniBand and another RoCE. If none does, the first one says why.
 */
static int rcl_link_check_ports(const struct rcl_policy *policy,
				const char **why)
{
	int ret = rcl_dev_check(policy, 1, why), next = ret;
	const char *other;
	u32 port;

	for (port = 2; next && next != -ENODEV; port++)
		next = rcl_dev_check(policy, port, &other);
	if (!next)
		*why = NULL;
	return next ? ret : 0;
}

static int rcl_link_check_policy(const struct rcl_policy *policy,
				 const char **why)
{
	u32 port = policy->v[RCL_P_PORT];
	int ret;

	ret = rcl_policy_agrees(policy, why);
	if (ret || !policy->device[0])
		return ret;
	return port ? rcl_dev_check(policy, port, why) :
		      rcl_link_check_ports(policy, why);
}

static int rcl_link_insert_locked(struct rcl_link *link, const char **why)
{
	int ret;

	lockdep_assert_held(&rcl_links_lock);
	if (rcl_links_closed) {
		*why = "the module is being unloaded";
		return -ESHUTDOWN;
	}
	if (rcl_link_find_locked(link->name)) {
		*why = "name: there is a link of that name already";
		return -EEXIST;
	}
	ret = xa_alloc_cyclic(&rcl_links_by_id, &link->id, link, xa_limit_31b,
			      &rcl_links_next_id, GFP_KERNEL);
	if (ret < 0)
		return ret;
	spin_lock(&rcl_names_lock);
	hash_add(rcl_links_by_name, &link->node, rcl_link_hash(link->name));
	spin_unlock(&rcl_names_lock);
	rcl_links_generation++;
	return 0;
}

/*
 * The name is free at once. The link stays in the table, with a reference,
 * until it has ended: its epoch, too, must end when the host sleeps or was
 * copied. Listings skip it.
 */
static void rcl_link_remove_locked(struct rcl_link *link)
{
	lockdep_assert_held(&rcl_links_lock);
	spin_lock(&rcl_names_lock);
	hash_del(&link->node);
	spin_unlock(&rcl_names_lock);
	rcl_links_generation++;
	hlist_add_head(&link->node, &rcl_links_ending);
	rcl_inbox_end(link);
}

/*
 * Drops those that hold nothing any more. A deleter that was killed comes here
 * before its own link has ended.
 */
static void rcl_link_reap(void)
{
	struct rcl_link *link;
	struct hlist_node *next;
	HLIST_HEAD(ended);

	mutex_lock(&rcl_links_lock);
	hlist_for_each_entry_safe(link, next, &rcl_links_ending, node)
		if (completion_done(&link->ended)) {
			hlist_del(&link->node);
			xa_erase(&rcl_links_by_id, link->id);
			hlist_add_head(&link->node, &ended);
		}
	mutex_unlock(&rcl_links_lock);
	hlist_for_each_entry_safe(link, next, &ended, node)
		rcl_link_put(link);
}

/**
 * rcl_link_create - create an idle link
 * @name: of the link
 * @change: what differs from the default policy
 * @why: set to a sentence when the link is refused
 *
 * Context: may sleep.
 * Return: 0, -EINVAL, -EEXIST, -ENODEV, -EOPNOTSUPP, -ESHUTDOWN or -ENOMEM.
 */
int rcl_link_create(const char *name, const struct rcl_policy_change *change,
		    const char **why)
{
	struct rcl_link *link;
	int ret;

	ret = rcl_policy_check_name(name, why);
	if (!ret)
		ret = rcl_policy_check(change, why);
	if (ret)
		return ret;

	/* Nobody else may delete one for long. */
	rcl_link_reap();
	link = rcl_link_new(name);
	if (!link)
		return -ENOMEM;
	/* The first reference is the table's, the second is ours. */
	kref_init(&link->ref);
	kref_get(&link->ref);
	rcl_life_create(link);
	rcl_policy_default(&link->policy);
	link->policy.v[RCL_P_HEARTBEAT] = READ_ONCE(rcl_link_heartbeat);
	rcl_policy_apply(&link->policy, change);
	ret = rcl_link_check_policy(&link->policy, why);
	if (ret)
		goto err_free;

	mutex_lock(&rcl_links_lock);
	ret = rcl_link_insert_locked(link, why);
	/* Sent here, so that DELETED cannot come first. */
	if (!ret)
		rcl_state_event(link->live, RCLINK_EVENT_KIND_CREATED);
	mutex_unlock(&rcl_links_lock);
	if (ret)
		goto err_free;
	rcl_link_put(link);
	return 0;

err_free:
	rcl_link_free(link);
	return ret;
}

/**
 * rcl_link_set - change the policy, for the next epoch or the next to connect
 * @name: of the link
 * @change: what changes
 * @why: set to a sentence when that is refused; then nothing has changed
 *
 * Context: may sleep.
 * Return: 0, -EINVAL, -ENOENT, -ENODEV, -EOPNOTSUPP or -ENOMEM.
 */
int rcl_link_set(const char *name, const struct rcl_policy_change *change,
		 const char **why)
{
	struct rcl_policy policy;
	struct rcl_link *link;
	int ret;

	ret = rcl_policy_check(change, why);
	if (ret)
		return ret;
	link = rcl_link_get(name);
	if (!link)
		return -ENOENT;

	rcl_link_read_policy(link, &policy);
	rcl_policy_apply(&policy, change);
	/* A right can be taken back even while the device is away. */
	if (change->device || change->mask & ~RCL_POLICY_ACCESS)
		ret = rcl_link_check_policy(&policy, why);
	if (ret)
		goto out_put;
	/* Somebody else may have changed the other half meanwhile. */
	spin_lock_irq(&link->lock);
	policy = link->policy;
	rcl_policy_apply(&policy, change);
	ret = rcl_policy_agrees(&policy, why);
	if (!ret)
		link->policy = policy;
	spin_unlock_irq(&link->lock);
out_put:
	rcl_link_put(link);
	return ret;
}

/**
 * rcl_link_delete - tear a link down and forget it
 * @name: of the link
 *
 * The name is free at once. A caller that is killed while waiting leaves the
 * link to end by itself.
 *
 * Context: may sleep, for a goodbye and a drain.
 * Return: 0, -ENOENT, or -EINTR.
 */
int rcl_link_delete(const char *name)
{
	struct rcl_link *link;
	int ret;

	mutex_lock(&rcl_links_lock);
	link = rcl_link_find_locked(name);
	if (link) {
		kref_get(&link->ref);
		rcl_link_remove_locked(link);
	}
	mutex_unlock(&rcl_links_lock);
	if (!link)
		return -ENOENT;
	ret = wait_for_completion_killable(&link->ended);
	rcl_link_put(link);
	rcl_link_reap();
	return ret ? -EINTR : 0;
}

/**
 * rcl_link_request - have a link do something
 * @name: of the link
 * @req: the caller holds a reference
 *
 * Context: may sleep, see rcl_inbox_request().
 * Return: the result (@req->why explains most of them), -ENOENT or -EINTR.
 */
int rcl_link_request(const char *name, struct rcl_request *req)
{
	struct rcl_link *link;
	int ret;

	link = rcl_link_get(name);
	if (!link)
		return -ENOENT;
	ret = rcl_inbox_request(link, req);
	rcl_link_put(link);
	return ret ? : req->ret;
}

/**
 * rcl_link_ping - queue a request for round trips
 * @name: of the link
 * @ping: on success, handed back by its done() later
 *
 * Return: 0, -ENOENT, or -EBUSY when too many wait already.
 */
int rcl_link_ping(const char *name, struct rcl_ping *ping)
{
	struct rcl_link *link;
	int ret;

	link = rcl_link_get(name);
	if (!link)
		return -ENOENT;
	ret = rcl_inbox_ask_ping(link, ping);
	rcl_link_put(link);
	return ret;
}

/*
 * The DELETED event is sent only once a link is dead: of one that is not dead,
 * no event up to event_seq was DELETED.
 */
static int rcl_link_read(struct rcl_link *link, struct rcl_link_info *info)
{
	const struct rcl_slot *live;
	bool dead;

	info->event_seq = rcl_event_last();
	strscpy(info->name, link->name, sizeof(info->name));
	info->id = link->id;
	spin_lock_irq(&link->lock);
	dead = link->dead;
	live = link->live;
	info->policy = link->policy;
	info->state = live->state;
	info->reason = live->reason;
	info->epoch = live->number;
	info->unwanted = live->state == RCLINK_LINK_STATE_UP &&
			 link->unwanted == live->number ? live->number : 0;
	info->standby = link->next->state;
	info->standby_epoch = link->next->epoch ? link->next->number : 0;
	info->role = live->role;
	memcpy(info->peer, live->peer, sizeof(info->peer));
	info->used = live->used;
	rcl_stats_read(&info->stats, &link->stats);
	info->has_local = live->epoch;
	info->has_remote = live->epoch && live->used.mtu;
	if (info->has_local)
		info->local = live->epoch->local;
	if (info->has_remote)
		info->remote = live->epoch->remote;
	spin_unlock_irq(&link->lock);
	rcl_traffic_read(&info->traffic, link->traffic);
	return dead ? -ENOENT : 0;
}

/**
 * rcl_link_info - look at one link
 * @name: of the link
 * @info: filled in
 *
 * Return: 0 or -ENOENT.
 */
int rcl_link_info(const char *name, struct rcl_link_info *info)
{
	struct rcl_link *link;
	int ret;

	link = rcl_link_get(name);
	if (!link)
		return -ENOENT;
	ret = rcl_link_read(link, info);
	rcl_link_put(link);
	return ret;
}

/**
 * rcl_link_get_behind - get the links one after the other
 * @id: of the previous link, 0 for the first; set to that of the link found
 *
 * Context: process context.
 * Return: the link with a reference, or NULL after the last one.
 */
struct rcl_link *rcl_link_get_behind(unsigned long *id)
{
	struct rcl_link *link;

	/* The table's reference goes once the link is not here any more. */
	xa_lock(&rcl_links_by_id);
	link = xa_find_after(&rcl_links_by_id, id, ULONG_MAX, XA_PRESENT);
	if (link)
		kref_get(&link->ref);
	xa_unlock(&rcl_links_by_id);
	return link;
}

/**
 * rcl_link_info_next - look at the links one after the other
 * @after: id of the last one, 0 for the first call
 * @info: filled in
 *
 * Return: 0, or -ENOENT after the last one.
 */
int rcl_link_info_next(u32 after, struct rcl_link_info *info)
{
	unsigned long id = after;
	struct rcl_link *link;
	int ret = -ENOENT;

	while (ret && (link = rcl_link_get_behind(&id))) {
		ret = rcl_link_read(link, info);
		rcl_link_put(link);
	}
	return ret;
}

/**
 * rcl_link_note - put a text into the record of a link
 * @name: of the link
 * @text: at most RCLINK_NOTE_MAX bytes; copied
 * @why: set to a sentence when the text is refused
 *
 * Context: may sleep.
 * Return: 0, -ENOENT, -EINVAL or -ENOMEM.
 */
int rcl_link_note(const char *name, const char *text, const char **why)
{
	struct rcl_link *link;
	int ret;

	if (!*text) {
		*why = "text: it is empty";
		return -EINVAL;
	}
	link = rcl_link_get(name);
	if (!link)
		return -ENOENT;
	ret = rcl_recorder_note(link, text);
	rcl_link_put(link);
	return ret;
}

/**
 * rcl_link_exports - which regions are exported over a link?
 * @name: of the link
 * @list: they are added to it; unchanged if there is no such link
 *
 * Context: may sleep.
 */
void rcl_link_exports(const char *name, struct rcl_announce_list *list)
{
	struct rcl_link *link;

	link = rcl_link_get(name);
	if (!link)
		return;
	rcl_export_list(&link->exports, list);
	rcl_link_put(link);
}

/**
 * rcl_link_generation - has the set of links changed?
 *
 * Return: a number that differs after each creation and deletion.
 */
unsigned int rcl_link_generation(void)
{
	return READ_ONCE(rcl_links_generation);
}

/**
 * rcl_link_owner_gone - give up the links that a socket was bringing up
 * @owner: port ID of the netlink socket that was closed
 *
 * Context: may sleep.
 */
void rcl_link_owner_gone(u32 owner)
{
	struct rcl_link *link;
	unsigned long id = 0;

	while ((link = rcl_link_get_behind(&id))) {
		rcl_inbox_owner_gone(link, owner);
		rcl_link_put(link);
	}
}

static struct rcl_link *rcl_link_next_ending(void)
{
	struct rcl_link *link;

	mutex_lock(&rcl_links_lock);
	link = hlist_entry_safe(rcl_links_ending.first, struct rcl_link, node);
	if (link)
		hlist_del(&link->node);
	mutex_unlock(&rcl_links_lock);
	return link;
}

/**
 * rcl_link_exit - delete all links, in parallel, and create no more
 *
 * Context: may sleep.
 */
void rcl_link_exit(void)
{
	struct rcl_link *link;
	unsigned long id;

	mutex_lock(&rcl_links_lock);
	rcl_links_closed = true;
	xa_for_each(&rcl_links_by_id, id, link)
		if (!rcl_inbox_is_dead(link))
			rcl_link_remove_locked(link);
	mutex_unlock(&rcl_links_lock);
	while ((link = rcl_link_next_ending())) {
		wait_for_completion(&link->ended);
		xa_erase(&rcl_links_by_id, link->id);
		rcl_link_put(link);
	}
	/* Empty nodes stay behind when others could not be allocated. */
	xa_destroy(&rcl_links_by_id);
}
