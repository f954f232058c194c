/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_LINUX_NOSPEC_H
#define UNIT_LINUX_NOSPEC_H

static inline unsigned long array_index_nospec(unsigned long index,
					       unsigned long size)
{
	(void)size;
	return index;
}

#endif /* UNIT_LINUX_NOSPEC_H */
