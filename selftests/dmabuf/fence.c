// SPDX-License-Identifier: GPL-2.0
/* A fence that signals late, with an error, or not before its dma-buf goes. */
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "buf.h"

/* A user may look at it after the dma-buf is gone: so the lock is in here. */
struct exporter_fence {
	struct dma_fence fence;		/* first: dma_fence_free() frees it */
	spinlock_t lock;		/* of @fence */
	struct delayed_work work;
	int error;
};

static const char *exporter_fence_name(struct dma_fence *fence)
{
	return EXPORTER_DEVICE;
}

static const struct dma_fence_ops exporter_fence_ops = {
	.get_driver_name = exporter_fence_name,
	.get_timeline_name = exporter_fence_name,
};

static void exporter_fence_work(struct work_struct *work)
{
	struct exporter_fence *fence =
		container_of(to_delayed_work(work), struct exporter_fence,
			     work);

	if (fence->error)
		dma_fence_set_error(&fence->fence, -fence->error);
	dma_fence_signal(&fence->fence);
}

int exporter_fence_add(struct exporter_buf *buf, struct dma_buf *dmabuf)
{
	const struct exporter_new *what = &buf->what;
	bool user = what->flags & EXPORTER_FENCE_USER;
	struct exporter_fence *fence;
	int ret;

	if (!user && !(what->flags & EXPORTER_FENCE))
		return 0;
	fence = kzalloc(sizeof(*fence), GFP_KERNEL);
	if (!fence)
		return -ENOMEM;
	spin_lock_init(&fence->lock);
	INIT_DELAYED_WORK(&fence->work, exporter_fence_work);
	fence->error = what->error;
	dma_fence_init(&fence->fence, &exporter_fence_ops, &fence->lock,
		       dma_fence_context_alloc(1), 1);
	dma_resv_lock(dmabuf->resv, NULL);
	ret = dma_resv_reserve_fences(dmabuf->resv, 1);
	if (!ret)
		dma_resv_add_fence(dmabuf->resv, &fence->fence,
				   user ? DMA_RESV_USAGE_WRITE :
					  DMA_RESV_USAGE_KERNEL);
	dma_resv_unlock(dmabuf->resv);
	buf->fence = fence;
	if (!ret && what->fence_ms)
		schedule_delayed_work(&fence->work,
				      msecs_to_jiffies(what->fence_ms));
	return ret;
}

/* Signal the fence, so that nobody waits for it for ever. */
void exporter_fence_end(struct exporter_buf *buf)
{
	struct exporter_fence *fence = buf->fence;

	if (!fence)
		return;
	buf->fence = NULL;
	cancel_delayed_work_sync(&fence->work);
	if (!dma_fence_is_signaled(&fence->fence))
		dma_fence_signal(&fence->fence);
	dma_fence_put(&fence->fence);
}
