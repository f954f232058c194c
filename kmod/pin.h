/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a process, pinned for as long as it is registered. */
#ifndef RCL_PIN_H
#define RCL_PIN_H

#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

#include "memory.h"

struct mm_struct;

/**
 * struct rcl_pin - pages that a process has locked
 * @memory: as the region knows it
 * @mm: whose pinned_vm counts the pages; a reference is held
 * @pages: room for these; how they are held is up to the user of this struct
 */
struct rcl_pin {
	struct rcl_memory memory;
	struct mm_struct *mm;
	struct page **pages;
};

struct rcl_pin *rcl_pin_begin(u32 npages);
void rcl_pin_end(struct rcl_pin *pin);
struct rcl_memory *rcl_pin_new(const struct rclink_dev_region *arg);

/**
 * rcl_pin_is_sane - are address, length and name sane?
 * @arg: what a process asks for, hostile
 * @allocate: for memory of the kernel: no address yet, and whole pages
 *
 * Return: true if so.
 */
static inline bool rcl_pin_is_sane(const struct rclink_dev_region *arg,
				   bool allocate)
{
	/* On 32 bits, pin_user_pages_fast() takes no more of an address. */
	return arg->len && arg->addr + arg->len >= arg->addr &&
	       arg->addr + arg->len - 1 <= ULONG_MAX &&
	       !(allocate && (arg->addr || offset_in_page(arg->len))) &&
	       memchr(arg->name, 0, sizeof(arg->name));
}

#endif /* RCL_PIN_H */
