/* SPDX-License-Identifier: GPL-2.0 */
/* The time of a device, whose counter wraps: pure. */
#ifndef RCV_STAMP_H
#define RCV_STAMP_H

#include <stdint.h>

/*
 * From one stamp to a later one, in ns. mask has the bits that a stamp has; khz
 * is the device's clock. 0: not known.
 */
static inline uint64_t rcv_stamps_ns(uint64_t from, uint64_t to, uint64_t mask,
				     uint64_t khz)
{
	uint64_t ticks = (to - from) & mask;

	if (!khz)
		return 0;
	return ticks / khz * 1000000 + ticks % khz * 1000000 / khz;
}

#endif /* RCV_STAMP_H */
