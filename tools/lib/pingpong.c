// SPDX-License-Identifier: GPL-2.0
#include "pingpong.h"

#include <endian.h>

#define MAGIC	0x72636c70	/* "rclp" */
#define CHECK	1		/* in flags */

void rcl_pingpong_put(const struct rcl_pingpong *p,
		      struct rcl_pingpong_hello *hello)
{
	hello->magic = htobe32(MAGIC);
	hello->size = htobe32(p->size);
	hello->iters = htobe32(p->iters);
	hello->flags = htobe32(p->check ? CHECK : 0);
}

bool rcl_pingpong_get(struct rcl_pingpong *p,
		      const struct rcl_pingpong_hello *hello)
{
	p->size = be32toh(hello->size);
	p->iters = be32toh(hello->iters);
	p->check = be32toh(hello->flags) & CHECK;
	return be32toh(hello->magic) == MAGIC &&
	       p->size <= RCL_PINGPONG_LARGEST && p->iters &&
	       p->iters <= RCL_PINGPONG_ITERS_MAX;
}

uint8_t rcl_pingpong_byte(uint32_t i, bool connects)
{
	return i * 167 + i / 256 + (connects ? 0 : 91);
}
