// SPDX-License-Identifier: GPL-2.0
#include "chan-keep.h"

#include <rdma/ib_verbs.h>

#include "fate.h"
#include "qp.h"

/**
 * rcl_keep_send - an operation, or a part of one, is about to be posted
 * @keep: of its channel
 * @number: of the part
 * @last: of the operation's last part
 * @sqe: the entry
 */
void rcl_keep_send(struct rcl_keep *keep, u32 number, u32 last,
		   const struct rclink_dev_sqe *sqe)
{
	struct rcl_kept *kept = rcl_keep_send_op(keep, number);

	kept->ghost = false;
	if (number == last) {
		kept->sqe = *sqe;
		keep->sent += rcl_fate_counts(sqe->op);
	}
	kept->counted = keep->sent;
}

/**
 * rcl_keep_unsend - from that one on nothing was posted
 * @keep: of its channel
 * @number: of the part
 * @counts: it is one that the peer counts
 */
void rcl_keep_unsend(struct rcl_keep *keep, u32 number, bool counts)
{
	keep->sent = rcl_keep_send_op(keep, number)->counted - counts;
}

/* Not of the operation: the same one may well succeed on another QP. */
static bool rcl_keep_is_of_qp(enum ib_wc_status status, bool send)
{
	return status == IB_WC_RETRY_EXC_ERR || status == IB_WC_WR_FLUSH_ERR ||
	       (status == IB_WC_LOC_QP_OP_ERR && send);
}

/**
 * rcl_keep_holds - is that a failure that another epoch mends?
 * @keep: of the channel
 * @cq: of the completion
 * @wc: it, not successful
 * @send: of no receive
 *
 * It is when the peer does not answer, when this end has moved the QP to ERR,
 * and when the device has, without saying why, as rxe's responder does for what
 * it cannot make out, or because it could not send, as rxe's requester does
 * when its net device goes; and then so is what is behind it. Whether the path
 * or only that QP is gone, the link finds out (stall.c). A receive that failed
 * so had nothing to send: what is wrong is its memory.
 *
 * Return: true if so: then the operation stays in flight.
 */
bool rcl_keep_holds(struct rcl_keep *keep, struct ib_cq *cq,
		    const struct ib_wc *wc, bool send)
{
	/* Behind one that is held nothing may complete before it. */
	if (keep->stalled)
		return true;
	if (keep->broken || !rcl_keep_is_of_qp(wc->status, send)) {
		keep->broken = true;
		return false;
	}
	keep->stalled = wc->status;
	rcl_qp_wc_fault(cq, wc);
	return true;
}
