/* SPDX-License-Identifier: GPL-2.0 */
/* Memory as one link's device knows it: in as many extents as it takes. */
#ifndef RCL_MAPPING_H
#define RCL_MAPPING_H

#include <linux/types.h>

struct ib_device;
struct ib_pd;
struct rcl_extent;
struct rcl_memory;
struct rcl_reg;
struct rcl_window;

/**
 * struct rcl_mapping - memory that is, or can be, registered with one PD
 * @memory: what it is made of
 * @window: how the peer addresses it; belongs to the owner, who sets its rights
 * @extents: cover it in order
 * @n: how many of them are mapped; 0 when it is not registered
 * @stuck: the device did not end a registration: the memory stays
 */
struct rcl_mapping {
	struct rcl_memory *memory;
	struct rcl_window *window;
	struct rcl_extent *extents;
	u32 n;
	bool stuck;
};

u32 rcl_mapping_shift(const struct ib_device *ib);
int rcl_mapping_lay_out(struct rcl_mapping *mapping, u64 addr, u32 shift);
int rcl_mapping_map(struct rcl_mapping *mapping, struct ib_pd *pd,
		    struct rcl_reg *reg, const bool *wanted);
void rcl_mapping_unmap(struct rcl_mapping *mapping);
void rcl_mapping_free(struct rcl_mapping *mapping);
int rcl_mapping_let_go(struct rcl_memory *memory, bool stuck);

#endif /* RCL_MAPPING_H */
