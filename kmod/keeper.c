// SPDX-License-Identifier: GPL-2.0
#include "keeper.h"

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define RCL_KEEPER_MS	1000	/* between two numbers for one link */

/*
 * Protects rcl_keepers and all in it. Its holder does not lose the processor:
 * links wait for it, and anybody who asks takes it.
 */
static DEFINE_SPINLOCK(rcl_keepers_lock);
static LIST_HEAD(rcl_keepers);
static bool rcl_keepers_asleep;	/* no key is drawn */

static void rcl_keeper_draw(struct rcl_keeper *keeper, bool now)
{
	struct rcl_group_grant *grant = &keeper->grant;

	if (rcl_keepers_asleep)
		return;
	grant->age = rcl_group_seal_age();
	do {
		grant->id = get_random_u64();
	} while (!grant->id);
	get_random_bytes(grant->key, sizeof(grant->key));
	grant->sender = 0;
	keeper->next = 1;
	keeper->rekeyed(keeper, now);
}

/**
 * rcl_keeper_start - make a key, and give it to members
 * @keeper: zeroed except for @name, which is unique, and @rekeyed
 * @qkey: of the group
 * @links: that the key is for
 *
 * Context: process context.
 */
void rcl_keeper_start(struct rcl_keeper *keeper, u32 qkey,
		      const struct rcl_keeper_links *links)
{
	spin_lock(&rcl_keepers_lock);
	keeper->grant.qkey = qkey;
	keeper->links = *links;
	rcl_keeper_draw(keeper, true);
	list_add_tail(&keeper->node, &rcl_keepers);
	spin_unlock(&rcl_keepers_lock);
}

/**
 * rcl_keeper_stop - the mirror of rcl_keeper_start()
 * @keeper: has no key afterwards
 *
 * Context: process context.
 */
void rcl_keeper_stop(struct rcl_keeper *keeper)
{
	spin_lock(&rcl_keepers_lock);
	list_del(&keeper->node);
	memzero_explicit(&keeper->grant, sizeof(keeper->grant));
	spin_unlock(&rcl_keepers_lock);
}

/**
 * rcl_keeper_sleep - forget all keys, and draw none until rcl_keeper_wake()
 *
 * Context: process context.
 */
void rcl_keeper_sleep(void)
{
	struct rcl_keeper *keeper;

	spin_lock(&rcl_keepers_lock);
	rcl_keepers_asleep = true;
	list_for_each_entry(keeper, &rcl_keepers, node) {
		keeper->grant.id = 0;
		memzero_explicit(keeper->grant.key, sizeof(keeper->grant.key));
	}
	spin_unlock(&rcl_keepers_lock);
}

/**
 * rcl_keeper_wake - draw a key for each group
 *
 * Context: process context.
 */
void rcl_keeper_wake(void)
{
	struct rcl_keeper *keeper;

	spin_lock(&rcl_keepers_lock);
	rcl_keepers_asleep = false;
	list_for_each_entry(keeper, &rcl_keepers, node)
		rcl_keeper_draw(keeper, true);
	spin_unlock(&rcl_keepers_lock);
}

static struct rcl_keeper *rcl_keeper_find_locked(const char *name)
{
	struct rcl_keeper *keeper;

	lockdep_assert_held(&rcl_keepers_lock);
	list_for_each_entry(keeper, &rcl_keepers, node)
		if (!strcmp(keeper->name, name))
			return keeper;
	return NULL;
}

/**
 * rcl_keeper_find - is a link on a list?
 * @links: the list; locked, or the caller's own
 * @name: of the link
 *
 * Return: its place, or the number of links if it is not there.
 */
u32 rcl_keeper_find(const struct rcl_keeper_links *links, const char *name)
{
	u32 i;

	for (i = 0; i < links->n; i++)
		if (!strcmp(links->name[i], name))
			break;
	return i;
}

/* The links behind it move up. */
static void rcl_keeper_drop(struct rcl_keeper *keeper, u32 i)
{
	struct rcl_keeper_links *links = &keeper->links;

	for (links->n--; i < links->n; i++) {
		memcpy(links->name[i], links->name[i + 1],
		       sizeof(links->name[0]));
		keeper->again[i] = keeper->again[i + 1];
	}
}

static void rcl_keeper_append(struct rcl_keeper *keeper, const char *name)
{
	struct rcl_keeper_links *links = &keeper->links;

	if (rcl_keeper_find(links, name) < links->n)
		return;
	keeper->again[links->n] = 0;
	memcpy(links->name[links->n++], name, sizeof(links->name[0]));
}

static int rcl_keeper_check(const struct rcl_keeper *keeper,
			    const struct rcl_keeper_change *change,
			    const char **why)
{
	const struct rcl_keeper_links *on = &change->on, *off = &change->off;
	u32 n = keeper->links.n - off->n;
	u32 i;

	for (i = 0; i < off->n; i++) {
		*why = "no-link: the key is not for that link (`rclink group`)";
		if (rcl_keeper_find(&keeper->links, off->name[i]) ==
		    keeper->links.n)
			return -ENOENT;
		*why = "no-link: there twice, or as link, too";
		if (rcl_keeper_find(off, off->name[i]) != i ||
		    rcl_keeper_find(on, off->name[i]) != on->n)
			return -EINVAL;
	}
	for (i = 0; i < on->n; i++)
		if (rcl_keeper_find(&keeper->links, on->name[i]) ==
		    keeper->links.n)
			n++;
	*why = "link: more than 32 of them";
	return n > RCLINK_GROUP_LINKS_MAX ? -ENOSPC : 0;
}

/**
 * rcl_keeper_set - change who may have the key
 * @keeper: started
 * @change: what is to change; no link is in @on twice
 * @why: set to a sentence if the change is refused; then nothing has changed
 *
 * A link that was taken off has the key, so another one is drawn, and nothing
 * under the old one is accepted here any more.
 *
 * Context: process context.
 * Return: 0, -ENOENT for a link in @off that is not on the list, -EINVAL for
 * one that is in @off twice, or in @on, too, or -ENOSPC.
 */
int rcl_keeper_set(struct rcl_keeper *keeper,
		   const struct rcl_keeper_change *change, const char **why)
{
	u32 i;
	int ret;

	spin_lock(&rcl_keepers_lock);
	ret = rcl_keeper_check(keeper, change, why);
	if (ret)
		goto out_unlock;
	for (i = 0; i < change->off.n; i++)
		rcl_keeper_drop(keeper, rcl_keeper_find(&keeper->links,
							change->off.name[i]));
	for (i = 0; i < change->on.n; i++)
		rcl_keeper_append(keeper, change->on.name[i]);
	if (change->off.n || change->rekey)
		rcl_keeper_draw(keeper, true);

out_unlock:
	spin_unlock(&rcl_keepers_lock);
	return ret;
}

/**
 * rcl_keeper_read - who may have the key?
 * @keeper: zeroed or started
 * @links: set
 *
 * Context: process context.
 */
void rcl_keeper_read(struct rcl_keeper *keeper, struct rcl_keeper_links *links)
{
	spin_lock(&rcl_keepers_lock);
	*links = keeper->links;
	spin_unlock(&rcl_keepers_lock);
}

/* Giving a number uses it up, so a link gets at most one per second. */
static int rcl_keeper_give(struct rcl_keeper *keeper, u32 link,
			   struct rcl_group_grant *grant)
{
	u64 now = get_jiffies_64();

	if (time_before64(now, keeper->again[link]))
		return -EBUSY;
	keeper->again[link] = now + msecs_to_jiffies(RCL_KEEPER_MS);
	if (keeper->next == RCLINK_GROUP_MEMBERS_MAX)
		rcl_keeper_draw(keeper, false);
	*grant = keeper->grant;
	grant->sender = keeper->next++;
	return 1;
}

/**
 * rcl_keeper_ask - the peer of a link asks for the key of a group
 * @link: name of the link
 * @name: of the group, as the peer says
 * @has: identifier of the key that it has, 0 for none
 * @grant: set if that is not the newest; secret
 *
 * Context: process context.
 * Return: 1 with @grant, 0 if the peer has the newest key, -EACCES if there is
 * no such group, or its key is not for that link, -EBUSY if the peer asks too
 * often, or there is no key because this host is about to sleep or was copied.
 */
int rcl_keeper_ask(const char *link, const char *name, u64 has,
		   struct rcl_group_grant *grant)
{
	struct rcl_keeper *keeper;
	u32 place;
	int ret;

	spin_lock(&rcl_keepers_lock);
	keeper = rcl_keeper_find_locked(name);
	place = keeper ? rcl_keeper_find(&keeper->links, link) : 0;
	if (!keeper || place == keeper->links.n)
		ret = -EACCES;
	else if (!keeper->grant.id ||
		 keeper->grant.age != rcl_group_seal_age())
		ret = -EBUSY;
	else if (has == keeper->grant.id)
		ret = 0;
	else
		ret = rcl_keeper_give(keeper, place, grant);
	spin_unlock(&rcl_keepers_lock);
	return ret;
}
