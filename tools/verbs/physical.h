/* SPDX-License-Identifier: GPL-2.0 */
/* A port's wire in words and numbers, from the values of the verbs: pure. */
#ifndef RCV_PHYSICAL_H
#define RCV_PHYSICAL_H

#include <stdint.h>

/* All return 0, or NULL, for a value that is none or not known here. */

uint32_t rcv_lanes(uint32_t width);
uint32_t rcv_lane_mbits(uint32_t speed);	/* per second and lane */
const char *rcv_phys_state(uint32_t state);

#endif /* RCV_PHYSICAL_H */
