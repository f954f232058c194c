/* SPDX-License-Identifier: GPL-2.0 */
/* The control channel: sealed messages of fixed-size slots on one RC QP. */
#ifndef RCL_CTRL_H
#define RCL_CTRL_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#include "seal.h"

struct rcl_msg;
struct rcl_qp;
struct rcl_stats;
struct rcl_upcall;

#define RCL_CTRL_SLOTS		16	/* receives, and sends in flight */
#define RCL_CTRL_SIGNAL		4	/* sends that one completion retires */
#define RCL_CTRL_QUESTIONS	6	/* questions without an answer */
#define RCL_CTRL_EXTRA_WR	2	/* the probe, one RDMA operation */

/**
 * struct rcl_ctrl_slot - one send or receive
 * @cqe: of its work request
 * @ctrl: whose slot
 * @node: on received
 * @buf: RCL_MSG_SLOT bytes
 * @dma: address of @buf for the device
 * @len: bytes received
 * @arrived: when
 * @number: of the send
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
 * struct rcl_ctrl_question - a question that was not answered yet
 * @when: it was sent
 * @offset: that the answer has, too, if it is about a pooled QP
 * @cookie: that the answer has, too
 * @type: of it; that of the answer is the next one
 */
struct rcl_ctrl_question {
	ktime_t when;
	u64 offset;
	u32 cookie;
	u8 type;
};

/**
 * struct rcl_ctrl - the control channel of one epoch
 * @ib: device of @qp
 * @qp: the control QP
 * @up: told when the peer breaks the protocol
 * @stats: of the link
 * @rx: receive slots
 * @tx: send slots
 * @received: in the order of arrival, not yet opened
 * @sent: sends that were posted
 * @retired: sends that have completed
 * @seal: has the key after rcl_ctrl_start()
 * @started: the key is in
 * @credits: receive slots that the peer has posted for us
 * @owed: receive slots posted again, of which the peer does not know yet
 * @bye: a goodbye was sent
 * @cookie: of the last question that rcl_ctrl_ask() has sent
 * @questions: sent and not answered
 * @oldest: which of @asked is the question that is answered next
 * @asked: a ring of those that are not answered, as answers come in the order
 *	of their questions
 *
 * All of it belongs to the link's work item.
 */
struct rcl_ctrl {
	struct ib_device *ib;
	struct rcl_qp *qp;
	struct rcl_upcall *up;
	struct rcl_stats *stats;
	struct rcl_ctrl_slot rx[RCL_CTRL_SLOTS];
	struct rcl_ctrl_slot tx[RCL_CTRL_SLOTS];
	struct list_head received;
	u32 sent;
	u32 retired;
	struct rcl_seal seal;
	bool started;
	u16 credits;
	u16 owed;
	bool bye;
	u32 cookie;
	u16 questions;
	u16 oldest;
	struct rcl_ctrl_question asked[RCL_CTRL_QUESTIONS];
};

int rcl_ctrl_create(struct rcl_ctrl *ctrl, struct ib_device *ib,
		    struct rcl_qp *qp, struct rcl_upcall *up,
		    struct rcl_stats *stats);
int rcl_ctrl_post(struct rcl_ctrl *ctrl);
void rcl_ctrl_start(struct rcl_ctrl *ctrl, const u8 *key, u32 role, u64 epoch);
void rcl_ctrl_destroy(struct rcl_ctrl *ctrl);

bool rcl_ctrl_poll(struct rcl_ctrl *ctrl);
bool rcl_ctrl_can_ask(const struct rcl_ctrl *ctrl);
int rcl_ctrl_send(struct rcl_ctrl *ctrl, struct rcl_msg *msg);
int rcl_ctrl_ask(struct rcl_ctrl *ctrl, struct rcl_msg *msg, u32 *cookie);
int rcl_ctrl_recv(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot **slot,
		  struct rcl_msg *msg);
void rcl_ctrl_flush(struct rcl_ctrl *ctrl);
int rcl_ctrl_repost(struct rcl_ctrl *ctrl, struct rcl_ctrl_slot *slot);

#endif /* RCL_CTRL_H */
