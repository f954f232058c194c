/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that this is built for. */
#ifndef RCL_COMPAT_H
#define RCL_COMPAT_H

#include <linux/hugetlb.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/version.h>

/**
 * rcl_compat_pin_flags - how to pin pages that are only read
 * @addr: of the first one, in the calling process
 * @npages: how many; set to as many as these flags are for, at least 1
 *
 * From 6.2 on the core copies a page of a private mapping first, if the next
 * write of the process would. Before, that page would be another one than the
 * pinned one from then on, unless it is pinned as if to be written, by force:
 * as ib_umem_get() did. Pages of a shared mapping are never copied, and that
 * force would refuse them.
 *
 * Return: flags for pin_user_pages_fast().
 */
static inline unsigned int rcl_compat_pin_flags(unsigned long addr, u32 *npages)
{
	unsigned int flags = FOLL_LONGTERM;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	addr = untagged_addr(addr);
	mmap_read_lock(mm);
	vma = vma_lookup(mm, addr);
	if (vma) {
		*npages = min_t(unsigned long, *npages,
				(vma->vm_end - addr) >> PAGE_SHIFT);
		/*
		 * Force would read what the process cannot, as well, and is
		 * refused for huge pages that the process may not write: one
		 * of a file may be another one once it may, and has.
		 */
		if (is_cow_mapping(vma->vm_flags) && vma->vm_flags & VM_READ &&
		    (vma->vm_flags & VM_WRITE || !is_vm_hugetlb_page(vma)))
			flags |= FOLL_FORCE | FOLL_WRITE;
	}
	mmap_read_unlock(mm);
#endif
	return flags;
}

/**
 * rcl_compat_vm_flags_set - add flags
 * @vma: whose mm is locked for writing
 * @flags: VM_*
 */
static inline void rcl_compat_vm_flags_set(struct vm_area_struct *vma,
					   vm_flags_t flags)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags |= flags;
#else
	vm_flags_set(vma, flags);
#endif
}

#endif /* RCL_COMPAT_H */
