// SPDX-License-Identifier: GPL-2.0
#include "chan-keep.h"

#include <rdma/ib_verbs.h>

#include "fate.h"
#include "qp.h"

/**
 * rcl_keep_send - an operation, or a part of one, is about to be posted
 * @keep: of the channel
 * @number: of the part
 * @last: number of the operation's last part
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
 * rcl_keep_unsend - nothing from this part on was posted
 * @keep: of the channel
 * @number: of the part
 * @counts: the peer counts it
 */
void rcl_keep_unsend(struct rcl_keep *keep, u32 number, bool counts)
{
	keep->sent = rcl_keep_send_op(keep, number)->counted - counts;
}

/* A failure of the QP: the same operation may well succeed on another one. */
static bool rcl_keep_is_of_qp(enum ib_wc_status status, bool send)
{
	return status == IB_WC_RETRY_EXC_ERR || status == IB_WC_WR_FLUSH_ERR ||
	       (status == IB_WC_LOC_QP_OP_ERR && send);
}

/**
 * rcl_keep_holds - is this a failure that another epoch mends?
 * @keep: of the channel
 * @cq: of the completion
 * @wc: the completion, not successful
 * @send: false for a receive
 *
 * It is if the peer does not answer, if this end moved the QP to ERR, or if the
 * device did: without saying why, as rxe's responder does for what it cannot
 * make out, or because it could not send, as rxe's requester does when its net
 * device goes. Then the failures behind it are, too. The link finds out whether
 * the path or only that QP is gone (stall.c). A receive that failed with
 * IB_WC_LOC_QP_OP_ERR had nothing to send: its memory is at fault.
 *
 * Return: true if so: then the operation stays in flight.
 */
bool rcl_keep_holds(struct rcl_keep *keep, struct ib_cq *cq,
		    const struct ib_wc *wc, bool send)
{
	/* Nothing behind a held operation may complete before it. */
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
