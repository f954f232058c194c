/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channels on a simulated device with DMA of its own, and what the near end
 * does to a region of the far end. Functions return 0 or a negative errno.
 */
#ifndef DMA_H
#define DMA_H

#include <stdbool.h>
#include <stddef.h>

#include "rig.h"

/* Bring the link up once more. */
int dma_pair(struct rig *r);

/* The device sim0, a link that resumes, and a channel. */
int dma_begin(struct rig *r);

/* Write RIG_MOVED bytes made of @seed to @remote, or read and check them. */
int dma_write(struct rig *r, const struct rclink_remote *remote, uint64_t at,
	      uint32_t seed);
int dma_read(struct rig *r, const struct rclink_remote *remote, uint64_t at,
	     uint32_t seed);

bool dma_are(const uint8_t *m, uint8_t byte, size_t len);

#endif /* DMA_H */
