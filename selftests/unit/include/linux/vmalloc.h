/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_VMALLOC_H
#define UNIT_LINUX_VMALLOC_H

#include <stdlib.h>

struct vm_area_struct;

static inline void *vmalloc_user(size_t size)
{
	return calloc(1, size);
}

static inline void vfree(const void *p)
{
	free((void *)p);
}

static inline int remap_vmalloc_range(struct vm_area_struct *vma, void *addr,
				      unsigned long pgoff)
{
	return 0;
}

#endif /* UNIT_LINUX_VMALLOC_H */
