/* SPDX-License-Identifier: GPL-2.0 */
/* A port's wire in words and numbers, from what the verbs have for it: pure. */
#ifndef RCV_PHYSICAL_H
#define RCV_PHYSICAL_H

#include <stdint.h>

/* All have 0, or NULL, for what is none, or not known here. */

uint32_t rcv_lanes(uint32_t width);
uint32_t rcv_lane_mbits(uint32_t speed);	/* a second, of one lane */
const char *rcv_phys_state(uint32_t state);

#endif /* RCV_PHYSICAL_H */
