/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of channels is registered on a QP of its own, so that it does not
 * queue behind what a peer may stall, and is never resent together with it.
 */
#ifndef RCL_REG_H
#define RCL_REG_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "qp.h"

/**
 * struct rcl_reg - the QP that carries nothing but REG_MR
 * @lock: protects all: one registration at a time; @pd is read without it, too
 * @pd: of the link, between start and stop, while the device answers
 * @up: for the QP
 * @wiring: for the QP, which is wired to itself
 * @open: @qp exists: from the first registration on, until one fails
 * @qp: in RTS while @open
 */
struct rcl_reg {
	struct mutex lock;	/* protects all of it, as above */
	struct ib_pd *pd;
	struct rcl_upcall *up;
	struct rcl_qp_wiring wiring;
	bool open;
	struct rcl_qp qp;
};

void rcl_reg_init(struct rcl_reg *reg);
void rcl_reg_start(struct rcl_reg *reg, struct ib_pd *pd,
		   const struct rcl_qp_wiring *wiring, struct rcl_upcall *up);
int rcl_reg_mr(struct rcl_reg *reg, struct ib_mr *mr, int access);
void rcl_reg_stop(struct rcl_reg *reg);

/**
 * rcl_reg_has_ended - does the epoch end, so that nothing can be registered?
 * @reg: initialized
 *
 * Context: any; whoever knows of a registration that failed for that sees it.
 * Return: true if the link was told to end the epoch, or has ended it.
 */
static inline bool rcl_reg_has_ended(const struct rcl_reg *reg)
{
	return !READ_ONCE(reg->pd);
}

#endif /* RCL_REG_H */
