/* SPDX-License-Identifier: GPL-2.0 */
/* What one end of a link tells the other, and the checks on it. */
#ifndef RCL_ENDPOINT_H
#define RCL_ENDPOINT_H

#include <linux/bits.h>
#include <linux/types.h>

#include <uapi/linux/rclink.h>

#define RCL_QPS_ALL	(1 + RCLINK_QPS_MAX)
#define RCL_24BIT_MAX	0xffffffU
/* A peer that counts further ahead would use up the numbers. */
#define RCL_EPOCH_AHEAD	BIT_ULL(32)

struct rcl_qp_id {
	u32 qpn;
	u32 psn;
};

/* 0 and 1 belong to the subnet manager and the CM: IBA 3.5.3. */
static inline bool rcl_qpn_is_usable(u32 qpn)
{
	return qpn >= 2 && qpn <= RCL_24BIT_MAX;
}

/**
 * struct rcl_endpoint - one end of a link in one epoch
 * @link_layer: enum rclink_link_layer
 * @gid: network byte order
 * @lid: on InfiniBand
 * @mtu: bytes
 * @rd_atomic: READs and atomics that this end answers concurrently
 * @atomics: enum rclink_atomics
 * @epoch: number of the epoch, as this end counts
 * @addr: of the link buffer
 * @rkey: of the link buffer
 * @length: of the link buffer, bytes
 * @pkey: partition key on InfiniBand, 0 if not given
 * @masked_atomics: enum rclink_atomics, none if not given
 * @nqps: entries of @qp
 * @qp: the control QP first, then the pool
 */
struct rcl_endpoint {
	u32 link_layer;
	u8 gid[RCLINK_GID_LEN];
	u32 lid;
	u32 mtu;
	u32 rd_atomic;
	u32 atomics;
	u64 epoch;
	u64 addr;
	u32 rkey;
	u32 length;
	u32 pkey;
	u32 masked_atomics;
	u32 nqps;
	struct rcl_qp_id qp[RCL_QPS_ALL];
};

int rcl_endpoint_check(const struct rcl_endpoint *local,
		       const struct rcl_endpoint *remote, bool loopback,
		       const char **why);

#endif /* RCL_ENDPOINT_H */
