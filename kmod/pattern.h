/* SPDX-License-Identifier: GPL-2.0 */
/* Seeded bytes that both ends can make and check. */
#ifndef RCL_PATTERN_H
#define RCL_PATTERN_H

#include <linux/types.h>

void rcl_pattern_fill(u8 *buf, u32 offset, u32 len, u32 seed);
bool rcl_pattern_check(const u8 *buf, u32 offset, u32 len, u32 seed);

#endif /* RCL_PATTERN_H */
