/* SPDX-License-Identifier: GPL-2.0 */
/* dma-bufs whose memory a process can access, and what the kernel counts. */
#ifndef UDMABUF_H
#define UDMABUF_H

#include <stddef.h>
#include <stdint.h>

struct udmabuf {
	int fd;			/* of the dma-buf, or -1 */
	uint8_t *memory;	/* the same pages */
	size_t len;
	int control;		/* of the exporter for tests, or -1 */
};

/* 0 or a negative errno; without udmabuf the exporter for tests makes it. */
int udmabuf_new(struct udmabuf *u, size_t len);
/* Close the descriptor alone. */
void udmabuf_close(struct udmabuf *u);
void udmabuf_end(struct udmabuf *u);

/* From a heap, with O_RDWR or O_RDONLY: a descriptor or a negative errno. */
int udmabuf_of_heap(size_t len, int mode);

/* On this host: dma-bufs, and devices that are attached to one; -1: unknown */
int udmabuf_count(void);
int udmabuf_attached(void);
/* Wait until @want devices are attached; returns how many are. */
int udmabuf_until_attached(int want, int ms);

#endif /* UDMABUF_H */
