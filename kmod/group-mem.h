/* SPDX-License-Identifier: GPL-2.0 */
/* Regions of a channel to a group: the kernel copies; no device knows them. */
#ifndef RCL_GROUP_MEM_H
#define RCL_GROUP_MEM_H

#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

#include "region.h"

struct file;
struct rcl_memory;

/**
 * struct rcl_group_mem - the regions of one channel, whose lock is held
 * @handle: handle of each: slot and generation
 * @memory: memory of each, or NULL
 */
struct rcl_group_mem {
	u32 handle[RCL_HANDLE_SLOTS];
	struct rcl_memory *memory[RCL_HANDLE_SLOTS];
};

struct rcl_memory *rcl_group_mem_new(const struct rclink_dev_region *arg,
				     bool allocate);
int rcl_group_mem_add(struct rcl_group_mem *mem, struct rcl_memory *memory,
		      u32 *handle);
struct rcl_memory *rcl_group_mem_del(struct rcl_group_mem *mem, u32 handle);
void rcl_group_mem_free_all(struct rcl_group_mem *mem);
struct file *rcl_group_mem_file(struct rcl_group_mem *mem, u32 slot, u64 *len);
int rcl_group_mem_check(struct rcl_group_mem *mem,
			const struct rclink_dev_sge *sge, u32 num, u32 *len);
int rcl_group_mem_read(struct rcl_group_mem *mem,
		       const struct rclink_dev_sge *sge, u32 num, u8 *to);
int rcl_group_mem_write(struct rcl_group_mem *mem,
			const struct rclink_dev_sge *sge, u32 num,
			const u8 *from, u32 len);

#endif /* RCL_GROUP_MEM_H */
