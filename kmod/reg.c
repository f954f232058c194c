// SPDX-License-Identifier: GPL-2.0
#include "reg.h"

#include "upcall.h"

/**
 * rcl_reg_init - begin without a QP
 * @reg: zeroed
 */
void rcl_reg_init(struct rcl_reg *reg)
{
	mutex_init(&reg->lock);
}

/**
 * rcl_reg_start - let memory be registered from now on
 * @reg: initialized
 * @pd: of the memory
 * @wiring: of the link's QPs; what it points to stays until rcl_reg_stop()
 * @up: told of fatal events
 *
 * The QP is created at the first registration: a link without channels needs
 * none.
 */
void rcl_reg_start(struct rcl_reg *reg, struct ib_pd *pd,
		   const struct rcl_qp_wiring *wiring, struct rcl_upcall *up)
{
	mutex_lock(&reg->lock);
	WRITE_ONCE(reg->pd, pd);
	reg->up = up;
	reg->wiring = *wiring;
	/* Nobody needs any rights there. */
	reg->wiring.access = 0;
	mutex_unlock(&reg->lock);
}

static int rcl_reg_wire(struct rcl_reg *reg)
{
	const struct rcl_qp_id self = { reg->qp.qp->qp_num, reg->qp.psn };
	int ret;

	ret = rcl_qp_to_init(&reg->qp, &reg->wiring);
	if (ret)
		return ret;
	ret = rcl_qp_to_rtr(&reg->qp, &reg->wiring, &self);
	if (ret)
		return ret;
	return rcl_qp_to_rts(&reg->qp, &reg->wiring);
}

static int rcl_reg_open(struct rcl_reg *reg)
{
	static const struct rcl_qp_size size = { .send_wr = 1, .sge = 1 };
	int ret;

	if (reg->open)
		return 0;
	if (!reg->pd)
		return -ENOTCONN;
	memset(&reg->qp, 0, sizeof(reg->qp));
	reg->qp.index = RCL_QP_NONE;
	/* It is polled, and never armed. */
	ret = rcl_qp_create(&reg->qp, reg->pd, &size, rcl_qp_ignore, reg->up);
	if (ret)
		return ret;
	reg->open = true;
	return rcl_reg_wire(reg);
}

/* False if no other QP may take its place. */
static bool rcl_reg_close(struct rcl_reg *reg)
{
	if (!reg->open)
		return true;
	reg->open = false;
	rcl_qp_destroy(&reg->qp);
	return !reg->qp.lost;
}

/* All others in the queue would wait as long, and so would the epoch's end. */
static void rcl_reg_give_up(struct rcl_reg *reg)
{
	WRITE_ONCE(reg->pd, NULL);
	rcl_qp_fail(&reg->qp, RCLINK_DOWN_REASON_QP_FATAL, 0, 0);
}

/**
 * rcl_reg_mr - register memory
 * @reg: of the link
 * @mr: mapped
 * @access: rights, IB_ACCESS_*
 *
 * After a failure the device knows nothing of @mr any more. A device that does
 * not answer, or keeps the QP, ends the epoch.
 *
 * Context: may sleep.
 * Return: 0, -ENOTCONN when the epoch has ended, -EIO, -ETIMEDOUT or the errno
 * of the verbs call.
 */
int rcl_reg_mr(struct rcl_reg *reg, struct ib_mr *mr, int access)
{
	int ret;

	mutex_lock(&reg->lock);
	ret = rcl_reg_open(reg);
	if (!ret)
		ret = rcl_qp_register(&reg->qp, mr, access);
	if (ret && (!rcl_reg_close(reg) || ret == -ETIMEDOUT))
		rcl_reg_give_up(reg);
	mutex_unlock(&reg->lock);
	return ret;
}

/**
 * rcl_reg_stop - the mirror of rcl_reg_start()
 * @reg: initialized
 *
 * Context: may sleep.
 */
void rcl_reg_stop(struct rcl_reg *reg)
{
	mutex_lock(&reg->lock);
	rcl_reg_close(reg);
	WRITE_ONCE(reg->pd, NULL);
	mutex_unlock(&reg->lock);
}
