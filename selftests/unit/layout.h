/* SPDX-License-Identifier: GPL-2.0 */
/* Offsets of the members of struct rcl_endpoint, which was included before. */
#ifndef UNIT_LAYOUT_H
#define UNIT_LAYOUT_H

#include <stddef.h>

static const size_t layout[] = {
	offsetof(struct rcl_endpoint, link_layer),
	offsetof(struct rcl_endpoint, gid),
	offsetof(struct rcl_endpoint, lid),
	offsetof(struct rcl_endpoint, mtu),
	offsetof(struct rcl_endpoint, rd_atomic),
	offsetof(struct rcl_endpoint, atomics),
	offsetof(struct rcl_endpoint, epoch),
	offsetof(struct rcl_endpoint, addr),
	offsetof(struct rcl_endpoint, rkey),
	offsetof(struct rcl_endpoint, length),
	offsetof(struct rcl_endpoint, pkey),
	offsetof(struct rcl_endpoint, masked_atomics),
	offsetof(struct rcl_endpoint, nqps),
	offsetof(struct rcl_endpoint, qp),
	sizeof(struct rcl_endpoint),
};

/* The same for the module's struct. */
const size_t *kmod_layout(void);

#endif /* UNIT_LAYOUT_H */
