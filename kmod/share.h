/* SPDX-License-Identifier: GPL-2.0 */
/* What is exported to all links, as by an open file of a process. */
#ifndef RCL_SHARE_H
#define RCL_SHARE_H

#include <linux/mutex.h>
#include <linux/types.h>

#define RCL_SHARE_REGIONS	64

struct cred;
struct mem_cgroup;
struct rcl_memory;
struct rcl_offer;
struct rcl_shared;
struct rclink_dev_region;
struct vm_area_struct;

/**
 * struct rcl_share - such a file
 * @cred: of who opened it; the file's
 * @memcg: his, is charged for what it takes to register the regions, or NULL;
 *	a reference is held
 * @lock: protects @slots
 * @slots: its regions by handle
 * @turn: of who adds or withdraws, to have a deputy; before @lock, which mmap()
 *	takes, and which nobody has meanwhile
 */
struct rcl_share {
	const struct cred *cred;
	struct mem_cgroup *memcg;
	struct mutex lock;	/* protects slots */
	struct rcl_shared *slots[RCL_SHARE_REGIONS];
	struct mutex turn;	/* to have a deputy */
};

int rcl_share_check(const char *name, u32 rights, u64 npages);
int rcl_share_begin(struct rcl_offer *offer, struct rcl_memory *memory,
		    const char *name, u32 rights, const struct cred *cred);
int rcl_share_end(struct rcl_offer *offer);

struct rcl_share *rcl_share_open(const struct cred *cred);
void rcl_share_close(struct rcl_share *share);
int rcl_share_region(struct rcl_share *share, struct rclink_dev_region *arg,
		     bool allocate);
int rcl_share_withdraw(struct rcl_share *share, u32 handle);
int rcl_share_mmap(struct rcl_share *share, struct vm_area_struct *vma);

#endif /* RCL_SHARE_H */
