/* SPDX-License-Identifier: GPL-2.0 */
/* The data of IMPORTED: pure, see protocol.rst. */
#ifndef RCV_SHOWN_H
#define RCV_SHOWN_H

#include <stdint.h>

struct rcl_msg;
struct rcv_shown;

/* Of the peer: what it may do with it. */
enum {
	RCV_RIGHT_WRITE = 1,
	RCV_RIGHT_READ = 2,
	RCV_RIGHT_ATOMIC = 4,
	RCV_RIGHT_INVALIDATE = 8,
	RCV_RIGHTS = 15,		/* all that there are */
};

/*
 * Memory of one extent as the answer to who wants keys from extent first on.
 * data has room for RCL_MSG_DATA_MAX, and is the answer's from here.
 */
void rcv_shown_put(const struct rcv_shown *shown, uint32_t first,
		   uint8_t *data, struct rcl_msg *answer);

/* What the peer shows, hostile: 0, or -EPROTO. */
int rcv_shown_get(const struct rcl_msg *msg, struct rcv_shown *shown);

#endif /* RCV_SHOWN_H */
