/* SPDX-License-Identifier: GPL-2.0 */
/* What a device can do, but no attribute tells: found by trying. */
#ifndef RCV_PROBE_H
#define RCV_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct rcv_hca;

struct rcv_probe {
	uint32_t max_inline;	/* bytes, as far as tried */
	bool stamps;		/* completions have the device's time */
};

/* What cannot be tried counts as absent. */
void rcv_probe(struct rcv_hca *hca, struct rcv_probe *probe);

#endif /* RCV_PROBE_H */
