/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_SLAB_H
#define UNIT_LINUX_SLAB_H

#include <stdlib.h>

static inline void kfree(const void *p)
{
	free((void *)p);
}

#endif /* UNIT_LINUX_SLAB_H */
