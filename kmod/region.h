/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that is registered for one channel and its peer. */
#ifndef RCL_REGION_H
#define RCL_REGION_H

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

#include "memory.h"

#define RCL_HANDLE_BITS		6	/* for the slot; the rest counts up */
#define RCL_HANDLE_SLOTS	BIT(RCL_HANDLE_BITS)

struct file;
struct ib_sge;
struct rcl_chan;
struct rclink_dev_sqe;

static inline u32 rcl_region_slot(u32 handle)
{
	return handle & (RCL_HANDLE_SLOTS - 1);
}

/**
 * rcl_region_rights - what the peer may do
 * @rights: of a request, hostile
 *
 * Return: rights, without what concerns the local channel; or -EINVAL.
 */
static inline int rcl_region_rights(u32 rights)
{
	u32 writes = RCLINK_REGION_WRITE | RCLINK_REGION_ATOMIC;

	if (rights & ~(RCLINK_REGION_RIGHTS | RCLINK_REGION_READ_ONLY) ||
	    (rights & RCLINK_REGION_READ_ONLY && rights & writes))
		return -EINVAL;
	return rights & RCLINK_REGION_RIGHTS;
}

u32 rcl_region_new_handle(u32 slot);
int rcl_region_check(struct rcl_chan *chan, const char *name, u32 rights,
		     u64 npages);
int rcl_region_register(struct rcl_chan *chan, struct rcl_memory *memory,
			const char *name, u32 rights, u32 *handle);
int rcl_region_withdraw(struct rcl_chan *chan, u32 handle);
int rcl_region_invalidated(struct rcl_chan *chan, u32 rkey, u32 *handle);
int rcl_region_pieces(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		      bool writes, struct ib_sge *sge, u32 *len);
struct file *rcl_region_file(struct rcl_chan *chan, u32 slot, u64 *len);
int rcl_region_map_all(struct rcl_chan *chan);
void rcl_region_unmap_all(struct rcl_chan *chan);
void rcl_region_unexport_all(struct rcl_chan *chan);
bool rcl_region_is_lost(struct rcl_chan *chan);
void rcl_region_free_all(struct rcl_chan *chan);

#endif /* RCL_REGION_H */
