/* SPDX-License-Identifier: GPL-2.0 */
/* When to dial again. */
#ifndef RCD_BACKOFF_H
#define RCD_BACKOFF_H

#include <stdint.h>

/*
 * ns to wait at now after so many failures, none to begin with; last is when
 * the last exchange began, 0 for never. The first time is quick, then it is
 * twice as long each time, to 30 s; always with jitter by the 32 random bits,
 * and never twice in a second.
 */
uint64_t rcd_backoff(unsigned int failures, uint64_t now, uint64_t last,
		     uint32_t random);

/*
 * How many failures a link has that had so many, and went down when it was up
 * for so many ns: each 30 s forgive one, but no more of them count than make
 * the time longer, and less than 30 s is one more.
 */
unsigned int rcd_backoff_fell(unsigned int failures, uint64_t up);

#endif /* RCD_BACKOFF_H */
