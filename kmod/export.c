// SPDX-License-Identifier: GPL-2.0
#include "export.h"

#include <linux/errno.h>
#include <linux/string.h>

#include "announce.h"

static struct rcl_export *rcl_export_find_locked(struct rcl_exports *exports,
						 const char *name)
{
	struct rcl_export *export;

	lockdep_assert_held(&exports->lock);
	list_for_each_entry(export, &exports->list, node)
		if (!strcmp(export->name, name))
			return export;
	return NULL;
}

static bool rcl_export_is_offered(const struct rcl_export *export)
{
	return export->ready && !READ_ONCE(export->over);
}

/**
 * rcl_window_copy - copy a window and some of its keys
 * @to: set, but its @rkeys is kept, which has room for RCL_WINDOW_RKEYS
 * @from: window to copy
 * @first: extent of the first key to copy
 *
 * Return: how many keys were copied.
 */
u32 rcl_window_copy(struct rcl_window *to, const struct rcl_window *from,
		    u32 first)
{
	u32 n = rcl_window_extents(from);
	u32 *rkeys = to->rkeys;
	u32 done = 0;

	*to = *from;
	to->rkeys = rkeys;
	for (; first < n && done < RCL_WINDOW_RKEYS; first++)
		rkeys[done++] = from->rkeys[first];
	return done;
}

/**
 * rcl_exports_init - begin with an empty table
 * @exports: filled in
 */
void rcl_exports_init(struct rcl_exports *exports)
{
	mutex_init(&exports->lock);
	INIT_LIST_HEAD(&exports->list);
}

/**
 * rcl_export_add - offer a region
 * @exports: of the link
 * @export: filled in; stays in the table until rcl_export_del()
 *
 * Context: may sleep.
 * Return: 0, or -EEXIST.
 */
int rcl_export_add(struct rcl_exports *exports, struct rcl_export *export)
{
	int ret = -EEXIST;

	mutex_lock(&exports->lock);
	if (!rcl_export_find_locked(exports, export->name)) {
		list_add_tail(&export->node, &exports->list);
		export->ready = true;
		ret = 0;
	}
	mutex_unlock(&exports->lock);
	return ret;
}

/**
 * rcl_export_set_ready - offer a region, or keep its name for its owner only
 * @exports: of the link
 * @export: was added
 * @ready: it has keys of this epoch
 *
 * Context: may sleep.
 */
void rcl_export_set_ready(struct rcl_exports *exports,
			  struct rcl_export *export, bool ready)
{
	mutex_lock(&exports->lock);
	export->ready = ready;
	mutex_unlock(&exports->lock);
}

/**
 * rcl_export_del - no longer offer a region
 * @exports: of the link
 * @export: was added
 *
 * Whoever found it before may still use its key.
 *
 * Context: may sleep.
 */
void rcl_export_del(struct rcl_exports *exports, struct rcl_export *export)
{
	mutex_lock(&exports->lock);
	list_del(&export->node);
	mutex_unlock(&exports->lock);
}

/**
 * rcl_export_find - what is offered under a name?
 * @exports: of the link
 * @name: of the region
 * @asked: owner of the channel whose other end asks
 * @window: set, but its @rkeys is kept, which has room for RCL_WINDOW_RKEYS;
 *	the end that asks may end the region only if it is @asked's
 * @first: first extent that is of interest
 *
 * Context: may sleep.
 * Return: how many keys were copied, -ENOENT, or -EAGAIN for a name that is
 * only kept for its owner.
 */
int rcl_export_find(struct rcl_exports *exports, const char *name,
		    const struct rcl_lessee *asked, struct rcl_window *window,
		    u32 first)
{
	struct rcl_export *export;
	int ret = -ENOENT;

	mutex_lock(&exports->lock);
	export = rcl_export_find_locked(exports, name);
	if (export)
		ret = rcl_export_is_offered(export) ?
			      rcl_window_copy(window, &export->window, first) :
			      -EAGAIN;
	if (ret >= 0 && export->owner != asked)
		window->rights &= ~RCLINK_REGION_INVALIDATE;
	mutex_unlock(&exports->lock);
	return ret;
}

/**
 * rcl_export_list - what is offered and may be announced?
 * @exports: of the link
 * @list: added to
 *
 * Context: may sleep.
 */
void rcl_export_list(struct rcl_exports *exports,
		     struct rcl_announce_list *list)
{
	struct rcl_announce_region region;
	struct rcl_export *export;

	mutex_lock(&exports->lock);
	list_for_each_entry(export, &exports->list, node) {
		strscpy_pad(region.name, export->name, sizeof(region.name));
		if (!rcl_export_is_offered(export) ||
		    !rcl_announce_is_name(region.name))
			continue;
		region.len = export->window.len;
		region.rights = export->window.rights;
		rcl_announce_add(list, &region);
	}
	mutex_unlock(&exports->lock);
}
