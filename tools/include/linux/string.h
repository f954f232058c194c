/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_STRING_H
#define UNIT_LINUX_STRING_H

#include <string.h>

#endif /* UNIT_LINUX_STRING_H */
