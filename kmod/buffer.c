// SPDX-License-Identifier: GPL-2.0
#include "buffer.h"

#include <linux/mm.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "pattern.h"

/* Each page is mapped on its own, so that it can be synced on its own. */
static int rcl_buffer_add_page(struct rcl_buffer *buf, struct ib_device *ib,
			       struct scatterlist *sg)
{
	struct page *page;
	u64 dma;

	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	dma = ib_dma_map_page(ib, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(ib, dma)) {
		__free_page(page);
		return -EIO;
	}
	sg_set_page(sg, page, PAGE_SIZE, 0);
	sg_dma_address(sg) = dma;
	sg_dma_len(sg) = PAGE_SIZE;
	buf->npages++;
	return 0;
}

static void rcl_buffer_free_pages(struct rcl_buffer *buf, struct ib_device *ib)
{
	struct scatterlist *sg;
	u32 i;

	for_each_sg(buf->sg, sg, buf->npages, i) {
		ib_dma_unmap_page(ib, sg_dma_address(sg), PAGE_SIZE,
				  DMA_BIDIRECTIONAL);
		__free_page(sg_page(sg));
	}
	kfree(buf->sg);
}

/*
 * To the peer, the buffer begins at a random address: so the peer learns no
 * kernel address, and anybody who guesses must guess this address, too.
 */
static int rcl_buffer_map(struct rcl_buffer *buf)
{
	int n;

	n = ib_map_mr_sg(buf->mr, buf->sg, buf->npages, NULL, PAGE_SIZE);
	if (n < 0)
		return n;
	if (n != buf->npages)
		return -EINVAL;
	buf->mr->iova = (u64)get_random_u32() << PAGE_SHIFT;
	ib_update_fast_reg_key(buf->mr, get_random_u32() & 0xff);
	return 0;
}

/**
 * rcl_buffer_create - allocate and map a link buffer
 * @buf: zeroed, filled in
 * @pd: of the link
 * @length: bytes
 *
 * The peer has no access before rcl_qp_register().
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, -EIO, or the errno of the verbs call.
 */
int rcl_buffer_create(struct rcl_buffer *buf, struct ib_pd *pd, u32 length)
{
	u32 npages = DIV_ROUND_UP(length, PAGE_SIZE);
	struct scatterlist *sg;
	int ret = 0;
	u32 i;

	buf->length = length;
	buf->npages = 0;
	buf->sg = kmalloc_array(npages, sizeof(*buf->sg), GFP_KERNEL);
	if (!buf->sg)
		return -ENOMEM;
	sg_init_table(buf->sg, npages);
	for_each_sg(buf->sg, sg, npages, i) {
		ret = rcl_buffer_add_page(buf, pd->device, sg);
		if (ret)
			goto err_free_pages;
	}

	buf->mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, npages);
	if (IS_ERR(buf->mr)) {
		ret = PTR_ERR(buf->mr);
		goto err_free_pages;
	}
	ret = rcl_buffer_map(buf);
	if (ret)
		goto err_dereg_mr;
	return 0;

err_dereg_mr:
	ib_dereg_mr(buf->mr);
err_free_pages:
	rcl_buffer_free_pages(buf, pd->device);
	return ret;
}

/**
 * rcl_buffer_destroy - the mirror of rcl_buffer_create()
 * @buf: to be destroyed
 * @lost: its PD still has a QP that the device keeps, and that may access it
 *
 * Context: may sleep.
 */
void rcl_buffer_destroy(struct rcl_buffer *buf, bool lost)
{
	struct ib_device *ib = buf->mr->device;

	lost |= ib_dereg_mr(buf->mr);
	if (!lost) {
		rcl_buffer_free_pages(buf, ib);
		return;
	}
	/* As for regions: never reuse memory that the device may reach. */
	pr_warn_ratelimited("the device did not let a link buffer go: %u pages are lost\n",
			    buf->npages);
	kfree(buf->sg);
}

/**
 * rcl_buffer_walk - write a pattern, or compare with it
 * @buf: the buffer
 * @offset: where to begin; the caller has checked that the range lies inside
 * @len: bytes
 * @seed: which pattern
 * @fill: true to write, false to compare
 *
 * Context: may sleep.
 * Return: true if all bytes are as they should be.
 */
bool rcl_buffer_walk(struct rcl_buffer *buf, u32 offset, u32 len, u32 seed,
		     bool fill)
{
	struct ib_device *ib = buf->mr->device;
	bool same = true;
	u32 done = 0;

	while (done < len) {
		struct scatterlist *sg = &buf->sg[(offset + done) / PAGE_SIZE];
		u32 in_page = (offset + done) % PAGE_SIZE;
		u32 n = min_t(u32, len - done, PAGE_SIZE - in_page);
		u8 *p = (u8 *)page_address(sg_page(sg)) + in_page;

		ib_dma_sync_single_for_cpu(ib, sg_dma_address(sg), PAGE_SIZE,
					   DMA_BIDIRECTIONAL);
		if (fill)
			rcl_pattern_fill(p, done, n, seed);
		else
			same &= rcl_pattern_check(p, done, n, seed);
		ib_dma_sync_single_for_device(ib, sg_dma_address(sg), PAGE_SIZE,
					      DMA_BIDIRECTIONAL);
		done += n;
		cond_resched();
	}
	return same;
}
