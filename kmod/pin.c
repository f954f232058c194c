// SPDX-License-Identifier: GPL-2.0
/*
 * The pages stay pinned until the registration is gone, so that munmap() and
 * fork() change nothing of what the device and the peer can reach.
 */
#include "pin.h"

#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"
#include "memory.h"

#define RCL_PIN_BATCH	512U	/* pages */

/**
 * struct rcl_pin - memory of a process
 * @memory: as the region knows it
 * @mm: whose pinned_vm counts the pages; a reference is held
 * @pages: pinned
 */
struct rcl_pin {
	struct rcl_memory memory;
	struct mm_struct *mm;
	struct page **pages;
};

/**
 * rcl_pin_charge - count pages as locked, by the rule of ib_umem_get()
 * @mm: of the calling process
 * @npages: pages
 *
 * Return: 0, or -EDQUOT beyond RLIMIT_MEMLOCK.
 */
int rcl_pin_charge(struct mm_struct *mm, u32 npages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(npages, &mm->pinned_vm) > limit &&
	    !capable(CAP_IPC_LOCK)) {
		rcl_pin_uncharge(mm, npages);
		return -EDQUOT;
	}
	return 0;
}

/**
 * rcl_pin_uncharge - the mirror of rcl_pin_charge()
 * @mm: a reference is held
 * @npages: pages
 */
void rcl_pin_uncharge(struct mm_struct *mm, u32 npages)
{
	atomic64_sub(npages, &mm->pinned_vm);
}

/* Returns how many, or an errno. */
static int rcl_pin_some(struct rcl_pin *pin, u64 addr, u32 n,
			struct page **pages)
{
	unsigned int flags = FOLL_WRITE | FOLL_LONGTERM;

	if (pin->memory.read_only)
		flags = rcl_compat_pin_flags(addr, &n);
	return pin_user_pages_fast(addr, n, flags, pages);
}

/* In parts: each of them has interrupts off. */
static int rcl_pin_pages(struct rcl_pin *pin, u64 addr)
{
	u32 npages = pin->memory.npages;
	u32 done = 0;
	int ret;

	while (done < npages) {
		ret = fatal_signal_pending(current) ? -EINTR :
		      rcl_pin_some(pin, (addr & PAGE_MASK) +
				   (u64)done * PAGE_SIZE,
				   min(npages - done, RCL_PIN_BATCH),
				   pin->pages + done);
		if (ret <= 0)
			goto err_unpin;
		done += ret;
		cond_resched();
	}
	return 0;

err_unpin:
	unpin_user_pages(pin->pages, done);
	return ret ? : -EFAULT;
}

static void rcl_pin_free(struct rcl_memory *memory)
{
	struct rcl_pin *pin = container_of(memory, struct rcl_pin, memory);

	sg_free_table(&memory->sgt);
	unpin_user_pages_dirty_lock(pin->pages, memory->npages,
				    !memory->read_only);
	rcl_pin_uncharge(pin->mm, memory->npages);
	mmdrop(pin->mm);
	kvfree(pin->pages);
	kfree(pin);
}

/**
 * rcl_pin_new - pin memory of the calling process
 * @arg: its address and length, which make sense, and rights
 *
 * Context: may sleep, without a lock: faults take as long as somebody likes.
 * Return: the memory, or the ERR_PTR of -EFAULT, -EDQUOT beyond RLIMIT_MEMLOCK,
 * -ENOMEM, or -EINTR for a fatal signal.
 */
struct rcl_memory *rcl_pin_new(const struct rclink_dev_region *arg)
{
	struct rcl_pin *pin;
	int ret;

	pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		return ERR_PTR(-ENOMEM);
	pin->memory.first = offset_in_page(arg->addr);
	pin->memory.len = arg->len;
	pin->memory.npages = rcl_memory_npages(arg->addr, arg->len);
	pin->memory.read_only = arg->rights & RCLINK_REGION_READ_ONLY;
	pin->memory.free = rcl_pin_free;
	pin->mm = current->mm;
	/* First: who may lock little is to have no large array, either. */
	ret = rcl_pin_charge(pin->mm, pin->memory.npages);
	if (ret)
		goto err_free;
	ret = -ENOMEM;
	pin->pages = kvmalloc_array(pin->memory.npages, sizeof(*pin->pages),
				    GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pin->pages)
		goto err_uncharge;
	ret = rcl_pin_pages(pin, arg->addr);
	if (ret)
		goto err_free_pages;
	ret = sg_alloc_table_from_pages(&pin->memory.sgt, pin->pages,
					pin->memory.npages,
					offset_in_page(arg->addr), arg->len,
					GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_unpin;
	mmgrab(pin->mm);
	return &pin->memory;

err_unpin:
	unpin_user_pages(pin->pages, pin->memory.npages);
err_free_pages:
	kvfree(pin->pages);
err_uncharge:
	rcl_pin_uncharge(pin->mm, pin->memory.npages);
err_free:
	kfree(pin);
	return ERR_PTR(ret);
}
