/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_STRING_H
#define UNIT_LINUX_STRING_H

#include <string.h>

#define memzero_explicit(p, n)	memset(p, 0, n)

#endif /* UNIT_LINUX_STRING_H */
