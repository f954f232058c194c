// SPDX-License-Identifier: GPL-2.0
#include "physical.h"

#include <stddef.h>

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

/* A value is a single bit; values[i] is for bit i: IBA 14.2.5.6. */
static uint32_t of_bit(const uint32_t *values, size_t num, uint32_t bit)
{
	size_t i;

	for (i = 0; i < num; i++)
		if (bit == 1u << i)
			return values[i];
	return 0;
}

uint32_t rcv_lanes(uint32_t width)
{
	static const uint32_t lanes[] = { 1, 4, 8, 12, 2 };

	return of_bit(lanes, NUM(lanes), width);
}

/* SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR */
uint32_t rcv_lane_mbits(uint32_t speed)
{
	static const uint32_t mbits[] = {
		2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000
	};

	return of_bit(mbits, NUM(mbits), speed);
}

const char *rcv_phys_state(uint32_t state)
{
	static const char * const words[] = {
		NULL, "sleep", "polling", "disabled", "training", "link-up",
		"recovery", "test"
	};

	return state < NUM(words) ? words[state] : NULL;
}
