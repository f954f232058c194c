/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ping-pong of `rclink pingpong` over a leased QP: it knows no difference
 * between a process over libibverbs and one over the module at the other end.
 */
#ifndef RCV_PONG_H
#define RCV_PONG_H

#include <stdint.h>

struct rcl_pingpong;
struct rcv_epoch;
struct rcv_service;

/* err is NULL when all messages came back; duration in ns. */
typedef void rcv_pong_done(void *ctx, const char *err, uint64_t duration);

/*
 * Connect to the service of the peer, and play. done is called by a turn of the
 * epoch, in any case, also when it ends. 0, or -ENOMEM.
 */
int rcv_pong_lead(struct rcv_epoch *ep, const struct rcl_pingpong *args,
		  rcv_pong_done *done, void *ctx);

/* For who plays with those who connect to it, one after the other. */
extern const struct rcv_service rcv_pong_service;

#endif /* RCV_PONG_H */
