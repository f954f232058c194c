/* SPDX-License-Identifier: GPL-2.0 */
/* Buffers of the QP of a group. */
#ifndef RCL_MCAST_BUF_H
#define RCL_MCAST_BUF_H

struct rcl_mcast;

int rcl_mcast_map(struct rcl_mcast *mcast);
void rcl_mcast_unmap(struct rcl_mcast *mcast);

#endif /* RCL_MCAST_BUF_H */
