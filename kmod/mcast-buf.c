// SPDX-License-Identifier: GPL-2.0
/* Buffers of the QP of a group. */
#include "mcast-buf.h"

#include <linux/dma-mapping.h>
#include <linux/errno.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "mcast.h"

static int rcl_mcast_map_slot(struct rcl_mcast *mcast,
			      struct rcl_mcast_slot *slot,
			      enum dma_data_direction dir)
{
	struct ib_device *ib = mcast->ib;
	u8 *buf;

	buf = kzalloc(RCL_MCAST_MTU, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	slot->dma = ib_dma_map_single(ib, buf, RCL_MCAST_MTU, dir);
	if (ib_dma_mapping_error(ib, slot->dma)) {
		kfree(buf);
		return -ENOMEM;
	}
	slot->buf = buf;
	slot->mcast = mcast;
	return 0;
}

static void rcl_mcast_unmap_slot(struct rcl_mcast_slot *slot,
				 enum dma_data_direction dir)
{
	if (!slot->buf)
		return;
	ib_dma_unmap_single(slot->mcast->ib, slot->dma, RCL_MCAST_MTU, dir);
	kfree(slot->buf);
	slot->buf = NULL;
}

/*
 * Separate from what comes behind them, so that this fits in a page. They share
 * cache lines, because nobody but the device writes there.
 */
static int rcl_mcast_map_grhs(struct rcl_mcast *mcast)
{
	struct ib_grh *grh;
	u64 dma;
	int i;

	grh = kcalloc(RCL_MCAST_RX, sizeof(*grh), GFP_KERNEL);
	if (!grh)
		return -ENOMEM;
	dma = ib_dma_map_single(mcast->ib, grh, RCL_MCAST_RX * sizeof(*grh),
				DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(mcast->ib, dma)) {
		kfree(grh);
		return -ENOMEM;
	}
	for (i = 0; i < RCL_MCAST_RX; i++) {
		mcast->rx[i].grh = grh + i;
		mcast->rx[i].grh_dma = dma + i * sizeof(*grh);
	}
	return 0;
}

static void rcl_mcast_unmap_grhs(struct rcl_mcast *mcast)
{
	struct ib_grh *grh = mcast->rx[0].grh;

	if (!grh)
		return;
	ib_dma_unmap_single(mcast->ib, mcast->rx[0].grh_dma,
			    RCL_MCAST_RX * sizeof(*grh), DMA_FROM_DEVICE);
	kfree(grh);
}

static int rcl_mcast_map_rest(struct rcl_mcast *mcast)
{
	u8 *rest;

	rest = kmalloc(RCL_MCAST_REST, GFP_KERNEL);
	if (!rest)
		return -ENOMEM;
	mcast->rest_dma = ib_dma_map_single(mcast->ib, rest, RCL_MCAST_REST,
					    DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(mcast->ib, mcast->rest_dma)) {
		kfree(rest);
		return -ENOMEM;
	}
	mcast->rest = rest;
	return 0;
}

static void rcl_mcast_unmap_rest(struct rcl_mcast *mcast)
{
	if (!mcast->rest)
		return;
	ib_dma_unmap_single(mcast->ib, mcast->rest_dma, RCL_MCAST_REST,
			    DMA_FROM_DEVICE);
	kfree(mcast->rest);
}

/**
 * rcl_mcast_unmap - the mirror of rcl_mcast_map()
 * @mcast: the device no longer writes to any of it
 *
 * Context: process context.
 */
void rcl_mcast_unmap(struct rcl_mcast *mcast)
{
	int i;

	rcl_mcast_unmap_rest(mcast);
	rcl_mcast_unmap_grhs(mcast);
	for (i = 0; i < RCL_MCAST_TX; i++)
		rcl_mcast_unmap_slot(&mcast->tx[i], DMA_TO_DEVICE);
	for (i = 0; i < RCL_MCAST_RX; i++)
		rcl_mcast_unmap_slot(&mcast->rx[i], DMA_FROM_DEVICE);
}

/**
 * rcl_mcast_map - allocate the buffers that packets come to and go from
 * @mcast: with its @ib set
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int rcl_mcast_map(struct rcl_mcast *mcast)
{
	int ret;
	int i;

	ret = rcl_mcast_map_grhs(mcast);
	if (!ret)
		ret = rcl_mcast_map_rest(mcast);
	for (i = 0; !ret && i < RCL_MCAST_TX; i++)
		ret = rcl_mcast_map_slot(mcast, &mcast->tx[i], DMA_TO_DEVICE);
	for (i = 0; !ret && i < RCL_MCAST_RX; i++)
		ret = rcl_mcast_map_slot(mcast, &mcast->rx[i], DMA_FROM_DEVICE);
	if (ret)
		rcl_mcast_unmap(mcast);
	return ret;
}
