// SPDX-License-Identifier: GPL-2.0
/* Regions of kernel modules for all links: see include/rclink.h. */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/slab.h>

#include "kapi.h"
#include "kapi-memory.h"
#include "memory.h"
#include "offer.h"
#include "share.h"

/**
 * struct rclink_share - a region of a module for all links
 * @offer: what the links know of it
 */
struct rclink_share {
	struct rcl_offer offer;
};

static int rcl_kapi_offer(struct rclink_share *share,
			  struct rcl_memory *memory, const char *name,
			  u32 rights)
{
	int ret;

	if (!name || !rcl_kapi_is_name(name, RCLINK_DEV_REGION_LEN))
		return -EINVAL;
	ret = rcl_share_check(name, rights, memory->npages);
	if (ret)
		return ret;
	return rcl_share_begin(&share->offer, memory, name, rights, NULL);
}

static struct rclink_share *rcl_kapi_share(struct rcl_memory *memory,
					   const char *name, u32 rights)
{
	struct rclink_share *share;
	int ret = -ENOMEM;

	if (IS_ERR(memory))
		return ERR_CAST(memory);
	share = kzalloc(sizeof(*share), GFP_KERNEL);
	if (share)
		ret = rcl_kapi_offer(share, memory, name, rights);
	if (!ret)
		return share;
	kfree(share);
	memory->free(memory);
	return ERR_PTR(ret);
}

/**
 * rclink_share_sg - export memory to all links by a list of its pieces
 * @sgl: as for rclink_register_sg()
 * @nents: number of its pieces
 * @name: the peer of any link may import it under this name
 * @rights: RCLINK_REGION_*, what peers may do: at least one, and not
 *	RCLINK_REGION_INVALIDATE; with RCLINK_REGION_READ_ONLY no device writes
 *	there
 *
 * The region needs no link and no channel, and is there for later links, too.
 * It is registered with a link when its peer imports it for the first time in
 * an epoch. It takes precedence over regions of that name that processes export
 * to all links; one of a channel takes precedence over it, on the channel's
 * link. It is for peers: to send from the same memory, register it with a
 * channel, too.
 *
 * The memory stays the caller's, who must keep it until rclink_unshare() has
 * returned. Devices and the processor use it side by side, so it must be
 * coherent for each device: the peer finds no such region on a link where it is
 * not, or whose device would take more than 4096 registrations, or has none of
 * the rights.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: the share, or an ERR_PTR: -EINVAL, -EMSGSIZE beyond 2097152 pages,
 * -EEXIST if the kernel or root exports another region of that name to all
 * links, -ENOSPC beyond 1024 regions of the kernel and root, or -ENOMEM.
 */
struct rclink_share *rclink_share_sg(struct scatterlist *sgl,
				     unsigned int nents, const char *name,
				     u32 rights)
{
	return rcl_kapi_share(rcl_kapi_memory_sg(sgl, nents), name, rights);
}
EXPORT_SYMBOL_GPL(rclink_share_sg);

/**
 * rclink_share - export a buffer to all links
 * @buf: from kmalloc(), vmalloc() or a page allocator
 * @len: bytes, 2 GiB - 1 at most
 * @name: as for rclink_share_sg()
 * @rights: as for rclink_share_sg()
 *
 * Context: as for rclink_share_sg(), which also says whose the memory is.
 * Return: as for rclink_share_sg().
 */
struct rclink_share *rclink_share(void *buf, size_t len, const char *name,
				  u32 rights)
{
	return rcl_kapi_share(rcl_kapi_memory(buf, len), name, rights);
}
EXPORT_SYMBOL_GPL(rclink_share);

/**
 * rclink_unshare - end all registrations of a region for all links
 * @share: of rclink_share() or rclink_share_sg(); gone afterwards
 *
 * What peers have in flight on it, or post later, fails with "remote access
 * error"; that ends their channels, but not the links. Afterwards no device and
 * no peer accesses the memory.
 *
 * Context: may sleep. Not from a callback of rclink.
 * Return: 0, or -EIO if a device did not end a registration: then the memory
 * must never be used for anything else.
 */
int rclink_unshare(struct rclink_share *share)
{
	int ret = rcl_share_end(&share->offer);

	kfree(share);
	return ret;
}
EXPORT_SYMBOL_GPL(rclink_unshare);
