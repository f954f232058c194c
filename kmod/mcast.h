/* SPDX-License-Identifier: GPL-2.0 */
/* One UD queue pair that is attached to a multicast group. */
#ifndef RCL_MCAST_H
#define RCL_MCAST_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include <uapi/linux/rclink.h>

struct rcl_dev_user;
struct rcl_mcast;
struct rcl_upcall;
struct socket;

#define RCL_MCAST_RX	32	/* receives that are posted */
#define RCL_MCAST_TX	16	/* sends under way; one is the owner's alone */
#define RCL_MCAST_MTU	4096	/* bytes of the longest packet a port sends */
/*
 * Half of what may follow that: a software device takes IP datagrams of 64 KiB,
 * and rxe (6.1) ends a QP whose receive has less room.
 */
#define RCL_MCAST_REST	32768

/**
 * struct rcl_mcast_addr - a multicast group
 * @gid: its MGID, network byte order
 * @lid: its LID on InfiniBand
 * @sl: service level of its packets there
 * @rate: enum ib_rate of its packets there
 * @qkey: that all packets must have
 */
struct rcl_mcast_addr {
	u8 gid[RCLINK_GID_LEN];
	u32 lid;
	u8 sl;
	u8 rate;
	u32 qkey;
};

/**
 * struct rcl_mcast_slot - a receive or a send
 * @cqe: of its work request
 * @mcast: that the slot belongs to
 * @buf: RCL_MCAST_MTU bytes
 * @dma: address of @buf for the device
 * @grh: of a receive: what precedes @buf in a packet
 * @grh_dma: address of @grh for the device
 * @busy: of a send: under way
 */
struct rcl_mcast_slot {
	struct ib_cqe cqe;
	struct rcl_mcast *mcast;
	u8 *buf;
	u64 dma;
	struct ib_grh *grh;
	u64 grh_dma;
	bool busy;
};

/**
 * struct rcl_mcast_ops - what the owner is told; process context
 * @received: a packet came in: the data behind its GRH, its length, and the GID
 *	it claims to come from; one at a time
 * @sent: a send is no longer under way, so its slot is free
 */
struct rcl_mcast_ops {
	void (*received)(struct rcl_mcast *mcast, u8 *data, u32 len,
			 const u8 *gid);
	void (*sent)(struct rcl_mcast *mcast);
};

/**
 * struct rcl_mcast - a QP and what it needs
 * @ops: of the owner
 * @up: told of what ends the QP; the owner's
 * @addr: of the group
 * @ib: the device
 * @port: of the device
 * @pd: its protection domain
 * @cq: for both queues, polled in a workqueue of the RDMA core
 * @qp: in RTS after rcl_mcast_create()
 * @sock: joined in the IP stack, NULL on InfiniBand
 * @posted: work requests that have not completed
 * @stopping: nothing is posted any more
 * @idle: woken when nothing is posted
 * @ah: way to the group
 * @rest: RCL_MCAST_REST bytes; each receive ends with them, twice; never read
 * @rest_dma: address of @rest for the device
 * @rx: receives
 * @tx: sends, the first of which is the owner's
 */
struct rcl_mcast {
	const struct rcl_mcast_ops *ops;
	struct rcl_upcall *up;
	struct rcl_mcast_addr addr;
	struct ib_device *ib;
	u32 port;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct socket *sock;
	atomic_t posted;
	bool stopping;
	wait_queue_head_t idle;
	struct ib_ah *ah;
	u8 *rest;
	u64 rest_dma;
	struct rcl_mcast_slot rx[RCL_MCAST_RX];
	struct rcl_mcast_slot tx[RCL_MCAST_TX];
};

u32 rcl_mcast_random_qkey(void);
struct rcl_mcast *rcl_mcast_create(const struct rcl_mcast_ops *ops,
				   const struct rcl_mcast_addr *addr,
				   const struct rcl_dev_user *user,
				   const char **why);
int rcl_mcast_set_qkey(struct rcl_mcast *mcast, u32 qkey);
struct rcl_mcast_slot *rcl_mcast_begin(struct rcl_mcast *mcast, bool own);
bool rcl_mcast_has_room(const struct rcl_mcast *mcast);
int rcl_mcast_send(struct rcl_mcast_slot *slot, u32 len);
void rcl_mcast_destroy(struct rcl_mcast *mcast);

#endif /* RCL_MCAST_H */
