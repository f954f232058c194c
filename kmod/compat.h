/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between the kernels that this module is built for. */
#ifndef RCL_COMPAT_H
#define RCL_COMPAT_H

#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/workqueue.h>

struct dma_buf_attachment;

/* For a workqueue that is not WQ_UNBOUND; before 6.17 no flag said so. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define RCL_COMPAT_WQ_PERCPU	0
#else
#define RCL_COMPAT_WQ_PERCPU	WQ_PERCPU
#endif

/* Added in 6.9, and to 6.1 in 6.1.100. */
#ifndef __uninitialized
#define __uninitialized
#endif

/*
 * Before 7.1 an importer must have this callback. Since then it has another
 * name, and an importer that has it promises to release what is pinned when the
 * exporter wants that, which this module does not do.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
static inline void rcl_compat_move_notify(struct dma_buf_attachment *attach)
{
}

#define RCL_COMPAT_MOVE_NOTIFY	.move_notify = rcl_compat_move_notify,
#else
#define RCL_COMPAT_MOVE_NOTIFY
#endif

/**
 * rcl_compat_pin_flags - how to pin pages that are only read
 * @addr: address of the first page, in the calling process
 * @npages: number of pages; set to how many the flags apply to, at least 1
 *
 * Since 6.2 the core first copies a page of a private mapping if the next write
 * by the process would do so. Before that, such a write would give the process
 * a page other than the pinned one, unless the page is pinned as if for
 * writing, by force, as ib_umem_get() did. Pages of a shared mapping are never
 * copied, and FOLL_FORCE would refuse them.
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
		 * FOLL_FORCE would also read what the process cannot, and is
		 * refused for huge pages that the process may not write: such
		 * a page of a file may be replaced once the process may write
		 * it, and has.
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
 * @vma: its mm is locked for writing
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

/**
 * rcl_compat_timer_delete_sync - stop a timer, and wait until it is not running
 * @timer: a timer that nobody starts any more
 *
 * Context: process context, with no lock held that the timer takes.
 */
static inline void rcl_compat_timer_delete_sync(struct timer_list *timer)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	del_timer_sync(timer);
#else
	timer_delete_sync(timer);
#endif
}

/**
 * rcl_compat_mmap - have a file map itself
 * @file: of @vma
 * @vma: new
 *
 * Context: the mmap lock is held.
 * Return: 0, or the errno of the file's mmap().
 */
static inline int rcl_compat_mmap(struct file *file, struct vm_area_struct *vma)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
	return call_mmap(file, vma);
#else
	return vfs_mmap(file, vma);
#endif
}

#endif /* RCL_COMPAT_H */
