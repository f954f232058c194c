/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers for the programs of both ends. */
#ifndef COMMON_H
#define COMMON_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Print an error to stderr; returns @ret, a negative errno. */
static inline int say(const char *what, int ret)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(-ret));
	return ret;
}

/* Map pages of zeros, or exit, as the test cannot go on without. */
static inline void *memory(size_t len)
{
	void *addr = mmap(NULL, len, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED)
		exit(EXIT_FAILURE);
	return addr;
}

#endif /* COMMON_H */
