/* SPDX-License-Identifier: GPL-2.0 */
/* A channel between two epochs. */
#ifndef RCL_CHAN_RESUME_H
#define RCL_CHAN_RESUME_H

#include <linux/types.h>

struct rcl_lessee;

bool rcl_chan_suspend(struct rcl_lessee *lessee);
void rcl_chan_resume(struct rcl_lessee *lessee);

#endif /* RCL_CHAN_RESUME_H */
