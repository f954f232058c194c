/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_ATOMIC_H
#define UNIT_LINUX_ATOMIC_H

#define atomic_t	int

#endif /* UNIT_LINUX_ATOMIC_H */
