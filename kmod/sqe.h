/* SPDX-License-Identifier: GPL-2.0 */
/* Entries of a submission ring, which a process fills. */
#ifndef RCL_SQE_H
#define RCL_SQE_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include <uapi/linux/rclink_dev.h>

/**
 * rcl_sqe_read - take an entry out of the ring
 * @sqe: set
 * @shared: of the channel; the consumer may write while we read
 * @head: number of the entry
 *
 * Each word is read once, and never again.
 */
static inline void rcl_sqe_read(struct rclink_dev_sqe *sqe,
				const struct rclink_dev_shared *shared,
				u32 head)
{
	const u64 *from = (const u64 *)&shared->sqe[head % RCLINK_DEV_DEPTH];
	u64 *to = (u64 *)sqe;
	u32 i;

	BUILD_BUG_ON(sizeof(*sqe) != 128);
	for (i = 0; i < sizeof(*sqe) / sizeof(*to); i++)
		to[i] = READ_ONCE(from[i]);
}

#endif /* RCL_SQE_H */
