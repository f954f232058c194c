// SPDX-License-Identifier: GPL-2.0
/*
 * Pages are registered by the processor's size, though larger ones would make
 * fewer extents: behind an IOMMU nothing keeps them aligned.
 */
#include "extent.h"

#include <linux/mm.h>
#include <linux/random.h>
#include <rdma/ib_verbs.h>

static u32 rcl_extent_pieces(const struct rcl_extent_cut *at, u64 len)
{
	struct scatterlist *sg = at->sg;
	u64 there = sg->length - at->offset;
	u32 n = 1;

	for (; there < len; n++) {
		sg = sg_next(sg);
		there += sg->length;
	}
	return n;
}

static int rcl_extent_cut(struct rcl_extent *extent, struct rcl_extent_cut *at,
			  u64 len)
{
	struct scatterlist *sg;
	int ret, i;

	ret = sg_alloc_table(&extent->sgt, rcl_extent_pieces(at, len),
			     GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	for_each_sgtable_sg(&extent->sgt, sg, i) {
		u32 offset = at->sg->offset + at->offset;
		unsigned long pfn = page_to_pfn(sg_page(at->sg));
		u32 take = min_t(u64, len, at->sg->length - at->offset);

		sg_set_page(sg, pfn_to_page(pfn + (offset >> PAGE_SHIFT)), take,
			    offset_in_page(offset));
		len -= take;
		at->offset += take;
		if (at->offset < at->sg->length)
			continue;
		at->sg = sg_next(at->sg);
		at->offset = 0;
	}
	return 0;
}

static int rcl_extent_fill(struct rcl_extent *extent, u64 addr, int n)
{
	struct ib_mr *mr = extent->mr;
	int ret;

	ret = ib_map_mr_sg(mr, extent->sgt.sgl, n, NULL, PAGE_SIZE);
	if (ret < 0)
		return ret;
	/* What has gaps inside pages cannot be registered. */
	if (ret != n || offset_in_page(mr->iova) != offset_in_page(addr))
		return -EINVAL;
	mr->iova = addr;
	ib_update_fast_reg_key(mr, get_random_u32() & 0xff);
	return 0;
}

/**
 * rcl_extent_map - cut off an extent, and let the device know its pages
 * @extent: filled in
 * @pd: of the registration
 * @at: begin of the extent; moved to its end
 * @addr: that it is to have for the peer and in pieces of entries
 * @len: bytes, not more than there are, nor than a fast registration takes
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, -EIO, -EINVAL for pieces that are no whole pages, or the
 * errno of the verbs call.
 */
int rcl_extent_map(struct rcl_extent *extent, struct ib_pd *pd,
		   struct rcl_extent_cut *at, u64 addr, u64 len)
{
	struct sg_table *sgt = &extent->sgt;
	int ret, n;

	ret = rcl_extent_cut(extent, at, len);
	if (ret)
		return ret;
	ret = -EIO;
	n = ib_dma_map_sg(pd->device, sgt->sgl, sgt->orig_nents,
			  DMA_BIDIRECTIONAL);
	if (!n)
		goto err_free;
	extent->mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG,
				 PFN_UP(offset_in_page(addr) + len));
	ret = PTR_ERR_OR_ZERO(extent->mr);
	if (ret)
		goto err_unmap;
	ret = rcl_extent_fill(extent, addr, n);
	if (ret)
		goto err_dereg;
	return 0;

err_dereg:
	ib_dereg_mr(extent->mr);
err_unmap:
	ib_dma_unmap_sg(pd->device, sgt->sgl, sgt->orig_nents,
			DMA_BIDIRECTIONAL);
err_free:
	sg_free_table(sgt);
	return ret;
}

/**
 * rcl_extent_unmap - end its registration
 * @extent: mapped
 *
 * Context: may sleep.
 * Return: 0 when neither the device nor the peer reaches the pages any more, or
 * what ib_dereg_mr() says.
 */
int rcl_extent_unmap(struct rcl_extent *extent)
{
	struct ib_device *ib = extent->mr->device;
	int ret;

	ret = ib_dereg_mr(extent->mr);
	if (ret)
		return ret;
	ib_dma_unmap_sg(ib, extent->sgt.sgl, extent->sgt.orig_nents,
			DMA_BIDIRECTIONAL);
	sg_free_table(&extent->sgt);
	return 0;
}
