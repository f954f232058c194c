/* SPDX-License-Identifier: GPL-2.0 */
/* The head of a sealed text of a group: a pure codec. */
#ifndef RCL_GROUP_MSG_H
#define RCL_GROUP_MSG_H

#include <linux/types.h>

#define RCL_GROUP_MSG_HEAD	4	/* version, kind, name's length, 0 */

#define RCL_GROUP_MSG_ANNOUNCE	1	/* about itself: announce.h */
#define RCL_GROUP_MSG_DATA	2	/* a service's name, then data */

u32 rcl_group_msg_begin(u8 *buf, u8 kind, const char *service);
int rcl_group_msg_kind(const u8 *buf, u32 len);
u32 rcl_group_msg_service_len(const u8 *buf);

#endif /* RCL_GROUP_MSG_H */
