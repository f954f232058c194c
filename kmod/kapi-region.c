// SPDX-License-Identifier: GPL-2.0
/* Memory of kernel modules, and of their peers: see include/rclink.h. */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "kapi.h"
#include "region.h"
#include "remote.h"

static void rcl_kapi_memory_free(struct rcl_memory *memory)
{
	sg_free_table(&memory->sgt);
	kfree(memory);
}

static int rcl_kapi_pages(struct scatterlist *sgl, unsigned int nents,
			  u32 *npages)
{
	struct scatterlist *sg;
	unsigned int i;
	u64 n = 0;

	for_each_sg(sgl, sg, nents, i) {
		if (!sg->length)
			return -EINVAL;
		n += DIV_ROUND_UP((u64)offset_in_page(sg->offset) + sg->length,
				  PAGE_SIZE);
	}
	*npages = n;
	return n > U32_MAX ? -EMSGSIZE : 0;
}

static int rcl_kapi_register(struct rclink_chan *chan,
			     struct rcl_memory *memory, const char *name,
			     u32 rights, u32 *handle)
{
	int ret;

	memory->free = rcl_kapi_memory_free;
	ret = rcl_region_check(&chan->chan, name, rights, memory->npages);
	if (ret) {
		rcl_kapi_memory_free(memory);
		return ret;
	}
	return rcl_region_register(&chan->chan, memory, name, rights, handle);
}

/**
 * rclink_register_sg - register memory by a list of its pieces
 * @chan: any
 * @sgl: the list; each piece but the first begins with a page, each but the
 *	last one ends with one, and none is empty; only read, during the call
 * @nents: pieces of the list
 * @name: the peer may import it under this name; NULL for local use only
 * @rights: RCLINK_REGION_*, what the peer may do; 0 without @name; with
 *	RCLINK_REGION_READ_ONLY the device does not write there
 * @handle: set; names it in entries of this channel
 *
 * The memory stays the caller's, who keeps it until rclink_withdraw() or
 * rclink_close() has returned. While it is registered the device and the
 * processor use it side by side, so it must be coherent for that device: on
 * machines where that needs bounce buffers or cache maintenance, it is not.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: 0, -EINVAL, -EMSGSIZE for more than 4096 registrations of the device
 * take, -EEXIST for a name that the link has already, -EOPNOTSUPP for an atomic
 * right that the device does not have, or RCLINK_REGION_INVALIDATE where one
 * registration is too small, -ENOSPC, -ENOMEM, -EINTR for a fatal signal, the
 * reason when the channel is over, -EAGAIN while it is suspended, the errno of
 * a verbs call, or -ENOTRECOVERABLE when that failed in the midst, and the
 * device did not end what it had: then the memory must never be used for
 * anything else.
 */
int rclink_register_sg(struct rclink_chan *chan, struct scatterlist *sgl,
		       unsigned int nents, const char *name, u32 rights,
		       u32 *handle)
{
	struct scatterlist *from, *to;
	struct rcl_memory *memory;
	unsigned int i;
	u32 npages;
	int ret;

	name = name ? : "";
	if (!nents || strnlen(name, RCLINK_DEV_REGION_LEN) ==
		      RCLINK_DEV_REGION_LEN)
		return -EINVAL;
	ret = rcl_kapi_pages(sgl, nents, &npages);
	if (ret)
		return ret;
	memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	if (!memory)
		return -ENOMEM;
	ret = sg_alloc_table(&memory->sgt, nents, GFP_KERNEL);
	if (ret) {
		kfree(memory);
		return ret;
	}
	memory->first = offset_in_page(sgl->offset);
	memory->npages = npages;
	to = memory->sgt.sgl;
	for_each_sg(sgl, from, nents, i) {
		sg_set_page(to, sg_page(from), from->length, from->offset);
		memory->len += from->length;
		to = sg_next(to);
	}
	return rcl_kapi_register(chan, memory, name, rights, handle);
}
EXPORT_SYMBOL_GPL(rclink_register_sg);

static struct page *rcl_kapi_page(const void *p)
{
	return is_vmalloc_addr(p) ? vmalloc_to_page(p) : virt_to_page(p);
}

/**
 * rclink_register - register a buffer
 * @chan: any
 * @buf: of kmalloc(), vmalloc() or a page allocator
 * @len: bytes, 2 GiB - 1 at most
 * @name: as for rclink_register_sg()
 * @rights: as for rclink_register_sg()
 * @handle: set; names it in entries of this channel
 *
 * Context: as for rclink_register_sg(), which also says whose the memory is.
 * Return: as for rclink_register_sg().
 */
int rclink_register(struct rclink_chan *chan, void *buf, size_t len,
		    const char *name, u32 rights, u32 *handle)
{
	u32 npages = DIV_ROUND_UP(offset_in_page(buf) + len, PAGE_SIZE);
	struct page **pages;
	struct sg_table sgt;
	u32 i;
	int ret;

	if (!len)
		return -EINVAL;
	if (len > INT_MAX)
		return -EMSGSIZE;
	/* As a module's static data is not: that would be another page. */
	if (WARN_ON_ONCE(!is_vmalloc_addr(buf) && !virt_addr_valid(buf)))
		return -EINVAL;
	pages = kvmalloc_array(npages, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < npages; i++)
		pages[i] = rcl_kapi_page(buf + i * PAGE_SIZE);
	ret = sg_alloc_table_from_pages(&sgt, pages, npages,
					offset_in_page(buf), len, GFP_KERNEL);
	kvfree(pages);
	if (ret)
		return ret;
	ret = rclink_register_sg(chan, sgt.sgl, sgt.orig_nents, name, rights,
				 handle);
	sg_free_table(&sgt);
	return ret;
}
EXPORT_SYMBOL_GPL(rclink_register);

/**
 * rclink_withdraw - end a registration
 * @chan: any
 * @handle: of rclink_register()
 *
 * What is in flight fails, here or at the peer. Afterwards neither the device
 * nor the peer accesses the memory.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: 0, -ESTALE for no such region, or -EIO when the device did not end
 * the registration: then the memory must never be used for anything else.
 */
int rclink_withdraw(struct rclink_chan *chan, u32 handle)
{
	return rcl_region_withdraw(&chan->chan, handle);
}
EXPORT_SYMBOL_GPL(rclink_withdraw);

/**
 * rclink_import - find a region of the peer
 * @chan: any
 * @name: that the peer registered it under
 * @remote: set
 *
 * Context: may sleep; a fatal signal interrupts it. Not from a callback of
 * rclink.
 * Return: 0, -ENOENT, -EINVAL, -ENOSPC beyond 64 at a time, -EINTR, -ENOMEM,
 * -EAGAIN while the link is down and the channel suspended, or the reason when
 * the channel is over.
 */
int rclink_import(struct rclink_chan *chan, const char *name,
		  struct rclink_remote *remote)
{
	struct rcl_window window;
	int ret;

	if (!rcl_kapi_is_name(name, RCLINK_DEV_REGION_LEN))
		return -EINVAL;
	ret = rcl_chan_import(&chan->chan, name, &window, &remote->handle);
	if (ret)
		return ret;
	remote->len = window.len;
	remote->rights = window.rights;
	return 0;
}
EXPORT_SYMBOL_GPL(rclink_import);

/**
 * rclink_release - give an import back
 * @chan: any
 * @remote: of rclink_import(); cannot be used any more afterwards
 *
 * What is in flight goes on, and another region can be imported instead.
 *
 * Context: process context. Not from a callback of rclink.
 * Return: 0, or -ESTALE for no such import.
 */
int rclink_release(struct rclink_chan *chan,
		   const struct rclink_remote *remote)
{
	return rcl_remote_release(&chan->chan, remote->handle);
}
EXPORT_SYMBOL_GPL(rclink_release);
