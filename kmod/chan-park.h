/* SPDX-License-Identifier: GPL-2.0 */
/* Channels that keep still while their link is rotated. */
#ifndef RCL_CHAN_PARK_H
#define RCL_CHAN_PARK_H

#include <linux/types.h>

struct rcl_lessee;

void rcl_chan_keep_still(struct rcl_lessee *lessee, bool still);
bool rcl_chan_is_still(struct rcl_lessee *lessee);

#endif /* RCL_CHAN_PARK_H */
