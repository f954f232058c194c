/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BUF_H
#define BUF_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "exporter.h"

struct dma_buf;
struct exporter_fence;
struct vm_area_struct;

struct exporter_buf {
	struct kref ref;		/* held by the file and the dma-buf */
	struct exporter_new what;	/* flags and error may change */
	struct mutex lock;		/* of pages; nests in the resv lock */
	struct page **pages;
	u32 npages;
	atomic_t attached, pinned, mapped;
	bool alive;
	struct exporter_fence *fence;
};

struct exporter_buf *exporter_buf_new(const struct exporter_new *what);
void exporter_buf_put(struct exporter_buf *buf);
int exporter_buf_mmap(struct exporter_buf *buf, struct vm_area_struct *vma);
int exporter_buf_export(struct exporter_buf *buf);
int exporter_buf_move(int fd);
void exporter_buf_count(struct exporter_buf *buf, struct exporter_count *count);

/* fence.c: the fence signals when its time has come, or at the end. */
int exporter_fence_add(struct exporter_buf *buf, struct dma_buf *dmabuf);
void exporter_fence_end(struct exporter_buf *buf);

#endif /* BUF_H */
