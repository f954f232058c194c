/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_ATOMIC_H
#define UNIT_LINUX_ATOMIC_H

#define atomic_t	int
#define atomic_read(v)	__atomic_load_n(v, __ATOMIC_RELAXED)
#define atomic_inc(v)	((void)__atomic_add_fetch(v, 1, __ATOMIC_RELAXED))

#endif /* UNIT_LINUX_ATOMIC_H */
