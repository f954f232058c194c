// SPDX-License-Identifier: GPL-2.0
#include "keeper.h"

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/string.h>

#define RCL_KEEPER_MS	1000	/* between two numbers for one link */

static DEFINE_MUTEX(rcl_keepers_lock);	/* protects rcl_keepers and all in it */
static LIST_HEAD(rcl_keepers);

static void rcl_keeper_draw(struct rcl_keeper *keeper)
{
	struct rcl_group_grant *grant = &keeper->grant;

	do {
		grant->id = get_random_u64();
	} while (!grant->id);
	get_random_bytes(grant->key, sizeof(grant->key));
	grant->sender = 0;
	keeper->next = 1;
	keeper->rekeyed(keeper);
}

/**
 * rcl_keeper_start - make a key, and give it to members
 * @keeper: zeroed but for @name, @links and @rekeyed; @name is nobody else's
 * @qkey: of the group
 *
 * Context: may sleep.
 */
void rcl_keeper_start(struct rcl_keeper *keeper, u32 qkey)
{
	mutex_lock(&rcl_keepers_lock);
	keeper->grant.qkey = qkey;
	rcl_keeper_draw(keeper);
	list_add_tail(&keeper->node, &rcl_keepers);
	mutex_unlock(&rcl_keepers_lock);
}

/**
 * rcl_keeper_stop - the mirror of rcl_keeper_start()
 * @keeper: has no key afterwards
 *
 * Context: may sleep.
 */
void rcl_keeper_stop(struct rcl_keeper *keeper)
{
	mutex_lock(&rcl_keepers_lock);
	list_del(&keeper->node);
	memzero_explicit(&keeper->grant, sizeof(keeper->grant));
	mutex_unlock(&rcl_keepers_lock);
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

/* Each number is used up, so a link gets one a second at most. */
static int rcl_keeper_give(struct rcl_keeper *keeper, u32 link,
			   struct rcl_group_grant *grant)
{
	u64 now = get_jiffies_64();

	if (time_before64(now, keeper->again[link]))
		return -EBUSY;
	keeper->again[link] = now + msecs_to_jiffies(RCL_KEEPER_MS);
	if (keeper->next == RCL_GROUP_SENDERS)
		rcl_keeper_draw(keeper);
	*grant = keeper->grant;
	grant->sender = keeper->next++;
	return 1;
}

/**
 * rcl_keeper_ask - the peer of a link asks for the key of a group
 * @link: name of the link
 * @name: of the group, as the peer says
 * @has: identifier of the key that it has, 0 for none
 * @grant: set when it has not got the newest; secret
 *
 * Context: may sleep.
 * Return: 1 with @grant, 0 when it has the newest key, -EACCES for a group or
 * a link that it is not for, -EBUSY when it asks too often.
 */
int rcl_keeper_ask(const char *link, const char *name, u64 has,
		   struct rcl_group_grant *grant)
{
	const struct rcl_keeper_links *links;
	struct rcl_keeper *keeper;
	int ret = -EACCES;
	u32 i;

	mutex_lock(&rcl_keepers_lock);
	keeper = rcl_keeper_find_locked(name);
	links = keeper ? keeper->links : NULL;
	for (i = 0; links && i < links->n; i++) {
		if (strcmp(links->name[i], link))
			continue;
		ret = has == keeper->grant.id ?
		      0 : rcl_keeper_give(keeper, i, grant);
		break;
	}
	mutex_unlock(&rcl_keepers_lock);
	return ret;
}
