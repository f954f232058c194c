/* SPDX-License-Identifier: GPL-2.0 */
/* Memory exported to all links, such as by an open file of a process. */
#ifndef RCL_SHARE_H
#define RCL_SHARE_H

#include <linux/types.h>

struct cred;
struct rcl_memory;
struct rcl_offer;
struct rcl_share;
struct rclink_dev_region;
struct vm_area_struct;

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
