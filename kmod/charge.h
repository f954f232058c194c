/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that a kernel thread allocates, charged to somebody's cgroup. */
#ifndef RCL_CHARGE_H
#define RCL_CHARGE_H

#include <linux/gfp.h>
#include <linux/sched/mm.h>

struct mem_cgroup;

/*
 * try_charge_memcg() treats a thread that charges a cgroup as a member of it:
 * above memory.high the thread reclaims and sleeps, for seconds; above
 * memory.max it kills, and waits for the victim. A link must not wait for that.
 * With PF_MEMALLOC the charge is forced and nothing is reclaimed;
 * __GFP_NOMEMALLOC denies it the reserves, so it fails if the host has nothing
 * else. No more is forced than what the owner asked for, and the owner is held
 * up at its own next charge.
 */
#define RCL_GFP_CHARGED	(GFP_KERNEL_ACCOUNT | __GFP_NOMEMALLOC | __GFP_NOWARN)

/**
 * struct rcl_charge - what rcl_charge_end() puts back
 * @memcg: the cgroup that was charged before
 * @forced: charges are forced, and nothing is reclaimed meanwhile
 * @flags: if @forced, from memalloc_noreclaim_save()
 */
struct rcl_charge {
	struct mem_cgroup *memcg;
	bool forced;
	unsigned int flags;
};

/**
 * rcl_charge_begin - charge a cgroup for what is allocated from now on
 * @memcg: the cgroup; NULL for none: then nothing is forced
 *
 * Context: a work item, which allocates only with RCL_GFP_CHARGED until
 * rcl_charge_end().
 * Return: what rcl_charge_end() needs.
 */
static inline struct rcl_charge rcl_charge_begin(struct mem_cgroup *memcg)
{
	struct rcl_charge charge = {
		.memcg = set_active_memcg(memcg),
		.forced = memcg,
	};

	if (charge.forced)
		charge.flags = memalloc_noreclaim_save();
	return charge;
}

/**
 * rcl_charge_end - the mirror of rcl_charge_begin()
 * @charge: from rcl_charge_begin()
 */
static inline void rcl_charge_end(const struct rcl_charge *charge)
{
	if (charge->forced)
		memalloc_noreclaim_restore(charge->flags);
	set_active_memcg(charge->memcg);
}

void *rcl_charged_kvcalloc(struct mem_cgroup *memcg, size_t n, size_t size);

#endif /* RCL_CHARGE_H */
