/* SPDX-License-Identifier: GPL-2.0 */
/* What a sealed text of a group begins with: a pure codec. */
#ifndef RCL_TEXT_H
#define RCL_TEXT_H

#include <linux/types.h>

#define RCL_TEXT_HEAD	4	/* version, kind, length of a name, zero */

#define RCL_TEXT_HERE	1	/* what a member says of itself, here.h */
#define RCL_TEXT_DATA	2	/* a service's name, then data of a process */

u32 rcl_text_begin(u8 *buf, u8 kind, const char *service);
int rcl_text_kind(const u8 *buf, u32 len);
u32 rcl_text_service_len(const u8 *buf);

#endif /* RCL_TEXT_H */
