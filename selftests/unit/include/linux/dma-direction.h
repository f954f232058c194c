/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_DMA_DIRECTION_H
#define UNIT_LINUX_DMA_DIRECTION_H

enum dma_data_direction {
	DMA_BIDIRECTIONAL,
	DMA_TO_DEVICE,
};

#endif /* UNIT_LINUX_DMA_DIRECTION_H */
