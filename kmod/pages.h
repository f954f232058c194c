/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of the kernel that a process maps: rings. */
#ifndef RCL_PAGES_H
#define RCL_PAGES_H

#include <linux/types.h>

void *rcl_pages_new(size_t size);
void rcl_pages_free(const void *addr);

#endif /* RCL_PAGES_H */
