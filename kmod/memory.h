/* SPDX-License-Identifier: GPL-2.0 */
/* What a region is made of, wherever it comes from. */
#ifndef RCL_MEMORY_H
#define RCL_MEMORY_H

#include <linux/dma-direction.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

struct ib_device;
struct mem_cgroup;
struct rcl_extent_cut;
struct task_struct;

/**
 * struct rcl_memory - what a region is made of
 * @sgt: its pieces; all but the first begin, and all but the last end, on a
 *	page boundary; none with @map
 * @first: offset in its first page, bytes
 * @len: bytes
 * @npages: pages
 * @read_only: neither the device nor the peer may write there
 * @moves: whoever has the memory may call this module while it is mapped
 * @owner: task that waits while somebody else registers it; a fatal signal to
 *	the task soon ends that; or NULL
 * @memcg: charged for what registering it takes, or NULL; that of the channel
 *	or the share
 * @file: file by which it can be mapped, or NULL
 * @map: finds the first piece for a device, where @sgt has none, and gives up
 *	when it is not @wanted any more; or NULL. Its pieces have DMA addresses,
 *	and maybe no pages
 * @unmap: the mirror of @map; also called when it is not mapped
 * @free: called when nothing can access it any more
 */
struct rcl_memory {
	struct sg_table sgt;
	u32 first;
	u64 len;
	u32 npages;
	bool read_only;
	bool moves;
	struct task_struct *owner;
	struct mem_cgroup *memcg;
	struct file *file;
	int (*map)(struct rcl_memory *memory, struct ib_device *ib,
		   struct rcl_extent_cut *at, const bool *wanted);
	void (*unmap)(struct rcl_memory *memory);
	void (*free)(struct rcl_memory *memory);
};

/* The range is not empty and does not wrap. */
static inline u64 rcl_memory_npages(u64 addr, u64 len)
{
	return ((addr + len - 1) >> PAGE_SHIFT) - (addr >> PAGE_SHIFT) + 1;
}

static inline enum dma_data_direction
rcl_memory_dir(const struct rcl_memory *memory)
{
	return memory->read_only ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
}

/* The file by which @len bytes can be mapped, with a reference, or NULL. */
static inline struct file *rcl_memory_file(const struct rcl_memory *memory,
					   u64 *len)
{
	*len = memory->len;
	return memory->file ? get_file(memory->file) : NULL;
}

#endif /* RCL_MEMORY_H */
