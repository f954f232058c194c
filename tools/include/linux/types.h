/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's short names, for files of kmod/ that are built here as well. */
#ifndef TOOLS_LINUX_TYPES_H
#define TOOLS_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define u8	uint8_t
#define u16	uint16_t
#define u32	uint32_t
#define u64	uint64_t
#define s32	int32_t

#endif /* TOOLS_LINUX_TYPES_H */
