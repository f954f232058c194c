/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a process, its own or allocated for it. */
#ifndef RCL_USER_MEMORY_H
#define RCL_USER_MEMORY_H

#include <linux/types.h>

struct rcl_chan;
struct rcl_memory;
struct rclink_dev_region;

struct rcl_memory *rcl_memory_take(const struct rclink_dev_region *arg,
				   bool allocate);
int rcl_memory_register(struct rcl_chan *chan, struct rclink_dev_region *arg,
			bool allocate);

#endif /* RCL_USER_MEMORY_H */
