/* SPDX-License-Identifier: GPL-2.0 */
/* The data of IMPORTED: pure, see protocol.rst. */
#ifndef RCV_SHOWN_H
#define RCV_SHOWN_H

#include <stdint.h>

struct rcl_msg;
struct rcv_shown;

/* What the peer may do with the memory. */
enum {
	RCV_RIGHT_WRITE = 1,
	RCV_RIGHT_READ = 2,
	RCV_RIGHT_ATOMIC = 4,
	RCV_RIGHT_INVALIDATE = 8,
	RCV_RIGHTS = 15,		/* all of them */
};

/*
 * Describe memory of one extent in the answer to a peer that wants keys from
 * extent first on. data has room for RCL_MSG_DATA_MAX; the answer points to it.
 */
void rcv_shown_put(const struct rcv_shown *shown, uint32_t first,
		   uint8_t *data, struct rcl_msg *answer);

/* Read what the peer shows, hostile: 0, or -EPROTO. */
int rcv_shown_get(const struct rcl_msg *msg, struct rcv_shown *shown);

#endif /* RCV_SHOWN_H */
