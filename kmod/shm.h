/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that the kernel allocates, for a process to map. */
#ifndef RCL_SHM_H
#define RCL_SHM_H

#define RCL_SHM_SHIFT	36	/* of mmap() offsets: bits for what is inside */

struct rcl_chan;
struct rclink_dev_region;
struct vm_area_struct;

int rcl_shm_register(struct rcl_chan *chan, struct rclink_dev_region *arg);
int rcl_shm_mmap(struct rcl_chan *chan, struct vm_area_struct *vma);

#endif /* RCL_SHM_H */
