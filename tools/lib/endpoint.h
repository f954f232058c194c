/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one end of a link tells the other: the values that the kernel hands out
 * at prepare and takes at connect, and that the exchange carries in between.
 */
#ifndef RCL_ENDPOINT_H
#define RCL_ENDPOINT_H

#include <stdint.h>

#include <linux/rclink.h>

/* One way out of a host: a GID of a port. */
struct rcl_path {
	char device[RCLINK_DEVICE_MAX + 1];
	uint32_t port;
	uint32_t link_layer;	/* enum rclink_link_layer */
	uint32_t gid_type;	/* enum rclink_gid_type */
	uint32_t gid_index;	/* of this host's paths only */
	uint32_t mtu;		/* bytes */
	uint32_t vlan;		/* 0: none */
	uint8_t gid[RCLINK_GID_LEN];
};

struct rcl_qp_id {
	uint32_t qpn;		/* 24 bits */
	uint32_t psn;		/* 24 bits, first PSN that this end sends */
};

struct rcl_endpoint {
	uint32_t link_layer;	/* enum rclink_link_layer */
	uint8_t gid[RCLINK_GID_LEN];
	uint32_t lid;		/* InfiniBand only */
	uint32_t mtu;		/* bytes */
	uint32_t rd_atomic;	/* READs and atomics answered at once */
	uint32_t atomics;	/* enum rclink_atomics */
	uint64_t epoch;
	uint64_t addr;		/* of the link buffer */
	uint32_t rkey;		/* of the link buffer */
	uint32_t length;	/* of the link buffer, bytes */
	uint32_t pkey;		/* partition key on InfiniBand, or 0 */
	uint32_t masked_atomics; /* enum rclink_atomics */
	uint32_t nqps;		/* entries of qp[] */
	struct rcl_qp_id qp[1 + RCLINK_QPS_MAX]; /* control QP first */
};

#endif /* RCL_ENDPOINT_H */
