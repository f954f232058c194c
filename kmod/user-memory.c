// SPDX-License-Identifier: GPL-2.0
#include "user-memory.h"

#include <linux/err.h>

#include <uapi/linux/rclink_dev.h>

#include "pin.h"
#include "region.h"
#include "shm.h"

/**
 * rcl_memory_take - pin memory of the calling process, or allocate some for it
 * @arg: address, length and rights; passed rcl_pin_is_sane()
 * @allocate: as for RCLINK_IOC_MEMORY
 *
 * Context: may sleep, holding no lock: faults take as long as somebody likes.
 * Return: the memory, with @file if it is allocated, or the ERR_PTR of -EFAULT,
 * -EOPNOTSUPP for a file on DAX, -EDQUOT beyond RLIMIT_MEMLOCK, -ENOMEM, or
 * -EINTR for a fatal signal.
 */
struct rcl_memory *rcl_memory_take(const struct rclink_dev_region *arg,
				   bool allocate)
{
	return allocate ? rcl_shm_new(arg->len) : rcl_pin_new(arg);
}

/**
 * rcl_memory_register - register memory of the calling process
 * @chan: open
 * @arg: what to register, hostile; @arg->handle is set
 * @allocate: as for RCLINK_IOC_MEMORY
 *
 * Context: may sleep.
 * Return: 0, -EINVAL, or what rcl_memory_take(), rcl_region_check() and
 * rcl_region_register() say.
 */
int rcl_memory_register(struct rcl_chan *chan, struct rclink_dev_region *arg,
			bool allocate)
{
	struct rcl_memory *memory;
	int ret;

	if (!rcl_pin_is_sane(arg, allocate))
		return -EINVAL;
	ret = rcl_region_check(chan, arg->name, arg->rights,
			       rcl_memory_npages(arg->addr, arg->len));
	if (ret)
		return ret;
	memory = rcl_memory_take(arg, allocate);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	return rcl_region_register(chan, memory, arg->name, arg->rights,
				   &arg->handle);
}
