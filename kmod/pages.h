/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel memory that a process maps: rings. */
#ifndef RCL_PAGES_H
#define RCL_PAGES_H

#include <linux/types.h>

struct vm_area_struct;

void *rcl_pages_new(size_t size);
void rcl_pages_free(const void *addr);
int rcl_pages_map(struct vm_area_struct *vma, void *addr, size_t size);

#endif /* RCL_PAGES_H */
