/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a process, pinned for as long as it is registered. */
#ifndef RCL_PIN_H
#define RCL_PIN_H

#include <linux/mm.h>
#include <linux/string.h>
#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

struct mm_struct;
struct rcl_memory;

int rcl_pin_charge(struct mm_struct *mm, u32 npages);
void rcl_pin_uncharge(struct mm_struct *mm, u32 npages);
struct rcl_memory *rcl_pin_new(const struct rclink_dev_region *arg);

/**
 * rcl_pin_is_sane - do address, length and name make sense?
 * @arg: what a process asks for, hostile
 * @allocate: of the kernel's memory, which has no address yet, and whole pages
 *
 * Return: true if so.
 */
static inline bool rcl_pin_is_sane(const struct rclink_dev_region *arg,
				   bool allocate)
{
	return arg->len && arg->addr + arg->len >= arg->addr &&
	       !(allocate && (arg->addr || offset_in_page(arg->len))) &&
	       memchr(arg->name, 0, sizeof(arg->name));
}

#endif /* RCL_PIN_H */
