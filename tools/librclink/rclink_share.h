/* SPDX-License-Identifier: GPL-2.0 */
/* librclink: memory for the peers of all links. To be included by rclink.h. */
#ifndef RCLINK_SHARE_H
#define RCLINK_SHARE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rclink_share;

/**
 * rclink_share() - begin to export memory to all links
 * @share: set to what holds the regions; needs no link
 *
 * The peers of all links, also of later ones, import its regions as those of a
 * channel, over channels of their own. This process must have the right to use
 * a link, as for rclink_connect(), or its regions are not there for that peer;
 * that is looked at whenever it imports one.
 *
 * Return: 0, or -ENOENT without the module, -EACCES without the right to open
 * /dev/rclink, -ENOTTY from a module that is older, -EMFILE, -ENFILE, -ENOMEM.
 */
int rclink_share(struct rclink_share **share);

/**
 * rclink_share_close() - end all of its regions
 * @share: of rclink_share(); NULL is allowed
 */
void rclink_share_close(struct rclink_share *share);

/**
 * rclink_share_region() - export memory of this process to all links
 * @share: the region ends with it
 * @addr: begin of the memory
 * @len: bytes, at least 1
 * @name: the peers import it under this name
 * @rights: RCLINK_REGION_*, of the peers, but not RCLINK_REGION_INVALIDATE; and
 *	RCLINK_REGION_READ_ONLY or not
 * @region: set to its handle, which is for rclink_share_withdraw() alone
 *
 * The memory is locked, and counts for RLIMIT_MEMLOCK, once. It is registered
 * with a link when its peer imports it for the first time. Where a link's own
 * region has the name, the peer gets that one. A device that has no atomics
 * exports it without that right; one that it is too large for, not at all.
 *
 * Return: 0, or -EINVAL, -EFAULT, -EMSGSIZE, -EDQUOT beyond RLIMIT_MEMLOCK,
 * -EEXIST if this user exports another region of that name to all links,
 * -ENOSPC for more than 64 regions, or 1024 of this user, -ENOMEM, -EINTR.
 */
int rclink_share_region(struct rclink_share *share, void *addr, uint64_t len,
			const char *name, unsigned int rights,
			uint32_t *region);

/**
 * rclink_share_memory() - allocate memory, map it, and export it to all links
 * @share: the region ends with it
 * @addr: set to where it is mapped
 * @len: bytes, whole pages
 * @name: the peers import it under this name
 * @rights: as for rclink_share_region()
 * @region: set to its handle, which is for rclink_share_withdraw() alone
 *
 * The memory is as that of rclink_memory().
 *
 * Return: 0, or as rclink_share_region(), or what mmap() says.
 */
int rclink_share_memory(struct rclink_share *share, void **addr, uint64_t len,
			const char *name, unsigned int rights,
			uint32_t *region);

/**
 * rclink_share_withdraw() - end one of its regions
 * @share: of rclink_share()
 * @region: its handle
 *
 * When it returns 0, no peer can reach the memory through it any more.
 *
 * Return: 0, -ESTALE, or -EIO as rclink_withdraw().
 */
int rclink_share_withdraw(struct rclink_share *share, uint32_t region);

#ifdef __cplusplus
}
#endif

#endif /* RCLINK_SHARE_H */
