/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_LINUX_STRING_H
#define TOOLS_LINUX_STRING_H

#include <string.h>

#endif /* TOOLS_LINUX_STRING_H */
