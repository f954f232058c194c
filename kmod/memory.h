/* SPDX-License-Identifier: GPL-2.0 */
/* What a region is made of, wherever it comes from. */
#ifndef RCL_MEMORY_H
#define RCL_MEMORY_H

#include <linux/dma-direction.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

struct file;
struct ib_device;
struct mem_cgroup;
struct rcl_extent_cut;
struct task_struct;

/**
 * struct rcl_memory - what a region is made of
 * @sgt: its pieces; each but the first begins with a page, and each but the
 *	last ends with one; none with @map
 * @first: where it begins in its first page, bytes
 * @len: bytes
 * @npages: pages
 * @read_only: neither the device nor the peer may write there
 * @owner: waits for it to be registered, by somebody else: not for long when it
 *	has a signal; or NULL
 * @memcg: is charged for what it takes to register it, or NULL; of the channel
 *	or the share
 * @file: that can be mapped to see it, or NULL
 * @map: finds the first piece for a device, where @sgt has none, and gives up
 *	when it is not @wanted any more; or NULL. Its pieces have DMA addresses,
 *	and maybe no pages
 * @unmap: the mirror of @map; also of what is not mapped
 * @free: nothing can access it any more
 */
struct rcl_memory {
	struct sg_table sgt;
	u32 first;
	u64 len;
	u32 npages;
	bool read_only;
	struct task_struct *owner;
	struct mem_cgroup *memcg;
	struct file *file;
	int (*map)(struct rcl_memory *memory, struct ib_device *ib,
		   struct rcl_extent_cut *at, const bool *wanted);
	void (*unmap)(struct rcl_memory *memory);
	void (*free)(struct rcl_memory *memory);
};

/* Of what is not empty, and does not wrap. */
static inline u64 rcl_memory_npages(u64 addr, u64 len)
{
	return ((addr + len - 1) >> PAGE_SHIFT) - (addr >> PAGE_SHIFT) + 1;
}

static inline enum dma_data_direction
rcl_memory_dir(const struct rcl_memory *memory)
{
	return memory->read_only ? DMA_TO_DEVICE : DMA_BIDIRECTIONAL;
}

#endif /* RCL_MEMORY_H */
