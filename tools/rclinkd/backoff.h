/* SPDX-License-Identifier: GPL-2.0 */
/* When to dial again. */
#ifndef RCD_BACKOFF_H
#define RCD_BACKOFF_H

#include <stdint.h>

/*
 * The ns to wait from now after this many failures, 0 at first; last is when
 * the last exchange began, 0 for never. The first wait is short, later ones
 * double up to 30 s; there is always jitter from the 32 random bits, and never
 * more than one try a second.
 */
uint64_t rcd_backoff(unsigned int failures, uint64_t now, uint64_t last,
		     uint32_t random);

/*
 * The new count of failures for a link that had this many, and went down after
 * being up for so many ns. Each 30 s forgive one; failures beyond those that
 * lengthen the wait do not count. Less than 30 s is one more failure.
 */
unsigned int rcd_backoff_fell(unsigned int failures, uint64_t up);

#endif /* RCD_BACKOFF_H */
