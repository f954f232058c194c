/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that is registered for one channel and its peer. */
#ifndef RCL_REGION_H
#define RCL_REGION_H

#include <linux/bits.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

#define RCL_HANDLE_BITS	8	/* for the slot; the rest counts up */

struct file;
struct ib_sge;
struct ib_device;
struct rcl_chan;
struct rcl_extent_cut;
struct rclink_dev_sge;

/**
 * struct rcl_memory - what a region is made of
 * @sgt: its pieces; each but the first begins with a page, and each but the
 *	last ends with one; none with @map
 * @first: where it begins in its first page, bytes
 * @len: bytes
 * @npages: pages
 * @file: that can be mapped to see it, or NULL
 * @map: finds the first piece for a device, where @sgt has none; or NULL
 * @unmap: the mirror of @map; also of what is not mapped
 * @free: nothing can access it any more
 */
struct rcl_memory {
	struct sg_table sgt;
	u32 first;
	u64 len;
	u32 npages;
	struct file *file;
	int (*map)(struct rcl_memory *memory, struct ib_device *ib,
		   struct rcl_extent_cut *at);
	void (*unmap)(struct rcl_memory *memory);
	void (*free)(struct rcl_memory *memory);
};

static inline u32 rcl_region_slot(u32 handle)
{
	return handle & (BIT(RCL_HANDLE_BITS) - 1);
}

u32 rcl_region_handle(u32 slot);
int rcl_region_check(struct rcl_chan *chan, const char *name, u32 rights,
		     u64 npages);
int rcl_region_register(struct rcl_chan *chan, struct rcl_memory *memory,
			const char *name, u32 rights, u32 *handle);
int rcl_region_withdraw(struct rcl_chan *chan, u32 handle);
int rcl_region_invalidated(struct rcl_chan *chan, u32 rkey, u32 *handle);
int rcl_region_sge(struct rcl_chan *chan, const struct rclink_dev_sge *from,
		   struct ib_sge *sge, u32 max);
struct file *rcl_region_file(struct rcl_chan *chan, u32 slot, u64 *len);
int rcl_region_map_all(struct rcl_chan *chan);
void rcl_region_unmap_all(struct rcl_chan *chan);
void rcl_region_unexport_all(struct rcl_chan *chan);
void rcl_region_free_all(struct rcl_chan *chan);

#endif /* RCL_REGION_H */
