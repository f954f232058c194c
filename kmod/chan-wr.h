/* SPDX-License-Identifier: GPL-2.0 */
/* From an entry to a work request. */
#ifndef RCL_CHAN_WR_H
#define RCL_CHAN_WR_H

#include <linux/types.h>

#include "chan.h"
#include "qp.h"

struct ib_rdma_wr;
struct ib_sge;
struct rclink_dev_sqe;
union rcl_wr;

/* Are @len inline bytes copied by the driver, while they are posted? */
static inline bool rcl_chan_driver_copies(const struct rcl_chan *chan, u32 len)
{
	return len && len <= chan->qp->max_inline;
}

int rcl_chan_fill(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		  u32 len, union rcl_wr *wr);
int rcl_chan_inline(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		    u32 slot, struct ib_sge *sge, u32 *len);
void rcl_chan_cut(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		  struct ib_rdma_wr *wr, struct ib_rdma_wr *next);

#endif /* RCL_CHAN_WR_H */
