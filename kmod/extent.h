/* SPDX-License-Identifier: GPL-2.0 */
/* A part of a region that is as long as one fast registration may be. */
#ifndef RCL_EXTENT_H
#define RCL_EXTENT_H

#include <linux/dma-direction.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

struct ib_mr;
struct ib_pd;
struct mem_cgroup;

/**
 * struct rcl_extent - a part of a region, and its registration
 * @sgt: its pieces
 * @mr: whose address and keys are set
 * @mapped: the pieces were so before, and are not ours to unmap
 * @dir: else: what they were mapped for
 */
struct rcl_extent {
	struct sg_table sgt;
	struct ib_mr *mr;
	bool mapped;
	enum dma_data_direction dir;
};

/**
 * struct rcl_extent_cut - where in a list of pieces the next extent begins
 * @sg: in this one
 * @offset: bytes of it that are in extents already
 * @mapped: the list has DMA addresses, and maybe no pages
 * @dir: what it is, or is to be, mapped for
 * @memcg: is charged for the list of the extent, or NULL
 */
struct rcl_extent_cut {
	struct scatterlist *sg;
	u32 offset;
	bool mapped;
	enum dma_data_direction dir;
	struct mem_cgroup *memcg;
};

int rcl_extent_map(struct rcl_extent *extent, struct ib_pd *pd,
		   struct rcl_extent_cut *at, u64 addr, u64 len);
int rcl_extent_unmap(struct rcl_extent *extent);

#endif /* RCL_EXTENT_H */
