/* SPDX-License-Identifier: GPL-2.0 */
/* librclink: memory for the peers of all links. Included by rclink.h. */
#ifndef RCLINK_SHARE_H
#define RCLINK_SHARE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rclink_share;

/**
 * rclink_share() - begin to export memory to all links
 * @share: set to the object that holds the regions; needs no link
 *
 * The peers of all links, including later ones, import its regions like those
 * of a channel, over channels of their own. This process must have the right to
 * use a link, as for rclink_connect(), or its peer does not find the regions;
 * this is checked whenever the peer imports one.
 *
 * Return: 0, or -ENOENT without the module, -EACCES without the right to open
 * /dev/rclink, -ENOTTY from an older module, -EMFILE, -ENFILE, -ENOMEM.
 */
int rclink_share(struct rclink_share **share);

/**
 * rclink_share_close() - end all regions of a share
 * @share: from rclink_share(); may be NULL
 */
void rclink_share_close(struct rclink_share *share);

/**
 * rclink_share_region() - export memory of this process to all links
 * @share: the region ends with it
 * @addr: start of the memory
 * @len: bytes, at least 1
 * @name: the peers import it under this name
 * @rights: RCLINK_REGION_*, of the peers, but not RCLINK_REGION_INVALIDATE;
 *	optionally with RCLINK_REGION_READ_ONLY
 * @region: set to its handle, which is for rclink_share_withdraw() alone
 *
 * The memory is locked, and counts for RLIMIT_MEMLOCK once. It is registered
 * with a link when its peer imports it for the first time. If a region of the
 * link itself has this name, the peer gets that one. A device without atomics
 * exports it without that right; not at all if it has no other, or if it is too
 * large for the device.
 *
 * Return: 0, or -EINVAL, -EFAULT, -EMSGSIZE, -EOPNOTSUPP for a file on DAX,
 * -EDQUOT beyond RLIMIT_MEMLOCK, -EEXIST if this user exports another region of
 * that name to all links, -ENOSPC beyond 64 regions, or 1024 of this user,
 * -ENOMEM, -EINTR.
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
 * The memory is like that of rclink_memory().
 *
 * Return: 0, or an error of rclink_share_region() or of mmap().
 */
int rclink_share_memory(struct rclink_share *share, void **addr, uint64_t len,
			const char *name, unsigned int rights,
			uint32_t *region);

/**
 * rclink_share_withdraw() - end one region of a share
 * @share: from rclink_share()
 * @region: its handle
 *
 * Once it has returned 0, no peer can reach the memory through the region.
 *
 * Return: 0, -ESTALE, or -EIO as from rclink_withdraw().
 */
int rclink_share_withdraw(struct rclink_share *share, uint32_t region);

#ifdef __cplusplus
}
#endif

#endif /* RCLINK_SHARE_H */
