// SPDX-License-Identifier: GPL-2.0
/*
 * Print the rate of this host's time stamp counter, in kHz. An emulated guest
 * has the same counter. If the guest is not told its rate, it measures the rate
 * when it boots, when the host may be busy, and all its clocks depend on that.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define TRIES	1000
#define WAIT_US	200000

/* Read both at the same time: of all tries, keep the quickest. */
static void both(uint64_t *ticks, int64_t *ns)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		struct timespec now;
		uint64_t before, took;

		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC, &now);
		took = __rdtsc() - before;
		if (took >= best)
			continue;
		best = took;
		*ticks = before + took / 2;
		*ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	}
}

int main(void)
{
	uint64_t ticks[2] = { 0 };
	int64_t ns[2] = { 0 };

	both(&ticks[0], &ns[0]);
	usleep(WAIT_US);
	both(&ticks[1], &ns[1]);
	printf("%.0f\n", (double)(ticks[1] - ticks[0]) * 1e6 / (ns[1] - ns[0]));
	return 0;
}
