/* SPDX-License-Identifier: GPL-2.0 */
/* Every difference between the supported kernels, and nothing else. */
#ifndef RCL_COMPAT_H
#define RCL_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* RCL_COMPAT_H */
