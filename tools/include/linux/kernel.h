/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_LINUX_KERNEL_H
#define TOOLS_LINUX_KERNEL_H

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

#endif /* TOOLS_LINUX_KERNEL_H */
