// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a process, pinned like that of a channel with a link, but never
 * registered: what is sent or received is copied, at most a packet at a time.
 */
#include "group-mem.h"

#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/scatterlist.h>

#include "pin.h"
#include "region.h"
#include "user-memory.h"

/**
 * rcl_group_mem_new - pin memory of the calling process, or allocate some
 * @arg: the region, hostile
 * @allocate: as for RCLINK_IOC_MEMORY
 *
 * Context: may sleep; no lock is held, because faults may take any time.
 * Return: the memory, or the ERR_PTR of -EINVAL, -EOPNOTSUPP for a name or
 * rights, which are for a peer, -EMSGSIZE, -EFAULT, -EDQUOT beyond
 * RLIMIT_MEMLOCK, -ENOMEM, or -EINTR for a fatal signal.
 */
struct rcl_memory *rcl_group_mem_new(const struct rclink_dev_region *arg,
				     bool allocate)
{
	if (arg->name[0] || arg->rights)
		return ERR_PTR(-EOPNOTSUPP);
	if (!rcl_pin_is_sane(arg, allocate))
		return ERR_PTR(-EINVAL);
	/* Keeps the way to a piece of it short. */
	if (arg->len > RCLINK_DEV_GROUP_REGION_MAX)
		return ERR_PTR(-EMSGSIZE);
	return rcl_memory_take(arg, allocate);
}

/**
 * rcl_group_mem_add - make memory usable
 * @mem: zeroed, or with some memory
 * @memory: from rcl_group_mem_new()
 * @handle: set
 *
 * Return: 0, or -ENOSPC.
 */
int rcl_group_mem_add(struct rcl_group_mem *mem, struct rcl_memory *memory,
		      u32 *handle)
{
	u32 i;

	for (i = 0; i < RCL_HANDLE_SLOTS && mem->memory[i]; i++)
		;
	if (i == RCL_HANDLE_SLOTS)
		return -ENOSPC;
	mem->memory[i] = memory;
	mem->handle[i] = rcl_region_new_handle(i);
	*handle = mem->handle[i];
	return 0;
}

static struct rcl_memory *rcl_group_mem_find(struct rcl_group_mem *mem,
					     u32 handle)
{
	u32 slot = rcl_region_slot(handle);

	return mem->handle[slot] == handle ? mem->memory[slot] : NULL;
}

/**
 * rcl_group_mem_del - make memory unusable again
 * @mem: any
 * @handle: of the memory, hostile
 *
 * Return: the memory, which nobody copies to or from any more, or NULL.
 */
struct rcl_memory *rcl_group_mem_del(struct rcl_group_mem *mem, u32 handle)
{
	struct rcl_memory *memory = rcl_group_mem_find(mem, handle);

	if (memory)
		mem->memory[rcl_region_slot(handle)] = NULL;
	return memory;
}

/**
 * rcl_group_mem_free_all - release all memory
 * @mem: not used by anybody any more
 *
 * Context: may sleep.
 */
void rcl_group_mem_free_all(struct rcl_group_mem *mem)
{
	u32 i;

	for (i = 0; i < RCL_HANDLE_SLOTS; i++)
		if (mem->memory[i])
			mem->memory[i]->free(mem->memory[i]);
}

/**
 * rcl_group_mem_file - get the file by which memory is mapped
 * @mem: any
 * @slot: of the memory, hostile
 * @len: set to its length in bytes
 *
 * Return: the file with a reference, or NULL if the memory has none, or there
 * is no such memory.
 */
struct file *rcl_group_mem_file(struct rcl_group_mem *mem, u32 slot, u64 *len)
{
	struct rcl_memory *memory;

	if (slot >= RCL_HANDLE_SLOTS)
		return NULL;
	memory = mem->memory[array_index_nospec(slot, RCL_HANDLE_SLOTS)];
	return memory ? rcl_memory_file(memory, len) : NULL;
}

/**
 * rcl_group_mem_check - do these pieces lie in memory?
 * @mem: any
 * @sge: the pieces, hostile
 * @num: how many
 * @len: set to the bytes of all of them
 *
 * Return: 0, -ESTALE, or -EINVAL when one exceeds its memory.
 */
int rcl_group_mem_check(struct rcl_group_mem *mem,
			const struct rclink_dev_sge *sge, u32 num, u32 *len)
{
	u32 i;

	*len = 0;
	for (i = 0; i < num; i++) {
		struct rcl_memory *memory;

		memory = rcl_group_mem_find(mem, sge[i].region);
		if (!memory)
			return -ESTALE;
		if (sge[i].offset > memory->len ||
		    sge[i].len > memory->len - sge[i].offset)
			return -EINVAL;
		*len += sge[i].len;
	}
	return 0;
}

/**
 * rcl_group_mem_read - copy from pieces of memory
 * @mem: any
 * @sge: the pieces, just checked by rcl_group_mem_check()
 * @num: how many
 * @to: has room for all
 *
 * Return: 0, or -EFAULT.
 */
int rcl_group_mem_read(struct rcl_group_mem *mem,
		       const struct rclink_dev_sge *sge, u32 num, u8 *to)
{
	u32 i;

	for (i = 0; i < num; i++) {
		struct sg_table *sgt =
			&rcl_group_mem_find(mem, sge[i].region)->sgt;

		if (sg_pcopy_to_buffer(sgt->sgl, sgt->orig_nents, to,
				       sge[i].len, sge[i].offset) != sge[i].len)
			return -EFAULT;
		to += sge[i].len;
	}
	return 0;
}

/**
 * rcl_group_mem_write - copy to pieces of memory
 * @mem: any
 * @sge: the pieces, just checked by rcl_group_mem_check()
 * @num: how many
 * @from: the data
 * @len: bytes, no more than there is room for
 *
 * Return: 0, or -EFAULT.
 */
int rcl_group_mem_write(struct rcl_group_mem *mem,
			const struct rclink_dev_sge *sge, u32 num,
			const u8 *from, u32 len)
{
	u32 i;

	for (i = 0; i < num && len; i++) {
		u32 part = min(len, sge[i].len);
		struct sg_table *sgt =
			&rcl_group_mem_find(mem, sge[i].region)->sgt;

		if (sg_pcopy_from_buffer(sgt->sgl, sgt->orig_nents, from,
					 part, sge[i].offset) != part)
			return -EFAULT;
		from += part;
		len -= part;
	}
	return 0;
}
