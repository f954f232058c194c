/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers, which a test chooses itself. */
#ifndef UNIT_LINUX_RANDOM_H
#define UNIT_LINUX_RANDOM_H

#include <linux/types.h>

u64 get_random_u64(void);
void get_random_bytes(void *buf, size_t len);

#endif /* UNIT_LINUX_RANDOM_H */
