/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that a dma-buf stands for: perhaps a device's rather than RAM. */
#ifndef RCL_DMABUF_H
#define RCL_DMABUF_H

#include <linux/errno.h>
#include <linux/types.h>

struct rcl_chan;
struct rclink_dev_dmabuf;

#ifdef CONFIG_DMA_SHARED_BUFFER

int rcl_dmabuf_register(struct rcl_chan *chan, struct rclink_dev_dmabuf *arg);

#else

static inline int rcl_dmabuf_register(struct rcl_chan *chan,
				      struct rclink_dev_dmabuf *arg)
{
	return -EOPNOTSUPP;
}

#endif

#endif /* RCL_DMABUF_H */
