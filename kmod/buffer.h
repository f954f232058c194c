/* SPDX-License-Identifier: GPL-2.0 */
/* The link buffer: kernel memory that the peer may write, read and change. */
#ifndef RCL_BUFFER_H
#define RCL_BUFFER_H

#include <rdma/ib_verbs.h>

/**
 * struct rcl_buffer - pages behind one fast-registered MR
 * @mr: rkey and iova are valid for the peer after REG_MR
 * @length: bytes
 * @npages: entries of @sg
 * @sg: the pages with their DMA addresses
 */
struct rcl_buffer {
	struct ib_mr *mr;
	u32 length;
	u32 npages;
	struct scatterlist *sg;
};

int rcl_buffer_create(struct rcl_buffer *buf, struct ib_pd *pd, u32 length);
void rcl_buffer_destroy(struct rcl_buffer *buf, bool lost);

bool rcl_buffer_walk(struct rcl_buffer *buf, u32 offset, u32 len, u32 seed,
		     bool fill);

#endif /* RCL_BUFFER_H */
