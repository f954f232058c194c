// SPDX-License-Identifier: GPL-2.0
/*
 * The pages stay pinned until the registration is gone, so that munmap() and
 * fork() do not change what the device and the peer can reach.
 */
#include "pin.h"

#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "compat.h"

#define RCL_PIN_BATCH	512U	/* pages */

/* Follows the rule of ib_umem_get(). */
static int rcl_pin_charge(struct mm_struct *mm, u32 npages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(npages, &mm->pinned_vm) > limit &&
	    !capable(CAP_IPC_LOCK)) {
		atomic64_sub(npages, &mm->pinned_vm);
		return -EDQUOT;
	}
	return 0;
}

/**
 * rcl_pin_begin - count pages of the calling process as locked
 * @npages: how many
 *
 * Context: may sleep.
 * Return: a struct with room for the pages, the rest zeroed; or the ERR_PTR of
 * -EDQUOT beyond RLIMIT_MEMLOCK, or -ENOMEM.
 */
struct rcl_pin *rcl_pin_begin(u32 npages)
{
	struct rcl_pin *pin;
	int ret;

	pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		return ERR_PTR(-ENOMEM);
	pin->memory.npages = npages;
	pin->mm = current->mm;
	/* First: whoever may lock little gets no large array, either. */
	ret = rcl_pin_charge(pin->mm, npages);
	if (ret) {
		kfree(pin);
		return ERR_PTR(ret);
	}
	mmgrab(pin->mm);
	pin->pages = kvmalloc_array(npages, sizeof(*pin->pages),
				    GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (pin->pages)
		return pin;
	rcl_pin_end(pin);
	return ERR_PTR(-ENOMEM);
}

/**
 * rcl_pin_end - the mirror of rcl_pin_begin()
 * @pin: its pages have been released
 *
 * Context: may sleep.
 */
void rcl_pin_end(struct rcl_pin *pin)
{
	atomic64_sub(pin->memory.npages, &pin->mm->pinned_vm);
	mmdrop(pin->mm);
	kvfree(pin->pages);
	kfree(pin);
}

/* Returns how many were pinned, or an errno. */
static int rcl_pin_some(struct rcl_pin *pin, u64 addr, u32 n,
			struct page **pages)
{
	unsigned int flags = FOLL_WRITE | FOLL_LONGTERM;

	if (pin->memory.read_only)
		flags = rcl_compat_pin_flags(addr, &n);
	return pin_user_pages_fast(addr, n, flags, pages);
}

/* In parts, because each of them runs with interrupts off. */
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
	rcl_pin_end(pin);
}

/**
 * rcl_pin_new - pin memory of the calling process
 * @arg: its address and length, which are sane, and rights
 *
 * Context: may sleep, with no lock held: faults take as long as somebody likes.
 * Return: the memory, or the ERR_PTR of -EFAULT, -EOPNOTSUPP for a file on DAX,
 * -EDQUOT beyond RLIMIT_MEMLOCK, -ENOMEM, or -EINTR for a fatal signal.
 */
struct rcl_memory *rcl_pin_new(const struct rclink_dev_region *arg)
{
	struct rcl_pin *pin;
	int ret;

	pin = rcl_pin_begin(rcl_memory_npages(arg->addr, arg->len));
	if (IS_ERR(pin))
		return ERR_CAST(pin);
	pin->memory.first = offset_in_page(arg->addr);
	pin->memory.len = arg->len;
	pin->memory.read_only = arg->rights & RCLINK_REGION_READ_ONLY;
	pin->memory.free = rcl_pin_free;
	ret = rcl_pin_pages(pin, arg->addr);
	if (ret)
		goto err_end;
	ret = sg_alloc_table_from_pages(&pin->memory.sgt, pin->pages,
					pin->memory.npages,
					offset_in_page(arg->addr), arg->len,
					GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_unpin;
	return &pin->memory;

err_unpin:
	unpin_user_pages(pin->pages, pin->memory.npages);
err_end:
	rcl_pin_end(pin);
	return ERR_PTR(ret);
}
