/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_ERR_H
#define UNIT_LINUX_ERR_H

#include <errno.h>
#include <stdint.h>

#define ERR_PTR(error)	((void *)(intptr_t)(error))
#define PTR_ERR(ptr)	((long)(intptr_t)(ptr))
#define IS_ERR(ptr)	((uintptr_t)(ptr) >= (uintptr_t)-4095)

#endif /* UNIT_LINUX_ERR_H */
