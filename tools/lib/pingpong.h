/* SPDX-License-Identifier: GPL-2.0 */
/* What both ends of a ping-pong agree on, whatever it is played over. */
#ifndef RCL_PINGPONG_H
#define RCL_PINGPONG_H

#include <stdbool.h>
#include <stdint.h>

#define RCL_PINGPONG_SERVICE	"pingpong"
#define RCL_PINGPONG_LARGEST	1048576		/* bytes of a message */
#define RCL_PINGPONG_ITERS_MAX	100000000

struct rcl_pingpong {
	uint32_t size;
	uint32_t iters;
	bool check;	/* compare the last message, at both ends */
};

/* In the memory of the end that connects, where the other end reads it. */
struct rcl_pingpong_hello {
	uint32_t magic, size, iters, flags;	/* big-endian */
};

void rcl_pingpong_put(const struct rcl_pingpong *p,
		      struct rcl_pingpong_hello *hello);

/* From a peer, which may say anything: false if it makes no sense. */
bool rcl_pingpong_get(struct rcl_pingpong *p,
		      const struct rcl_pingpong_hello *hello);

/* Byte i of a message. What the two ends send differs by a constant. */
uint8_t rcl_pingpong_byte(uint32_t i, bool connects);

#endif /* RCL_PINGPONG_H */
