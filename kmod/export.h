/* SPDX-License-Identifier: GPL-2.0 */
/* Regions that a link offers to its peer, by name. */
#ifndef RCL_EXPORT_H
#define RCL_EXPORT_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

#include "msg.h"

struct rcl_announce_list;
struct rcl_lessee;

#define RCL_EXTENT_PAGES_MAX	512	/* in an extent of this end */

/**
 * struct rcl_window - memory as the other end addresses it
 * @addr: first address
 * @len: bytes, not 0; the address after the last one does not wrap
 * @rights: RCLINK_REGION_*
 * @shift: each extent but the first begins at a multiple of 2^@shift
 * @rkeys: key of each extent
 */
struct rcl_window {
	u64 addr;
	u64 len;
	u32 rights;
	u32 shift;
	u32 *rkeys;
};

/**
 * rcl_window_touched - how many extents does a range touch?
 * @window: any
 * @addr: first address
 * @len: bytes
 *
 * Return: the number; 1 for no bytes.
 */
static inline u64 rcl_window_touched(const struct rcl_window *window, u64 addr,
				     u64 len)
{
	u64 last = addr + (len ? len - 1 : 0);

	return (last >> window->shift) - (addr >> window->shift) + 1;
}

/**
 * rcl_window_extents - how many extents are there?
 * @window: any
 *
 * Return: the number.
 */
static inline u64 rcl_window_extents(const struct rcl_window *window)
{
	return rcl_window_touched(window, window->addr, window->len);
}

/**
 * rcl_window_index - which extent is an address in?
 * @window: any
 * @addr: inside it, or the first one after it
 * @n: how many extents there are
 *
 * Return: the number of the extent, less than @n even in speculation; 0 if
 * @addr is after the last extent.
 */
static inline u32 rcl_window_index(const struct rcl_window *window, u64 addr,
				   u32 n)
{
	u32 i = (addr >> window->shift) - (window->addr >> window->shift);

	return array_index_nospec(i, n);
}

/**
 * rcl_window_left - bytes from an address to the end of its extent
 * @window: any
 * @addr: inside it
 *
 * Return: the number, as if the last extent were as long as the others.
 */
static inline u64 rcl_window_left(const struct rcl_window *window, u64 addr)
{
	u64 size = 1ULL << window->shift;

	return size - (addr & (size - 1));
}

/**
 * struct rcl_export - a region that is offered; embedded in its owner
 * @node: in the table
 * @name: of the region
 * @window: what the peer is told
 * @owner: whose it is
 * @ready: registered; otherwise the name is only kept for its owner
 * @over: must never be used again, so the name is only kept, too
 */
struct rcl_export {
	struct list_head node;
	char name[RCLINK_DEV_REGION_LEN];
	struct rcl_window window;
	const struct rcl_lessee *owner;
	bool ready;
	bool over;
};

/**
 * struct rcl_exports - the table
 * @lock: protects @list
 * @list: of struct rcl_export
 */
struct rcl_exports {
	struct mutex lock;	/* protects list */
	struct list_head list;
};

/**
 * rcl_export_end - let nobody find a region from now on
 * @export: any; may be in the table, where its name stays
 *
 * Context: any.
 */
static inline void rcl_export_end(struct rcl_export *export)
{
	WRITE_ONCE(export->over, true);
}

u32 rcl_window_copy(struct rcl_window *to, const struct rcl_window *from,
		    u32 first);

void rcl_exports_init(struct rcl_exports *exports);
int rcl_export_add(struct rcl_exports *exports, struct rcl_export *export);
void rcl_export_set_ready(struct rcl_exports *exports,
			  struct rcl_export *export, bool ready);
void rcl_export_del(struct rcl_exports *exports, struct rcl_export *export);
void rcl_export_list(struct rcl_exports *exports,
		     struct rcl_announce_list *list);
int rcl_export_find(struct rcl_exports *exports, const char *name,
		    const struct rcl_lessee *asked, struct rcl_window *window,
		    u32 first);

#endif /* RCL_EXPORT_H */
