/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ping-pong of `rclink pingpong` over a leased QP. It does not matter
 * whether the process at the other end runs over libibverbs or over the module.
 */
#ifndef RCV_PONG_H
#define RCV_PONG_H

#include <stdint.h>

struct rcl_pingpong;
struct rcv_epoch;
struct rcv_service;

/* err is NULL if all messages came back; duration is in ns. */
typedef void rcv_pong_done(void *ctx, const char *err, uint64_t duration);

/*
 * Connect to the service of the peer, and play. Returns 0, or -ENOMEM. After 0,
 * done is called in any case, by a turn of the epoch or when that is freed.
 */
int rcv_pong_lead(struct rcv_epoch *ep, const struct rcl_pingpong *args,
		  rcv_pong_done *done, void *ctx);

/* For a process that plays with those that connect to it, one by one. */
extern const struct rcv_service rcv_pong_service;

#endif /* RCV_PONG_H */
