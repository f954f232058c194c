// SPDX-License-Identifier: GPL-2.0
#include "mapping.h"

#include <linux/kmemleak.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "charge.h"
#include "export.h"
#include "extent.h"
#include "memory.h"
#include "reg.h"

/**
 * rcl_mapping_shift - how long is an extent?
 * @ib: device
 *
 * A power of two, so that a shift gives the extent of an address. Some devices
 * say that one fast registration takes far more pages than others use it for.
 * With so many, its page list is in several pieces, which not all drivers hand
 * to the device, or needs contiguous memory that is not there.
 *
 * Return: the binary logarithm of its length in bytes.
 */
u32 rcl_mapping_shift(const struct ib_device *ib)
{
	return PAGE_SHIFT + ilog2(min_t(u32, RCL_EXTENT_PAGES_MAX,
					ib->attrs.max_fast_reg_page_list_len));
}

/**
 * rcl_mapping_lay_out - cut memory into extents
 * @mapping: with @mapping->memory and @mapping->window
 * @addr: first address for the peer; as far into its page as the memory is
 * @shift: of an extent, as from rcl_mapping_shift()
 *
 * All extents share one range of addresses, so that only their keys differ.
 *
 * Context: may sleep.
 * Return: 0, -EMSGSIZE for more than RCL_EXTENTS_MAX, or -ENOMEM; to be
 * followed by rcl_mapping_free() in any case.
 */
int rcl_mapping_lay_out(struct rcl_mapping *mapping, u64 addr, u32 shift)
{
	struct rcl_window *window = mapping->window;
	struct mem_cgroup *memcg = mapping->memory->memcg;
	u64 n;

	window->shift = shift;
	window->addr = addr;
	window->len = mapping->memory->len;
	n = rcl_window_extents(window);
	if (n > RCL_EXTENTS_MAX)
		return -EMSGSIZE;
	window->rkeys = rcl_charged_kvcalloc(memcg, n, sizeof(*window->rkeys));
	mapping->extents = rcl_charged_kvcalloc(memcg, n,
						sizeof(*mapping->extents));
	return window->rkeys && mapping->extents ? 0 : -ENOMEM;
}

static int rcl_mapping_access(const struct rcl_mapping *mapping)
{
	int access = mapping->memory->read_only ? 0 : IB_ACCESS_LOCAL_WRITE;
	u32 rights = mapping->window->rights;

	if (rights & RCLINK_REGION_WRITE)
		access |= IB_ACCESS_REMOTE_WRITE;
	if (rights & RCLINK_REGION_READ)
		access |= IB_ACCESS_REMOTE_READ;
	if (rights & RCLINK_REGION_ATOMIC)
		access |= IB_ACCESS_REMOTE_ATOMIC;
	return access;
}

static int rcl_mapping_map_extents(struct rcl_mapping *mapping,
				   struct ib_pd *pd, struct rcl_reg *reg,
				   struct rcl_extent_cut *at,
				   const bool *wanted)
{
	struct task_struct *owner = mapping->memory->owner;
	struct rcl_window *window = mapping->window;
	int access = rcl_mapping_access(mapping);
	u64 addr = window->addr;
	u64 left = window->len;
	int ret;

	while (left) {
		struct rcl_extent *extent = &mapping->extents[mapping->n];
		u64 len = min(left, rcl_window_left(window, addr));

		ret = rcl_extent_map(extent, pd, at, addr, len);
		if (ret)
			return ret;
		window->rkeys[mapping->n++] = extent->mr->rkey;
		ret = rcl_reg_mr(reg, extent->mr, access);
		/* There may be many more, and somebody waits for us. */
		if (!READ_ONCE(*wanted))
			return -ECANCELED;
		if (ret)
			return ret;
		if (owner && fatal_signal_pending(owner))
			return -EINTR;
		addr += len;
		left -= len;
	}
	return 0;
}

/**
 * rcl_mapping_map - register all of a mapping, or nothing
 * @mapping: laid out, not registered
 * @pd: of the link
 * @reg: of the link
 * @wanted: gives up when this becomes false
 *
 * Context: may sleep.
 * Return: 0, -ECANCELED when it is not @wanted any more, -EINTR for a fatal
 * signal, or what @mapping->memory->map, rcl_extent_map() or rcl_reg_mr()
 * returns.
 */
int rcl_mapping_map(struct rcl_mapping *mapping, struct ib_pd *pd,
		    struct rcl_reg *reg, const bool *wanted)
{
	struct rcl_memory *memory = mapping->memory;
	struct rcl_extent_cut at = {
		.memory = memory,
		.sg = memory->sgt.sgl,
	};
	int ret = 0;

	/* Else whoever ends it would wait for all mappings that queue up. */
	if (!READ_ONCE(*wanted))
		return -ECANCELED;
	if (memory->map)
		ret = memory->map(memory, pd->device, &at, wanted);
	if (ret)
		return ret;
	ret = rcl_mapping_map_extents(mapping, pd, reg, &at, wanted);
	if (ret)
		rcl_mapping_unmap(mapping);
	return ret;
}

/**
 * rcl_mapping_unmap - end all registrations of a mapping
 * @mapping: any; @mapping->stuck is set if the device did not end one; else
 *	neither the device nor the peer reaches the memory any more
 *
 * Context: may sleep.
 */
void rcl_mapping_unmap(struct rcl_mapping *mapping)
{
	struct rcl_memory *memory = mapping->memory;

	while (mapping->n)
		if (rcl_extent_unmap(&mapping->extents[--mapping->n], memory))
			mapping->stuck = true;
	if (memory->unmap && !mapping->stuck)
		memory->unmap(memory);
}

/**
 * rcl_mapping_free - the mirror of rcl_mapping_lay_out()
 * @mapping: not registered any more
 */
void rcl_mapping_free(struct rcl_mapping *mapping)
{
	kvfree(mapping->extents);
	kvfree(mapping->window->rkeys);
}

/**
 * rcl_mapping_let_go - let go of memory that was registered
 * @memory: freed, unless @stuck
 * @stuck: a registration did not end
 *
 * Context: may sleep.
 * Return: 0, or -EIO when the memory is lost.
 */
int rcl_mapping_let_go(struct rcl_memory *memory, bool stuck)
{
	if (stuck) {
		pr_warn_ratelimited("a registration did not end: %u pages are lost\n",
				    memory->npages);
		/* Nothing refers to it any more, and that is intended. */
		kmemleak_not_leak(memory);
		if (memory->moves)
			__module_get(THIS_MODULE);
		return -EIO;
	}
	memory->free(memory);
	return 0;
}
