/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a process, pinned for as long as it is registered. */
#ifndef RCL_PIN_H
#define RCL_PIN_H

#include <linux/types.h>

struct mm_struct;
struct rcl_chan;
struct rcl_memory;
struct rclink_dev_region;

int rcl_pin_charge(struct mm_struct *mm, u32 npages);
void rcl_pin_uncharge(struct mm_struct *mm, u32 npages);
bool rcl_pin_is_sane(const struct rclink_dev_region *arg, bool allocate);
u64 rcl_pin_count(const struct rclink_dev_region *arg);
struct rcl_memory *rcl_pin_new(const struct rclink_dev_region *arg);
int rcl_pin_register(struct rcl_chan *chan, struct rclink_dev_region *arg);

#endif /* RCL_PIN_H */
