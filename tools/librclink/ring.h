/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of a ring's two indexes. They count forever and wrap at
 * 2^32, which every depth divides; the other side's index is not trusted to be
 * within the depth.
 */
#ifndef RCLINK_RING_H
#define RCLINK_RING_H

#include <errno.h>
#include <stdint.h>

/* Entries between head and tail, or -EIO. */
static inline int ring_used(uint32_t head, uint32_t tail, uint32_t depth)
{
	uint32_t used = tail - head;

	return used > depth ? -EIO : (int)used;
}

static inline uint32_t ring_slot(uint32_t index, uint32_t depth)
{
	return index & (depth - 1);
}

/* Our own index: nobody else writes it. */
static inline uint32_t ring_own(const uint32_t *index)
{
	return __atomic_load_n(index, __ATOMIC_RELAXED);
}

/* The other side's: what it wrote before its index is seen after this. */
static inline uint32_t ring_other(const uint32_t *index)
{
	return __atomic_load_n(index, __ATOMIC_ACQUIRE);
}

/* What we did with the entries is seen before the index is. */
static inline void ring_move(uint32_t *index, uint32_t value)
{
	__atomic_store_n(index, value, __ATOMIC_RELEASE);
}

#endif /* RCLINK_RING_H */
