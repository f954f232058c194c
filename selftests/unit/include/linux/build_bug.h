/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_BUILD_BUG_H
#define UNIT_LINUX_BUILD_BUG_H

#define BUILD_BUG_ON(no)	_Static_assert(!(no), "no")

#endif /* UNIT_LINUX_BUILD_BUG_H */
