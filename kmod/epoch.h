/* SPDX-License-Identifier: GPL-2.0 */
/* All verbs objects of one epoch of one link, made and destroyed together. */
#ifndef RCL_EPOCH_H
#define RCL_EPOCH_H

#include <linux/minmax.h>

#include "buffer.h"
#include "ctrl.h"
#include "device.h"
#include "endpoint.h"
#include "heartbeat.h"
#include "ping.h"
#include "pool.h"
#include "policy.h"
#include "probe.h"
#include "qp.h"
#include "reg.h"

/**
 * struct rcl_epoch - one epoch
 * @user: attachment to the device; remove waits for it
 * @policy: of the link when it was prepared
 * @sgid: own GID entry, held so that its index stays
 * @gid_reason: why that GID was chosen
 * @pd: of this link and epoch only
 * @buffer: link buffer
 * @ctrl: control channel on @qp[0]
 * @probe: large packet under way
 * @pinger: round trip under way
 * @heartbeat: when the peer was heard, while the link is up
 * @pool: who leases @qp[1] and those after it
 * @reg: where memory of the lessees is registered
 * @ah: path to the peer, after connect
 * @lock: the link's, see below
 * @number: own count; the agreed one after connect
 * @local: this end
 * @remote: the peer's end, after connect
 * @access: rights of the peer
 * @qp: control QP first, then the pool; as many as @local has
 *
 * It belongs to the link's work item, or to its chore. @number, @local and
 * @remote are also written under the link's lock, and may be read under it.
 */
struct rcl_epoch {
	struct rcl_dev_user user;
	struct rcl_policy policy;
	const struct ib_gid_attr *sgid;
	const char *gid_reason;
	struct ib_pd *pd;
	struct rcl_buffer buffer;
	struct rcl_ctrl ctrl;
	struct rcl_probe probe;
	struct rcl_pinger pinger;
	struct rcl_heartbeat heartbeat;
	struct rcl_pool pool;
	struct rcl_reg reg;
	struct rdma_ah_attr ah;
	spinlock_t *lock;	/* the link's: for readers of what follows */
	u64 number;
	struct rcl_endpoint local;
	struct rcl_endpoint remote;
	int access;
	struct rcl_qp qp[];
};

/**
 * rcl_epoch_mtu - the path MTU
 * @ep: any
 *
 * Return: the MTU in bytes, 0 before connect.
 */
static inline u32 rcl_epoch_mtu(const struct rcl_epoch *ep)
{
	return min(ep->local.mtu, ep->remote.mtu);
}

struct rcl_qp_size rcl_epoch_pool_size(const struct rcl_epoch *ep);
struct rcl_epoch *rcl_epoch_create(const struct rcl_policy *policy, u64 number,
				   struct rcl_upcall *up,
				   struct rcl_stats *stats, const char **why);
int rcl_epoch_connect(struct rcl_epoch *ep);
int rcl_epoch_activate(struct rcl_epoch *ep, const u8 *key, u32 role);
int rcl_epoch_renew(struct rcl_epoch *ep, u32 i);
int rcl_epoch_rewire(struct rcl_epoch *ep, u32 i,
		     const struct rcl_qp_id *remote);
int rcl_epoch_go(struct rcl_epoch *ep, u32 i);
void rcl_epoch_drain(struct rcl_epoch *ep);
void rcl_epoch_stop(struct rcl_epoch *ep);
void rcl_epoch_destroy(struct rcl_epoch *ep);

#endif /* RCL_EPOCH_H */
