/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_COMPILER_H
#define UNIT_LINUX_COMPILER_H

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)

#endif /* UNIT_LINUX_COMPILER_H */
