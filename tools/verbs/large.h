/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do packets as large as the path MTU get through? This is what probe.c of the
 * module is to a link of the kernel: before a hello is answered, and then once
 * in each heartbeat interval, that many bytes are written to the peer's buffer.
 */
#ifndef RCV_LARGE_H
#define RCV_LARGE_H

#include <stdbool.h>
#include <stdint.h>

struct rcv_epoch;
struct rcv_wc;

struct rcv_large {
	bool posted;		/* it has not completed */
	bool through;		/* the first one has arrived */
	uint64_t due;		/* the next one, ms */
};

/* 0, or the error of the verbs call, which ends the epoch. */
int rcv_large_post(struct rcv_epoch *ep);

/* The same for an epoch that is up, if it is due. */
int rcv_large_again(struct rcv_epoch *ep, uint64_t now);

/* It has completed. True: retries were exceeded, and none came through yet. */
bool rcv_large_is_lost(struct rcv_epoch *ep, const struct rcv_wc *wc);

#endif /* RCV_LARGE_H */
