/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that the kernel allocates, for a process to map. */
#ifndef RCL_SHM_H
#define RCL_SHM_H

#include <linux/types.h>

/*
 * Bits of an mmap() offset for what is inside a region: enough with 64 KiB
 * pages, too. A 32-bit process has 44 bits of offset: room for 64 regions after
 * the rings. A 32-bit kernel has 32 of them, and could map none of these.
 */
#define RCL_SHM_SHIFT	37

struct file;
struct rcl_memory;
struct vm_area_struct;

struct rcl_memory *rcl_shm_new(u64 len);
u64 rcl_shm_offset(u32 handle);
u32 rcl_shm_slot(const struct vm_area_struct *vma);
int rcl_shm_map(struct file *file, u64 len, struct vm_area_struct *vma);

#endif /* RCL_SHM_H */
