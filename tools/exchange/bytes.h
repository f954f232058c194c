/* SPDX-License-Identifier: GPL-2.0 */
/* Integers of any width as bytes, most significant byte first. */
#ifndef RCX_BYTES_H
#define RCX_BYTES_H

#include <stdint.h>

static inline uint64_t rcx_get_be(const uint8_t *p, unsigned int width)
{
	uint64_t value = 0;

	while (width--)
		value = value << 8 | *p++;

	return value;
}

static inline void rcx_put_be(uint8_t *p, unsigned int width, uint64_t value)
{
	while (width--) {
		p[width] = value;
		value >>= 8;
	}
}

#endif /* RCX_BYTES_H */
