// SPDX-License-Identifier: GPL-2.0
#include "charge.h"

#include <linux/slab.h>

/**
 * rcl_charged_kvcalloc - allocate memory and force the charge to a cgroup
 * @memcg: the cgroup; NULL for none
 * @n: entries
 * @size: of each
 *
 * Context: a work item; may sleep.
 * Return: zeroed memory, to be freed by kvfree(), or NULL.
 */
void *rcl_charged_kvcalloc(struct mem_cgroup *memcg, size_t n, size_t size)
{
	struct rcl_charge charge = rcl_charge_begin(memcg);
	void *p = kvcalloc(n, size, RCL_GFP_CHARGED);

	rcl_charge_end(&charge);
	/* The host is short of memory: reclaim rather than end a channel. */
	return p ? : kvcalloc(n, size, GFP_KERNEL);
}
