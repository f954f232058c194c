/* SPDX-License-Identifier: GPL-2.0 */
/* From an entry to a work request. */
#ifndef RCL_CHAN_WR_H
#define RCL_CHAN_WR_H

#include <linux/types.h>

struct ib_sge;
struct rcl_chan;
struct rcl_window;
struct rclink_dev_sqe;
union rcl_wr;

int rcl_chan_sge(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		 struct ib_sge *sge, u32 *len);
struct rcl_window *rcl_chan_window(struct rcl_chan *chan,
				   const struct rclink_dev_sqe *sqe);
int rcl_chan_fill(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		  u32 len, u32 num_sge, union rcl_wr *wr);
int rcl_chan_inline(struct rcl_chan *chan, const struct rclink_dev_sqe *sqe,
		    u32 slot, struct ib_sge *sge, u32 *len);
u32 rcl_chan_split(struct ib_sge *sge, u32 *n, u64 len, struct ib_sge *to);

#endif /* RCL_CHAN_WR_H */
