/* SPDX-License-Identifier: GPL-2.0 */
/* The control channel: sealed messages in fixed-size slots on one RC QP. */
#ifndef RCL_CTRL_H
#define RCL_CTRL_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "credit.h"
#include "seal.h"

struct rcl_msg;
struct rcl_qp;
struct rcl_stats;

#define RCL_CTRL_EXTRA_WR	2	/* the probe, one RDMA operation */

/**
 * struct rcl_ctrl_slot - one send or receive
 * @cqe: of its work request
 * @ctrl: the channel it belongs to
 * @node: on the channel's @received
 * @buf: RCL_MSG_SLOT bytes
 * @dma: address of @buf for the device
 * @len: bytes received
 * @arrived: time when they arrived
 * @number: number of the send
 */
struct rcl_ctrl_slot {
	struct ib_cqe cqe;
	struct rcl_ctrl *ctrl;
	struct list_head node;
	u8 *buf;
	u64 dma;
	u32 len;
	ktime_t arrived;
	u32 number;
};

/**
 * struct rcl_ctrl - the control channel of one epoch
 * @ib: device of @qp
 * @qp: the control QP
 * @stats: of the link
 * @rx: receive slots
 * @tx: send slots
 * @received: in the order of arrival, not yet opened
 * @behind: consecutive passes that have left some of @received
 * @sent: sends that were posted
 * @retired: sends that have completed
 * @copies: rcl_seal_copies() before the key of @seal was drawn
 * @seal: has the key after rcl_ctrl_start()
 * @started: rcl_ctrl_start() was called
 * @bye: a goodbye was sent
 * @cookie: cookie of the last question from rcl_ctrl_ask()
 * @credit: what may be sent
 *
 * All of it belongs to the link's work item, or to its chore.
 */
struct rcl_ctrl {
	struct ib_device *ib;
	struct rcl_qp *qp;
	struct rcl_stats *stats;
	struct rcl_ctrl_slot rx[RCL_CTRL_SLOTS];
	struct rcl_ctrl_slot tx[RCL_CTRL_SLOTS];
	struct list_head received;
	u32 behind;
	u32 sent;
	u32 retired;
	int copies;
	struct rcl_seal seal;
	bool started;
	bool bye;
	u32 cookie;
	struct rcl_credit credit;
};

int rcl_ctrl_create(struct rcl_ctrl *ctrl, struct ib_device *ib,
		    struct rcl_qp *qp, struct rcl_stats *stats);
int rcl_ctrl_post(struct rcl_ctrl *ctrl);
void rcl_ctrl_start(struct rcl_ctrl *ctrl, const u8 *key, u32 role, u64 epoch);
void rcl_ctrl_destroy(struct rcl_ctrl *ctrl);

bool rcl_ctrl_poll(struct rcl_ctrl *ctrl);
bool rcl_ctrl_can_ask(const struct rcl_ctrl *ctrl);
int rcl_ctrl_send(struct rcl_ctrl *ctrl, struct rcl_msg *msg);
int rcl_ctrl_ask(struct rcl_ctrl *ctrl, struct rcl_msg *msg, u32 *cookie);
bool rcl_ctrl_can_recv(const struct rcl_ctrl *ctrl);
int rcl_ctrl_recv(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot **slot,
		  struct rcl_msg *msg);
void rcl_ctrl_flush(struct rcl_ctrl *ctrl, u32 left);
void rcl_ctrl_say_bye(struct rcl_ctrl *ctrl, bool again, bool wait);
int rcl_ctrl_repost(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot *slot);

#endif /* RCL_CTRL_H */
