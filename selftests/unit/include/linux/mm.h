/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_MM_H
#define UNIT_LINUX_MM_H

#define PAGE_SHIFT	12
#define offset_in_page(p)	((unsigned long)(p) & ((1UL << PAGE_SHIFT) - 1))

struct vm_area_struct {
	unsigned long vm_pgoff;
};

#endif /* UNIT_LINUX_MM_H */
