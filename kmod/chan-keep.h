/* SPDX-License-Identifier: GPL-2.0 */
/* What a channel keeps to go on in another epoch. */
#ifndef RCL_CHAN_KEEP_H
#define RCL_CHAN_KEEP_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include <uapi/linux/rclink_dev.h>

#include "region.h"

/* Powers of two, because the counters wrap; not all are used. */
#define RCL_CHAN_SEND_SLOTS	32
#define RCL_CHAN_RECV_SLOTS	32

struct rcl_chan;
struct rcl_qp;

/**
 * struct rcl_kept - an operation in flight other than a receive
 * @sqe: the entry; only set for the last part of the operation
 * @counted: see rcl_fate_of()
 * @ghost: it has no work request, and completes when its turn comes
 * @status: what it then completes with
 */
struct rcl_kept {
	struct rclink_dev_sqe sqe;
	u32 counted;
	bool ghost;
	u32 status;
};

/**
 * struct rcl_keep - kept by one channel, whose lock protects it
 * @chan: the channel; constant
 * @suspended: between two epochs
 * @parked: the device is given no sends
 * @marking: @mark is in flight
 * @mark_end: number after the last send that was posted before @mark
 * @mark: see chan-park.c
 * @broken: an operation has failed on its own: nothing can go on
 * @stalled: enum ib_wc_status of the first operation that has failed and stays
 *	in flight, as do those behind it; 0 if there is none
 * @sends_held: a send is among these
 * @qp: the one that it has, had last, or is about to get
 * @sent: how many operations that count were posted
 * @acked: how many of these completed with success
 * @ghosts: how many there are
 * @send: parallel to send_op of the channel
 * @recv: parallel to recv_op of the channel
 * @import: names of its imports, by slot
 */
struct rcl_keep {
	struct rcl_chan *chan;
	bool suspended;
	bool parked;
	bool marking;
	u32 mark_end;
	struct ib_cqe mark;
	bool broken;
	u32 stalled;
	bool sends_held;
	struct rcl_qp *qp;
	u32 sent;
	u32 acked;
	u32 ghosts;
	struct rcl_kept send[RCL_CHAN_SEND_SLOTS];
	struct rclink_dev_sqe recv[RCL_CHAN_RECV_SLOTS];
	char import[RCL_HANDLE_SLOTS][RCLINK_DEV_REGION_LEN];
};

static inline struct rcl_kept *rcl_keep_send_op(struct rcl_keep *keep,
						u32 number)
{
	return &keep->send[number % RCL_CHAN_SEND_SLOTS];
}

static inline struct rclink_dev_sqe *rcl_keep_recv_op(struct rcl_keep *keep,
						      u32 number)
{
	return &keep->recv[number % RCL_CHAN_RECV_SLOTS];
}

void rcl_keep_send(struct rcl_keep *keep, u32 number, u32 last,
		   const struct rclink_dev_sqe *sqe);
void rcl_keep_unsend(struct rcl_keep *keep, u32 number, bool counts);
bool rcl_keep_holds(struct rcl_keep *keep, struct ib_cq *cq,
		    const struct ib_wc *wc, bool send);

#endif /* RCL_CHAN_KEEP_H */
