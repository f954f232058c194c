// SPDX-License-Identifier: GPL-2.0
/*
 * The memory is an unnamed tmpfs file. The registration holds its pages, each
 * mapping holds the file and the pages it shows. So neither munmap() nor the
 * end of the channel takes anything from the other, and a mapping keeps no
 * channel open.
 */
#include "shm.h"

#include <linux/file.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>

#include "compat.h"
#include "export.h"
#include "pin.h"
#include "region.h"

/* What the peer wrote must not be lost to those who have it mapped. */
static void rcl_shm_put_pages(struct rcl_pin *pin, u32 n)
{
	while (n--) {
		set_page_dirty_lock(pin->pages[n]);
		put_page(pin->pages[n]);
	}
}

static void rcl_shm_free(struct rcl_memory *memory)
{
	struct rcl_pin *pin = container_of(memory, struct rcl_pin, memory);

	sg_free_table(&memory->sgt);
	rcl_shm_put_pages(pin, memory->npages);
	fput(memory->file);
	rcl_pin_end(pin);
}

/* This tmpfs has no size limit: its -ENOSPC means no memory. */
static int rcl_shm_error(const void *ptr)
{
	return ptr == ERR_PTR(-ENOSPC) ? -ENOMEM : PTR_ERR(ptr);
}

/* Charged to the calling process's cgroup, like all of tmpfs. */
static int rcl_shm_get_pages(struct rcl_pin *pin)
{
	struct address_space *mapping = pin->memory.file->f_mapping;
	u32 i;

	/* The pages stay where they are: neither swapped out nor moved. */
	mapping_set_gfp_mask(mapping, GFP_HIGHUSER);
	for (i = 0; i < pin->memory.npages; i++) {
		struct page *page = fatal_signal_pending(current) ?
				    ERR_PTR(-EINTR) :
				    shmem_read_mapping_page(mapping, i);

		if (IS_ERR(page)) {
			rcl_shm_put_pages(pin, i);
			return rcl_shm_error(page);
		}
		pin->pages[i] = page;
		cond_resched();
	}
	return 0;
}

static int rcl_shm_fill(struct rcl_pin *pin)
{
	struct rcl_memory *memory = &pin->memory;
	int ret;

	memory->file = shmem_file_setup("rclink", memory->len, VM_NORESERVE);
	if (IS_ERR(memory->file))
		return rcl_shm_error(memory->file);
	ret = rcl_shm_get_pages(pin);
	if (ret)
		goto err_fput;
	ret = sg_alloc_table_from_pages(&memory->sgt, pin->pages,
					memory->npages, 0, memory->len,
					GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_put_pages;
	return 0;

err_put_pages:
	rcl_shm_put_pages(pin, memory->npages);
err_fput:
	fput(memory->file);
	return ret;
}

/**
 * rcl_shm_new - allocate memory for the calling process
 * @len: bytes, whole pages
 *
 * It cannot be swapped out, so it counts as locked.
 *
 * Context: may sleep.
 * Return: the memory, with @file, or the ERR_PTR of -EDQUOT beyond
 * RLIMIT_MEMLOCK, -ENOMEM, or -EINTR for a fatal signal.
 */
struct rcl_memory *rcl_shm_new(u64 len)
{
	struct rcl_pin *pin;
	int ret;

	pin = rcl_pin_begin(len >> PAGE_SHIFT);
	if (IS_ERR(pin))
		return ERR_CAST(pin);
	pin->memory.len = len;
	pin->memory.free = rcl_shm_free;
	ret = rcl_shm_fill(pin);
	if (!ret)
		return &pin->memory;
	rcl_pin_end(pin);
	return ERR_PTR(ret);
}

/**
 * rcl_shm_offset - where can memory be mapped?
 * @handle: of the region
 *
 * Return: the offset for mmap().
 */
u64 rcl_shm_offset(u32 handle)
{
	BUILD_BUG_ON((u64)RCL_EXTENTS_MAX * RCL_EXTENT_PAGES_MAX * PAGE_SIZE >
		     BIT_ULL(RCL_SHM_SHIFT));
	return (rcl_region_slot(handle) + 1ULL) << RCL_SHM_SHIFT;
}

/**
 * rcl_shm_slot - which memory is to be mapped?
 * @vma: its offset is at or after that of rcl_shm_offset()
 *
 * Return: its slot, hostile.
 */
u32 rcl_shm_slot(const struct vm_area_struct *vma)
{
	return (vma->vm_pgoff >> (RCL_SHM_SHIFT - PAGE_SHIFT)) - 1;
}

/**
 * rcl_shm_map - map a file of such memory
 * @file: its reference is dropped; or NULL
 * @len: bytes of the memory
 * @vma: shared
 *
 * Context: the mmap lock is held.
 * Return: 0, -EINVAL without a file or beyond its end, or what tmpfs says.
 */
int rcl_shm_map(struct file *file, u64 len, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 size = vma->vm_end - vma->vm_start;
	int ret = -EINVAL;

	if (!file)
		return -EINVAL;
	offset &= BIT_ULL(RCL_SHM_SHIFT) - 1;
	if (offset + size <= len) {
		vma->vm_pgoff = offset >> PAGE_SHIFT;
		vma_set_file(vma, file);
		ret = rcl_compat_mmap(file, vma);
	}
	fput(file);
	return ret;
}
