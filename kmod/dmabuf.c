// SPDX-License-Identifier: GPL-2.0
/*
 * A dma-buf is attached to the RDMA device, pinned and mapped with the first of
 * its registrations, and released when the last one has ended, so the exporter
 * learns of another epoch, and of another device. Between two registrations the
 * region holds only the dma-buf, and the exporter may move what nobody
 * accesses.
 */
#include "dmabuf.h"

#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include <uapi/linux/rclink_dev.h>

#include "compat.h"
#include "extent.h"
#include "region.h"

/* Like MODULE_IMPORT_NS(), whose argument is a string since 6.13. */
MODULE_INFO(import_ns, "DMA_BUF");

/* How long to wait for what the exporter still copies there. */
#define RCL_DMABUF_WAIT		(5 * HZ)
#define RCL_DMABUF_LOOK		(HZ / 20)	/* still wanted, no signal? */

/**
 * struct rcl_dmabuf - memory of an exporter
 * @memory: as the region knows it
 * @buf: a reference is held
 * @offset: where the region begins in @buf, bytes
 * @attach: to the device of the registrations, pinned; or NULL
 * @sgt: what the device is to use: DMA addresses, and perhaps no pages
 */
struct rcl_dmabuf {
	struct rcl_memory memory;
	struct dma_buf *buf;
	u64 offset;
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
};

/*
 * Pinned memory does not move, and before it is pinned there is nothing that
 * the device could use. But without these ops the exporter would have to pin it
 * where every device can reach it.
 */
static const struct dma_buf_attach_ops rcl_dmabuf_attach_ops = {
	.allow_peer2peer = true,
	RCL_COMPAT_MOVE_NOTIFY
};

/*
 * Sets @content to a fence for what the exporter still copies there, or NULL.
 * If a copy has failed, the memory has some other content, and will keep it.
 */
static int rcl_dmabuf_content(struct dma_buf *buf, struct dma_fence **content)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	int ret;

	/* First, because it covers only fences that have not signaled. */
	ret = dma_resv_get_singleton(buf->resv, DMA_RESV_USAGE_KERNEL, content);
	if (ret)
		return ret;
	dma_resv_for_each_fence(&cursor, buf->resv, DMA_RESV_USAGE_KERNEL,
				fence) {
		if (dma_fence_get_status(fence) >= 0)
			continue;
		dma_fence_put(*content);
		return -EIO;
	}
	return 0;
}

/*
 * The list may be there before the content of the memory is. The dma-buf is not
 * locked meanwhile: pinned memory stays, and others use the dma-buf, too.
 */
static int rcl_dmabuf_wait(struct dma_fence *content, struct task_struct *owner,
			   const bool *wanted)
{
	unsigned long end = jiffies + RCL_DMABUF_WAIT;
	long left;

	do {
		left = dma_fence_wait_timeout(content, false, RCL_DMABUF_LOOK);
		if (left)
			return left < 0 || dma_fence_get_status(content) < 0 ?
			       -EIO : 0;
		if (!READ_ONCE(*wanted))
			return -ECANCELED;
		if (owner && signal_pending(owner))
			return -EINTR;
	} while (time_before(jiffies, end));
	return -ETIMEDOUT;
}

static int rcl_dmabuf_pin(struct rcl_dmabuf *dmabuf,
			  struct dma_buf_attachment *attach,
			  struct dma_fence **content)
{
	enum dma_data_direction dir = rcl_memory_dir(&dmabuf->memory);
	struct sg_table *sgt;
	int ret;

	dma_resv_assert_held(attach->dmabuf->resv);
	ret = dma_buf_pin(attach);
	if (ret)
		return ret;
	sgt = dma_buf_map_attachment(attach, dir);
	ret = PTR_ERR_OR_ZERO(sgt);
	if (ret)
		goto err_unpin;
	ret = rcl_dmabuf_content(attach->dmabuf, content);
	if (ret)
		goto err_unmap;
	dmabuf->sgt = sgt;
	return 0;

err_unmap:
	dma_buf_unmap_attachment(attach, sgt, dir);
err_unpin:
	dma_buf_unpin(attach);
	return ret;
}

static void rcl_dmabuf_unpin(struct rcl_dmabuf *dmabuf,
			     struct dma_buf_attachment *attach)
{
	dma_resv_lock(attach->dmabuf->resv, NULL);
	dma_buf_unmap_attachment(attach, dmabuf->sgt,
				 rcl_memory_dir(&dmabuf->memory));
	dma_buf_unpin(attach);
	dma_resv_unlock(attach->dmabuf->resv);
}

static int rcl_dmabuf_attach(struct rcl_dmabuf *dmabuf, struct ib_device *ib,
			     const bool *wanted)
{
	struct dma_buf_attachment *attach;
	struct dma_buf *buf = dmabuf->buf;
	struct dma_fence *content;
	int ret;

	attach = dma_buf_dynamic_attach(buf, ib->dma_device,
					&rcl_dmabuf_attach_ops, dmabuf);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	dma_resv_lock(buf->resv, NULL);
	ret = rcl_dmabuf_pin(dmabuf, attach, &content);
	dma_resv_unlock(buf->resv);
	if (ret)
		goto err_detach;
	if (content)
		ret = rcl_dmabuf_wait(content, dmabuf->memory.owner, wanted);
	dma_fence_put(content);
	if (ret)
		goto err_unpin;
	/* Held for good if a registration stays: see rcl_mapping_unmap(). */
	get_device(attach->dev);
	dmabuf->attach = attach;
	return 0;

err_unpin:
	rcl_dmabuf_unpin(dmabuf, attach);
err_detach:
	dma_buf_detach(buf, attach);
	return ret;
}

static void rcl_dmabuf_unmap(struct rcl_memory *memory)
{
	struct rcl_dmabuf *dmabuf = container_of(memory, struct rcl_dmabuf,
						 memory);
	struct dma_buf_attachment *attach = dmabuf->attach;
	struct device *dev;

	if (!attach)
		return;
	dev = attach->dev;
	dmabuf->attach = NULL;
	rcl_dmabuf_unpin(dmabuf, attach);
	dma_buf_detach(dmabuf->buf, attach);
	put_device(dev);
}

/* Is the whole region in the exporter's list, and where does it begin? */
static int rcl_dmabuf_find(const struct rcl_dmabuf *dmabuf,
			   struct rcl_extent_cut *at)
{
	struct scatterlist *sg;
	u64 there = 0;
	int i;

	at->sg = NULL;
	for_each_sgtable_dma_sg(dmabuf->sgt, sg, i) {
		u64 end = there + sg_dma_len(sg);

		if (!at->sg && dmabuf->offset < end) {
			at->sg = sg;
			at->offset = dmabuf->offset - there;
		}
		there = end;
	}
	return there < dmabuf->offset + dmabuf->memory.len ? -EIO : 0;
}

static int rcl_dmabuf_map(struct rcl_memory *memory, struct ib_device *ib,
			  struct rcl_extent_cut *at, const bool *wanted)
{
	struct rcl_dmabuf *dmabuf = container_of(memory, struct rcl_dmabuf,
						 memory);
	int ret;

	/* Such a device has the processor read and write for it. */
	if (ib_uses_virt_dma(ib))
		return -EOPNOTSUPP;
	ret = rcl_dmabuf_attach(dmabuf, ib, wanted);
	if (ret)
		return ret;
	ret = rcl_dmabuf_find(dmabuf, at);
	if (ret)
		rcl_dmabuf_unmap(memory);
	return ret;
}

static void rcl_dmabuf_free(struct rcl_memory *memory)
{
	struct rcl_dmabuf *dmabuf = container_of(memory, struct rcl_dmabuf,
						 memory);

	dma_buf_put(dmabuf->buf);
	kfree(dmabuf);
}

/* As for process memory: whoever cannot write it may only have it read. */
static int rcl_dmabuf_allows(const struct dma_buf *buf,
			     const struct rclink_dev_dmabuf *arg)
{
	if (!(arg->rights & RCLINK_REGION_READ_ONLY) &&
	    !(buf->file->f_mode & FMODE_WRITE))
		return -EACCES;
	return arg->offset + arg->len > buf->size ? -EINVAL : 0;
}

static struct rcl_dmabuf *rcl_dmabuf_new(const struct rclink_dev_dmabuf *arg)
{
	struct rcl_dmabuf *dmabuf;
	int ret;

	dmabuf = kzalloc(sizeof(*dmabuf), GFP_KERNEL_ACCOUNT);
	if (!dmabuf)
		return ERR_PTR(-ENOMEM);
	dmabuf->buf = dma_buf_get(arg->fd);
	if (IS_ERR(dmabuf->buf)) {
		ret = PTR_ERR(dmabuf->buf);
		kfree(dmabuf);
		return ERR_PTR(ret);
	}
	dmabuf->offset = arg->offset;
	dmabuf->memory.len = arg->len;
	dmabuf->memory.first = offset_in_page(arg->offset);
	dmabuf->memory.npages = rcl_memory_npages(arg->offset, arg->len);
	dmabuf->memory.moves = dma_buf_is_dynamic(dmabuf->buf);
	dmabuf->memory.map = rcl_dmabuf_map;
	dmabuf->memory.unmap = rcl_dmabuf_unmap;
	dmabuf->memory.free = rcl_dmabuf_free;
	ret = rcl_dmabuf_allows(dmabuf->buf, arg);
	if (!ret)
		return dmabuf;
	rcl_dmabuf_free(&dmabuf->memory);
	return ERR_PTR(ret);
}

/**
 * rcl_dmabuf_register - register memory of a dma-buf
 * @chan: open
 * @arg: what to register; @arg->handle is set
 *
 * Nothing is counted as locked: these are not pages of the process, and whoever
 * has the dma-buf can keep its memory anyway.
 *
 * Context: may sleep.
 * Return: 0, -EINVAL, also for a file that is no dma-buf and for a range beyond
 * its end, -EBADF, -EACCES for one that cannot be written, -EOPNOTSUPP for a
 * device without DMA of its own, -EIO for one that is shorter than it says, or
 * whose content the exporter could not bring there, -EINTR for a signal,
 * -ETIMEDOUT when the exporter did not have it ready, -ENOMEM, or what the
 * exporter, rcl_region_check() and rcl_region_register() say.
 */
int rcl_dmabuf_register(struct rcl_chan *chan, struct rclink_dev_dmabuf *arg)
{
	struct rcl_dmabuf *dmabuf;
	int ret;

	if (!arg->len || arg->offset + arg->len < arg->offset || arg->pad ||
	    !memchr(arg->name, 0, sizeof(arg->name)))
		return -EINVAL;
	ret = rcl_region_check(chan, arg->name, arg->rights,
			       rcl_memory_npages(arg->offset, arg->len));
	if (ret)
		return ret;
	dmabuf = rcl_dmabuf_new(arg);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	return rcl_region_register(chan, &dmabuf->memory, arg->name,
				   arg->rights, &arg->handle);
}
