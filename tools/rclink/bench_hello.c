// SPDX-License-Identifier: GPL-2.0
#include "bench_hello.h"

#include <endian.h>

#define MAGIC	0x72636c62	/* "rclb" */

bool bench_is_word(enum bench_test test, unsigned int op)
{
	return test == BENCH_ATTACH || op == RCLINK_OP_CAS ||
	       op == RCLINK_OP_FADD;
}

bool bench_is_test(enum bench_test test, unsigned int op)
{
	switch (op) {
	case RCLINK_OP_SEND:
	case RCLINK_OP_READ:
		return test != BENCH_ATTACH;
	case RCLINK_OP_WRITE:
		return true;
	case RCLINK_OP_CAS:
	case RCLINK_OP_FADD:
		return test == BENCH_LAT;
	default:
		return false;
	}
}

void bench_hello_put(const struct bench *b, struct bench_hello *hello)
{
	hello->magic = htobe32(MAGIC);
	hello->test = htobe32(b->test);
	hello->op = htobe32(b->op);
	hello->size = htobe32(b->size);
	hello->iters = htobe32(b->iters);
}

bool bench_hello_get(struct bench *b, const struct bench_hello *hello)
{
	b->test = be32toh(hello->test);
	b->op = be32toh(hello->op);
	b->size = be32toh(hello->size);
	b->iters = be32toh(hello->iters);
	return be32toh(hello->magic) == MAGIC && b->test <= BENCH_ATTACH &&
	       bench_is_test(b->test, b->op) && b->size &&
	       b->size <= BENCH_LARGEST && b->iters &&
	       b->iters <= BENCH_ITERS_MAX &&
	       (b->size == sizeof(uint64_t) || !bench_is_word(b->test, b->op));
}
