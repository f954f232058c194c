/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of PAGES pages, to be registered. */
#ifndef MAPS_H
#define MAPS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE	4096
#define PAGES	4
#define LEN	(PAGES * PAGE)

static inline uint8_t *map(int prot, int flags, int fd)
{
	return mmap(NULL, LEN, prot, flags, fd, 0);
}

static inline uint8_t *map_anonymous(int prot)
{
	return map(prot, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

/* A file in RIG_DISK, whose file system must know of writes; -1 for none. */
static inline int disk(void)
{
	const char *dir = getenv("RIG_DISK");
	char path[128];

	if (!dir)
		return -1;
	snprintf(path, sizeof(path), "%s/file", dir);
	return open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

#endif /* MAPS_H */
