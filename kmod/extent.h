/* SPDX-License-Identifier: GPL-2.0 */
/* A part of a region that is as long as one fast registration may be. */
#ifndef RCL_EXTENT_H
#define RCL_EXTENT_H

#include <linux/scatterlist.h>
#include <linux/types.h>

struct ib_mr;
struct ib_pd;
struct rcl_memory;

/**
 * struct rcl_extent - a part of a region, and its registration
 * @sgt: its pieces
 * @mr: its registration, with address and keys set
 */
struct rcl_extent {
	struct sg_table sgt;
	struct ib_mr *mr;
};

/**
 * struct rcl_extent_cut - where in a list of pieces the next extent begins
 * @memory: memory that the list describes
 * @sg: piece in which it begins
 * @offset: bytes of @sg that are in extents already
 */
struct rcl_extent_cut {
	const struct rcl_memory *memory;
	struct scatterlist *sg;
	u32 offset;
};

int rcl_extent_map(struct rcl_extent *extent, struct ib_pd *pd,
		   struct rcl_extent_cut *at, u64 addr, u64 len);
int rcl_extent_unmap(struct rcl_extent *extent,
		     const struct rcl_memory *memory);

#endif /* RCL_EXTENT_H */
