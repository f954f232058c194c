/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_LINUX_STDDEF_H
#define TOOLS_LINUX_STDDEF_H

#include_next <linux/stddef.h>
#include <stddef.h>

#endif /* TOOLS_LINUX_STDDEF_H */
