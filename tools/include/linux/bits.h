/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_BITS_H
#define UNIT_LINUX_BITS_H

#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))

#endif /* UNIT_LINUX_BITS_H */
