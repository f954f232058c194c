/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a process, pinned and registered for one channel and its peer. */
#ifndef RCL_REGION_H
#define RCL_REGION_H

#include <linux/types.h>

struct ib_sge;
struct rcl_chan;
struct rclink_dev_region;
struct rclink_dev_sge;

int rcl_region_register(struct rcl_chan *chan, struct rclink_dev_region *arg);
int rcl_region_withdraw(struct rcl_chan *chan, u32 handle);
int rcl_region_sge(struct rcl_chan *chan, const struct rclink_dev_sge *from,
		   struct ib_sge *sge);
void rcl_region_unmap_all(struct rcl_chan *chan);
void rcl_region_free_all(struct rcl_chan *chan);

#endif /* RCL_REGION_H */
