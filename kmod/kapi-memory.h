/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a kernel module, which stays the module's. */
#ifndef RCL_KAPI_MEMORY_H
#define RCL_KAPI_MEMORY_H

#include <linux/types.h>

struct rcl_memory;
struct scatterlist;

struct rcl_memory *rcl_kapi_memory_sg(struct scatterlist *sgl,
				      unsigned int nents);
struct rcl_memory *rcl_kapi_memory(void *buf, size_t len);

#endif /* RCL_KAPI_MEMORY_H */
