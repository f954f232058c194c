/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/rclink_exporter: each open file makes one dma-buf, maps its pages by
 * mmap(), and counts what importers have of it, even after the dma-buf is gone.
 */
#ifndef EXPORTER_H
#define EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EXPORTER_DEVICE		"rclink_exporter"

/* The kind; by default all importers share one mapping, which never moves. */
#define EXPORTER_DYNAMIC	0x001	/* moves unless it is pinned */
#define EXPORTER_PAGELESS	0x002	/* the list has DMA addresses only */
/* How the next calls of an importer fail: with -@error, or by a bad list. */
#define EXPORTER_FAIL_ATTACH	0x004
#define EXPORTER_FAIL_PIN	0x008
#define EXPORTER_FAIL_MAP	0x010
#define EXPORTER_SHORT		0x020	/* the list lacks the last page */
#define EXPORTER_RAGGED		0x040	/* the list has half the first page */
/* A fence that is there before any importer. */
#define EXPORTER_FENCE		0x080	/* of the kernel: not there yet */
#define EXPORTER_FENCE_USER	0x100	/* of a writer */

/*
 * @len: whole pages
 * @flags: EXPORTER_*
 * @error: of calls that fail, and of the fence; positive; 0: the fence has none
 * @fence_ms: when the fence signals; 0: when the dma-buf goes
 * @fd: set to the dma-buf
 */
struct exporter_new {
	__u64 len;
	__u32 flags;
	__u32 error;
	__u32 fence_ms;
	__s32 fd;
};

struct exporter_count {
	__u32 attached;
	__u32 pinned;
	__u32 mapped;
	__u32 alive;
};

#define EXPORTER_IOC_NEW	_IOWR('x', 0, struct exporter_new)
/* From now on these @flags, except those of a fence, and @error apply. */
#define EXPORTER_IOC_SET	_IOW('x', 1, struct exporter_new)
/* Notify importers and move to other pages; EBUSY if pinned or mapped. */
#define EXPORTER_IOC_MOVE	_IOW('x', 2, __s32)
#define EXPORTER_IOC_COUNT	_IOR('x', 3, struct exporter_count)

#endif /* EXPORTER_H */
