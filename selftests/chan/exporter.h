/* SPDX-License-Identifier: GPL-2.0 */
/* dma-bufs of the exporter for tests: see ../dmabuf/exporter.h. */
#ifndef EXPORTER_TEST_H
#define EXPORTER_TEST_H

#include <stddef.h>
#include <stdint.h>

#include "../dmabuf/exporter.h"

struct exporter {
	int control;
	int fd;			/* of the dma-buf, or -1 */
	uint8_t *memory;	/* the same pages, until they move */
	size_t len;
};

/* 0 or a negative errno; -ENOENT where the exporter is not loaded. */
int exporter_new(struct exporter *e, size_t len, uint32_t flags, int error,
		 int fence_ms);
int exporter_set(struct exporter *e, uint32_t flags, int error);
int exporter_move(struct exporter *e);
/* Maps the new pages after a move. */
int exporter_look(struct exporter *e);
/* Closes the descriptor alone; ends all of it. */
void exporter_close(struct exporter *e);
void exporter_end(struct exporter *e);

/* Waits until an importer has pinned the dma-buf. */
int exporter_pinned(struct exporter *e, int ms);

/* Waits until importers have @want: attachments, pins, mappings. */
int exporter_has(struct exporter *e, const struct exporter_count *want, int ms);

#endif /* EXPORTER_TEST_H */
