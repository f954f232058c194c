/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's lists, as its own programs have them. */
#ifndef UNIT_LINUX_LIST_H
#define UNIT_LINUX_LIST_H

#include <list.h>

#endif /* UNIT_LINUX_LIST_H */
