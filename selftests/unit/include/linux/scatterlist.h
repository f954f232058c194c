/* SPDX-License-Identifier: GPL-2.0 */
/* A scatterlist whose memory is in one piece. */
#ifndef UNIT_LINUX_SCATTERLIST_H
#define UNIT_LINUX_SCATTERLIST_H

#include <stddef.h>
#include <string.h>

struct scatterlist {
	unsigned char *addr;
};

struct sg_table {
	struct scatterlist *sgl;
	unsigned int orig_nents;
};

static inline size_t sg_pcopy_to_buffer(struct scatterlist *sgl,
					unsigned int nents, void *buf,
					size_t len, size_t skip)
{
	memcpy(buf, sgl->addr + skip, len);
	return len;
}

static inline size_t sg_pcopy_from_buffer(struct scatterlist *sgl,
					  unsigned int nents, const void *buf,
					  size_t len, size_t skip)
{
	memcpy(sgl->addr + skip, buf, len);
	return len;
}

#endif /* UNIT_LINUX_SCATTERLIST_H */
