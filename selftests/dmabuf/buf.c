// SPDX-License-Identifier: GPL-2.0
/* A dma-buf of single pages. See exporter.h for its faults. */
#include "buf.h"

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

/* Like MODULE_IMPORT_NS(), whose argument is a string from 6.13 on. */
MODULE_INFO(import_ns, "DMA_BUF");

/*
 * Several importers map the same pages. The DMA API's debugging takes that as
 * intended if the CPU caches are not to be synchronized.
 */
#define EXPORTER_ATTRS	DMA_ATTR_SKIP_CPU_SYNC

/* The list that an importer gets, and the one that the DMA API knows. */
struct exporter_map {
	struct sg_table given;
	struct sg_table own;
};

static void exporter_pages_free(struct page **pages, u32 npages)
{
	u32 i;

	for (i = 0; i < npages && pages[i]; i++)
		put_page(pages[i]);
	kvfree(pages);
}

static struct page **exporter_pages_new(u32 npages)
{
	struct page **pages = kvcalloc(npages, sizeof(*pages), GFP_KERNEL);
	u32 i;

	for (i = 0; pages && i < npages; i++) {
		pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (pages[i])
			continue;
		exporter_pages_free(pages, npages);
		return NULL;
	}
	return pages;
}

struct exporter_buf *exporter_buf_new(const struct exporter_new *what)
{
	struct exporter_buf *buf;

	if (!what->len || !PAGE_ALIGNED(what->len) || what->len >> 30)
		return ERR_PTR(-EINVAL);
	buf = kzalloc(sizeof(*buf), GFP_KERNEL);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	kref_init(&buf->ref);
	mutex_init(&buf->lock);
	buf->what = *what;
	buf->npages = what->len >> PAGE_SHIFT;
	buf->pages = exporter_pages_new(buf->npages);
	if (buf->pages)
		return buf;
	kfree(buf);
	return ERR_PTR(-ENOMEM);
}

static void exporter_buf_release(struct kref *ref)
{
	struct exporter_buf *buf = container_of(ref, struct exporter_buf, ref);

	exporter_pages_free(buf->pages, buf->npages);
	kfree(buf);
}

void exporter_buf_put(struct exporter_buf *buf)
{
	kref_put(&buf->ref, exporter_buf_release);
}

/* Map the pages that the buffer has now. */
int exporter_buf_mmap(struct exporter_buf *buf, struct vm_area_struct *vma)
{
	int ret;

	mutex_lock(&buf->lock);
	ret = vm_map_pages(vma, buf->pages, buf->npages);
	mutex_unlock(&buf->lock);
	return ret;
}

static int exporter_fails(const struct exporter_buf *buf, u32 flag)
{
	return READ_ONCE(buf->what.flags) & flag ?
		       -(int)READ_ONCE(buf->what.error) : 0;
}

static int exporter_attach(struct dma_buf *dmabuf,
			   struct dma_buf_attachment *attach)
{
	struct exporter_buf *buf = dmabuf->priv;
	int ret = exporter_fails(buf, EXPORTER_FAIL_ATTACH);

	if (!ret)
		atomic_inc(&buf->attached);
	return ret;
}

static void exporter_detach(struct dma_buf *dmabuf,
			    struct dma_buf_attachment *attach)
{
	struct exporter_buf *buf = dmabuf->priv;

	WARN_ON(atomic_dec_return(&buf->attached) < 0);
}

static int exporter_pin(struct dma_buf_attachment *attach)
{
	struct exporter_buf *buf = attach->dmabuf->priv;
	int ret = exporter_fails(buf, EXPORTER_FAIL_PIN);

	dma_resv_assert_held(attach->dmabuf->resv);
	if (!ret)
		atomic_inc(&buf->pinned);
	return ret;
}

static void exporter_unpin(struct dma_buf_attachment *attach)
{
	struct exporter_buf *buf = attach->dmabuf->priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	WARN_ON(atomic_dec_return(&buf->pinned) < 0);
}

/* Make the importer's list, of which it may use the DMA addresses only. */
static int exporter_give(const struct exporter_buf *buf,
			 struct exporter_map *map)
{
	u32 flags = READ_ONCE(buf->what.flags);
	struct scatterlist *from, *to;
	int ret, i;

	ret = sg_alloc_table(&map->given, map->own.nents, GFP_KERNEL);
	if (ret)
		return ret;
	to = map->given.sgl;
	for_each_sgtable_dma_sg(&map->own, from, i) {
		if (!(flags & EXPORTER_PAGELESS))
			sg_set_page(to, sg_page(from), from->length, 0);
		sg_dma_address(to) = sg_dma_address(from);
		sg_dma_len(to) = sg_dma_len(from);
		if (flags & EXPORTER_RAGGED && !i)
			sg_dma_len(to) = PAGE_SIZE / 2;
		to = sg_next(to);
	}
	return 0;
}

static struct exporter_map *exporter_map_new(struct exporter_buf *buf,
					     struct device *dev,
					     enum dma_data_direction dir)
{
	u32 flags = READ_ONCE(buf->what.flags);
	struct exporter_map *map;
	struct scatterlist *sg;
	int ret, i;

	map = kzalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(&map->own, buf->npages -
			     !!(flags & EXPORTER_SHORT), GFP_KERNEL);
	if (ret)
		goto err_free;
	/* One page per entry, as of memory that was allocated page by page. */
	mutex_lock(&buf->lock);
	for_each_sgtable_sg(&map->own, sg, i)
		sg_set_page(sg, buf->pages[i], PAGE_SIZE, 0);
	mutex_unlock(&buf->lock);
	ret = dma_map_sgtable(dev, &map->own, dir, EXPORTER_ATTRS);
	if (ret)
		goto err_free_own;
	ret = exporter_give(buf, map);
	if (ret)
		goto err_unmap;
	return map;

err_unmap:
	dma_unmap_sgtable(dev, &map->own, dir, EXPORTER_ATTRS);
err_free_own:
	sg_free_table(&map->own);
err_free:
	kfree(map);
	return ERR_PTR(ret);
}

static struct sg_table *exporter_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	struct exporter_buf *buf = attach->dmabuf->priv;
	struct exporter_map *map;
	int ret = exporter_fails(buf, EXPORTER_FAIL_MAP);

	if (ret)
		return ERR_PTR(ret);
	map = exporter_map_new(buf, attach->dev, dir);
	if (IS_ERR(map))
		return ERR_CAST(map);
	atomic_inc(&buf->mapped);
	return &map->given;
}

static void exporter_unmap(struct dma_buf_attachment *attach,
			   struct sg_table *sgt, enum dma_data_direction dir)
{
	struct exporter_map *map = container_of(sgt, struct exporter_map,
						given);
	struct exporter_buf *buf = attach->dmabuf->priv;

	dma_unmap_sgtable(attach->dev, &map->own, dir, EXPORTER_ATTRS);
	sg_free_table(&map->own);
	sg_free_table(&map->given);
	kfree(map);
	WARN_ON(atomic_dec_return(&buf->mapped) < 0);
}

static void exporter_release(struct dma_buf *dmabuf)
{
	struct exporter_buf *buf = dmabuf->priv;

	WARN_ON(atomic_read(&buf->attached) || atomic_read(&buf->pinned) ||
		atomic_read(&buf->mapped));
	exporter_fence_end(buf);
	WRITE_ONCE(buf->alive, false);
	exporter_buf_put(buf);
}

static const struct dma_buf_ops exporter_static_ops = {
	.attach = exporter_attach,
	.detach = exporter_detach,
	.map_dma_buf = exporter_map,
	.unmap_dma_buf = exporter_unmap,
	.release = exporter_release,
};

static const struct dma_buf_ops exporter_dynamic_ops = {
	.attach = exporter_attach,
	.detach = exporter_detach,
	.pin = exporter_pin,
	.unpin = exporter_unpin,
	.map_dma_buf = exporter_map,
	.unmap_dma_buf = exporter_unmap,
	.release = exporter_release,
};

/* Return: a file descriptor, or a negative errno. */
int exporter_buf_export(struct exporter_buf *buf)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	int ret;

	info.ops = buf->what.flags & EXPORTER_DYNAMIC ? &exporter_dynamic_ops :
							&exporter_static_ops;
	info.size = (size_t)buf->npages << PAGE_SHIFT;
	info.flags = O_RDWR;
	info.priv = buf;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	kref_get(&buf->ref);
	WRITE_ONCE(buf->alive, true);
	ret = exporter_fence_add(buf, dmabuf);
	if (!ret)
		ret = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (ret < 0)
		dma_buf_put(dmabuf);
	return ret;
}

/* Move to other pages with the same content, as if memory were short. */
static int exporter_move_locked(struct exporter_buf *buf)
{
	struct page **old, **new;
	u32 i;

	if (atomic_read(&buf->pinned) || atomic_read(&buf->mapped))
		return -EBUSY;
	new = exporter_pages_new(buf->npages);
	if (!new)
		return -ENOMEM;
	mutex_lock(&buf->lock);
	old = buf->pages;
	for (i = 0; i < buf->npages; i++) {
		copy_highpage(new[i], old[i]);
		/* Make a use of the old page visible. */
		memset(page_address(old[i]), 0xaa, PAGE_SIZE);
	}
	buf->pages = new;
	mutex_unlock(&buf->lock);
	exporter_pages_free(old, buf->npages);
	return 0;
}

int exporter_buf_move(int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	int ret = -EINVAL;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	if (dmabuf->ops == &exporter_dynamic_ops) {
		dma_resv_lock(dmabuf->resv, NULL);
		dma_buf_move_notify(dmabuf);
		ret = exporter_move_locked(dmabuf->priv);
		dma_resv_unlock(dmabuf->resv);
	}
	dma_buf_put(dmabuf);
	return ret;
}

void exporter_buf_count(struct exporter_buf *buf, struct exporter_count *count)
{
	count->attached = atomic_read(&buf->attached);
	count->pinned = atomic_read(&buf->pinned);
	count->mapped = atomic_read(&buf->mapped);
	count->alive = READ_ONCE(buf->alive);
}
