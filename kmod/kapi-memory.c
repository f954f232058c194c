// SPDX-License-Identifier: GPL-2.0
#include "kapi-memory.h"

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "memory.h"

static void rcl_kapi_memory_free(struct rcl_memory *memory)
{
	sg_free_table(&memory->sgt);
	kfree(memory);
}

static struct rcl_memory *rcl_kapi_memory_new(u32 first, u32 npages)
{
	struct rcl_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);

	if (!memory)
		return NULL;
	memory->first = first;
	memory->npages = npages;
	memory->free = rcl_kapi_memory_free;
	return memory;
}

static int rcl_kapi_pages(struct scatterlist *sgl, unsigned int nents,
			  u32 *npages)
{
	struct scatterlist *sg;
	unsigned int i;
	u64 n = 0;

	for_each_sg(sgl, sg, nents, i) {
		if (!sg->length || (i && !PAGE_ALIGNED(sg->offset)) ||
		    (i + 1 < nents && !PAGE_ALIGNED(sg->offset + sg->length)))
			return -EINVAL;
		n += DIV_ROUND_UP((u64)offset_in_page(sg->offset) + sg->length,
				  PAGE_SIZE);
	}
	*npages = n;
	return n > U32_MAX ? -EMSGSIZE : 0;
}

/**
 * rcl_kapi_memory_sg - the memory that a list of pieces describes
 * @sgl: the list, as rclink_register_sg() wants it
 * @nents: number of its pieces
 *
 * Context: may sleep.
 * Return: the memory, or an ERR_PTR: -EINVAL, -EMSGSIZE or -ENOMEM.
 */
struct rcl_memory *rcl_kapi_memory_sg(struct scatterlist *sgl,
				      unsigned int nents)
{
	struct scatterlist *from, *to;
	struct rcl_memory *memory;
	unsigned int i;
	u32 npages;
	int ret;

	if (!nents)
		return ERR_PTR(-EINVAL);
	ret = rcl_kapi_pages(sgl, nents, &npages);
	if (ret)
		return ERR_PTR(ret);
	memory = rcl_kapi_memory_new(offset_in_page(sgl->offset), npages);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(&memory->sgt, nents, GFP_KERNEL);
	if (ret) {
		kfree(memory);
		return ERR_PTR(ret);
	}
	to = memory->sgt.sgl;
	for_each_sg(sgl, from, nents, i) {
		sg_set_page(to, sg_page(from), from->length, from->offset);
		memory->len += from->length;
		to = sg_next(to);
	}
	return memory;
}

static struct page *rcl_kapi_page(const void *p)
{
	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

static int rcl_kapi_fill(struct rcl_memory *memory, void *buf, size_t len)
{
	struct page **pages;
	u32 i;
	int ret;

	pages = kvmalloc_array(memory->npages, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < memory->npages; i++)
		pages[i] = rcl_kapi_page(buf + i * PAGE_SIZE);
	ret = sg_alloc_table_from_pages(&memory->sgt, pages, memory->npages,
					memory->first, len, GFP_KERNEL);
	kvfree(pages);
	memory->len = len;
	return ret;
}

/**
 * rcl_kapi_memory - the memory of a buffer
 * @buf: from kmalloc(), vmalloc() or a page allocator
 * @len: bytes
 *
 * Context: may sleep.
 * Return: the memory, or an ERR_PTR: -EINVAL, -EMSGSIZE beyond 2 GiB - 1, or
 * -ENOMEM.
 */
struct rcl_memory *rcl_kapi_memory(void *buf, size_t len)
{
	u32 first = offset_in_page(buf);
	struct rcl_memory *memory;
	int ret;

	if (!len)
		return ERR_PTR(-EINVAL);
	if (len > INT_MAX)
		return ERR_PTR(-EMSGSIZE);
	/* A module's static data is neither: it would give another page. */
	if (WARN_ON_ONCE(!is_vmalloc_addr(buf) && !virt_addr_valid(buf)))
		return ERR_PTR(-EINVAL);
	memory = rcl_kapi_memory_new(first,
				     DIV_ROUND_UP(first + len, PAGE_SIZE));
	if (!memory)
		return ERR_PTR(-ENOMEM);
	ret = rcl_kapi_fill(memory, buf, len);
	if (!ret)
		return memory;
	kfree(memory);
	return ERR_PTR(ret);
}
