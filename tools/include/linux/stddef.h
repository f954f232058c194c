/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_STDDEF_H
#define UNIT_LINUX_STDDEF_H

#include_next <linux/stddef.h>
#include <stddef.h>

#endif /* UNIT_LINUX_STDDEF_H */
