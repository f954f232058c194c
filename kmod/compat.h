/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that this is built for. */
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

/* Of a queue that is not WQ_UNBOUND; before 6.17 no flag said so. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define RCL_COMPAT_WQ_PERCPU	0
#else
#define RCL_COMPAT_WQ_PERCPU	WQ_PERCPU
#endif

/* It came with 6.9, and to 6.1 with 6.1.100. */
#ifndef __uninitialized
#define __uninitialized
#endif

/*
 * Before 7.1 an importer must have this. From then on it has another name, and
 * who has it promises to let go of what is pinned when the exporter wants that,
 * which nobody does here.
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

/**
 * rcl_compat_timer_delete_sync - stop a timer, and wait until it does not run
 * @timer: that nobody starts any more
 *
 * Context: process context, with no lock that the timer takes.
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
