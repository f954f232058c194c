/* SPDX-License-Identifier: GPL-2.0 */
/* What an open file of a process exports to all links. */
#ifndef RCL_SHARE_H
#define RCL_SHARE_H

#include <linux/mutex.h>
#include <linux/types.h>

#define RCL_SHARE_REGIONS	64

struct cred;
struct rcl_shared;
struct rclink_dev_region;
struct vm_area_struct;

/**
 * struct rcl_share - such a file
 * @cred: of who opened it; the file's
 * @lock: protects @slots
 * @slots: its regions by handle
 */
struct rcl_share {
	const struct cred *cred;
	struct mutex lock;	/* protects slots */
	struct rcl_shared *slots[RCL_SHARE_REGIONS];
};

struct rcl_share *rcl_share_open(const struct cred *cred);
void rcl_share_close(struct rcl_share *share);
int rcl_share_region(struct rcl_share *share, struct rclink_dev_region *arg,
		     bool allocate);
int rcl_share_withdraw(struct rcl_share *share, u32 handle);
int rcl_share_mmap(struct rcl_share *share, struct vm_area_struct *vma);

#endif /* RCL_SHARE_H */
