// SPDX-License-Identifier: GPL-2.0
/*
 * Like vmalloc_user() and remap_vmalloc_range(), but charged to the caller, and
 * not aligned for processors whose data caches alias (old ARM, parisc).
 */
#include "pages.h"

#include <linux/anon_inodes.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "charge.h"
#include "compat.h"

/**
 * rcl_pages_new - allocate memory for rings
 * @size: bytes
 *
 * It is charged to the active memory cgroup, or to that of the caller.
 *
 * Context: may sleep.
 * Return: zeroed memory, whole pages, or NULL.
 */
void *rcl_pages_new(size_t size)
{
	/* A full cgroup does not belong in the log of the host. */
	return __vmalloc(PAGE_ALIGN(size), RCL_GFP_CHARGED | __GFP_ZERO);
}

/**
 * rcl_pages_free - the mirror of rcl_pages_new()
 * @addr: from there, or NULL; a process that has it mapped keeps the pages
 *
 * Context: process or softirq context.
 */
void rcl_pages_free(const void *addr)
{
	vfree(addr);
}

static const struct file_operations rcl_pages_fops = {
	.owner = THIS_MODULE,
};

/*
 * A mapping holds the pages, and need not hold the file that they belong to: a
 * child that has closed it after fork() would otherwise keep the channel open.
 */
static int rcl_pages_let_go(struct vm_area_struct *vma)
{
	struct file *file = anon_inode_getfile("[rclink]", &rcl_pages_fops,
					       NULL, O_RDWR);

	if (IS_ERR(file))
		return PTR_ERR(file);
	vma_set_file(vma, file);
	fput(file);
	return 0;
}

/**
 * rcl_pages_map - map the memory into a process
 * @vma: shared; says which part to map
 * @addr: from rcl_pages_new()
 * @size: likewise
 *
 * Context: the mmap lock is held.
 * Return: 0, -EINVAL beyond @size, -ENFILE, or -ENOMEM.
 */
int rcl_pages_map(struct vm_area_struct *vma, void *addr, size_t size)
{
	unsigned long n = PFN_UP(size), first = vma->vm_pgoff, i;
	int ret;

	if (first >= n || vma_pages(vma) > n - first)
		return -EINVAL;
	ret = rcl_pages_let_go(vma);
	addr += first << PAGE_SHIFT;
	for (i = 0; !ret && i < vma_pages(vma); i++)
		ret = vm_insert_page(vma, vma->vm_start + (i << PAGE_SHIFT),
				     vmalloc_to_page(addr + (i << PAGE_SHIFT)));
	rcl_compat_vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	return ret;
}
