// SPDX-License-Identifier: GPL-2.0
/*
 * Pages are registered at the processor's page size, though larger ones would
 * make fewer extents: behind an IOMMU nothing keeps those aligned.
 */
#include "extent.h"

#include <linux/dma-map-ops.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/random.h>
#include <linux/swiotlb.h>
#include <rdma/ib_verbs.h>
#include <xen/xen.h>

#include "charge.h"
#include "memory.h"

static u32 rcl_extent_piece(const struct rcl_extent_cut *at,
			    const struct scatterlist *sg)
{
	return at->memory->map ? sg_dma_len(sg) : sg->length;
}

/* What the device takes in one piece; no page is in two pieces. */
static u32 rcl_extent_next(const struct rcl_extent_cut *at, u32 max, u64 len)
{
	u32 take = min_t(u64, len, rcl_extent_piece(at, at->sg) - at->offset);

	if (at->memory->map)
		return take;
	max = max_t(u32, max & PAGE_MASK, PAGE_SIZE);
	return min(take, max - (u32)offset_in_page(at->sg->offset +
						   at->offset));
}

static void rcl_extent_pass(struct rcl_extent_cut *at, u32 len)
{
	at->offset += len;
	if (at->offset < rcl_extent_piece(at, at->sg))
		return;
	at->sg = sg_next(at->sg);
	at->offset = 0;
}

static u32 rcl_extent_pieces(const struct rcl_extent_cut *at, u32 max, u64 len)
{
	struct rcl_extent_cut ahead = *at;
	u32 n, take;

	for (n = 0; len; n++) {
		take = rcl_extent_next(&ahead, max, len);
		rcl_extent_pass(&ahead, take);
		len -= take;
	}
	return n;
}

/* Takes the next bytes of the list, all of which are in one piece. */
static void rcl_extent_take(struct scatterlist *to,
			    const struct rcl_extent_cut *at, u32 len)
{
	struct scatterlist *from = at->sg;
	u64 offset = (u64)from->offset + at->offset;

	if (at->memory->map) {
		sg_dma_address(to) = sg_dma_address(from) + at->offset;
		sg_dma_len(to) = len;
		return;
	}
	sg_set_page(to, pfn_to_page(page_to_pfn(sg_page(from)) +
				    (offset >> PAGE_SHIFT)), len,
		    offset_in_page(offset));
}

static int rcl_extent_alloc(struct rcl_extent *extent, u32 n,
			    struct mem_cgroup *memcg)
{
	struct rcl_charge charge = rcl_charge_begin(memcg);
	int ret;

	ret = sg_alloc_table(&extent->sgt, n, RCL_GFP_CHARGED);
	rcl_charge_end(&charge);
	/* As in rcl_charged_kvcalloc(). */
	return ret ? sg_alloc_table(&extent->sgt, n, GFP_KERNEL) : 0;
}

static int rcl_extent_cut(struct rcl_extent *extent, u32 max,
			  struct rcl_extent_cut *at, u64 len)
{
	struct scatterlist *sg;
	int ret, i;

	ret = rcl_extent_alloc(extent, rcl_extent_pieces(at, max, len),
			       at->memory->memcg);
	if (ret)
		return ret;
	for_each_sgtable_sg(&extent->sgt, sg, i) {
		u32 take = rcl_extent_next(at, max, len);

		rcl_extent_take(sg, at, take);
		rcl_extent_pass(at, take);
		len -= take;
	}
	return 0;
}

/* dma-iommu bounces partial pages for untrusted devices. */
static bool rcl_extent_is_untrusted(struct device *dev)
{
	return dev_is_pci(dev) && to_pci_dev(dev)->untrusted;
}

/*
 * Otherwise the device reaches a copy, whose content is not what others see.
 * What is one piece to a paravirtual guest of Xen may really be several, and is
 * then copied, which nothing tells beforehand.
 */
static bool rcl_extent_is_direct(struct ib_device *ib)
{
	struct device *dev = ib->dma_device;

	return ib_uses_virt_dma(ib) ||
	       (!is_swiotlb_force_bounce(dev) && dev_is_dma_coherent(dev) &&
		!dma_addressing_limited(dev) && !xen_pv_domain() &&
		!rcl_extent_is_untrusted(dev));
}

/* Returns how many pieces the device sees, 0 on failure. */
static int rcl_extent_map_dma(struct rcl_extent *extent,
			      const struct rcl_memory *memory,
			      struct ib_device *ib)
{
	struct sg_table *sgt = &extent->sgt;

	if (memory->map)
		return sgt->orig_nents;
	return ib_dma_map_sg(ib, sgt->sgl, sgt->orig_nents,
			     rcl_memory_dir(memory));
}

static void rcl_extent_unmap_dma(struct rcl_extent *extent,
				 const struct rcl_memory *memory,
				 struct ib_device *ib)
{
	struct sg_table *sgt = &extent->sgt;

	if (!memory->map)
		ib_dma_unmap_sg(ib, sgt->sgl, sgt->orig_nents,
				rcl_memory_dir(memory));
}

static int rcl_extent_fill(struct rcl_extent *extent, u64 addr, int n)
{
	struct ib_mr *mr = extent->mr;
	int ret;

	ret = ib_map_mr_sg(mr, extent->sgt.sgl, n, NULL, PAGE_SIZE);
	if (ret < 0)
		return ret;
	/* Memory with gaps inside pages cannot be registered. */
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
 * @at: beginning of the extent; moved to its end
 * @addr: address that it is to have for the peer and in pieces of entries
 * @len: bytes, no more than are left, nor than a fast registration takes
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP where the device would reach a copy, -ENOMEM, -EIO,
 * -EINVAL for pieces that are not whole pages, or the errno of the verbs call.
 */
int rcl_extent_map(struct rcl_extent *extent, struct ib_pd *pd,
		   struct rcl_extent_cut *at, u64 addr, u64 len)
{
	struct sg_table *sgt = &extent->sgt;
	int ret, n;

	if (!at->memory->map && !rcl_extent_is_direct(pd->device))
		return -EOPNOTSUPP;
	ret = rcl_extent_cut(extent, ib_dma_max_seg_size(pd->device), at, len);
	if (ret)
		return ret;
	ret = -EIO;
	n = rcl_extent_map_dma(extent, at->memory, pd->device);
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
	rcl_extent_unmap_dma(extent, at->memory, pd->device);
err_free:
	sg_free_table(sgt);
	return ret;
}

/**
 * rcl_extent_unmap - end the registration of an extent
 * @extent: mapped
 * @memory: memory that it is part of
 *
 * Context: may sleep.
 * Return: 0 when neither the device nor the peer can reach the pages any more,
 * or what ib_dereg_mr() says: then they also stay mapped for the device.
 */
int rcl_extent_unmap(struct rcl_extent *extent,
		     const struct rcl_memory *memory)
{
	struct ib_device *ib = extent->mr->device;
	int ret;

	ret = ib_dereg_mr(extent->mr);
	if (!ret)
		rcl_extent_unmap_dma(extent, memory, ib);
	/* The device has a list of its own. */
	sg_free_table(&extent->sgt);
	return ret;
}
