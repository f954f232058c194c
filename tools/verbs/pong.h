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

struct rcv_pong_user {
	/* A message came: the peer is at it. */
	void (*moved)(void *ctx);
	/* err is NULL if all messages came back; duration is in ns. */
	void (*done)(void *ctx, const char *err, uint64_t duration);
};

/*
 * Connect to the service of the peer, and play, however long the peer takes.
 * Returns 0, or -ENOMEM. After 0, done is called in any case, by a turn of the
 * epoch or when that is freed.
 */
int rcv_pong_lead(struct rcv_epoch *ep, const struct rcl_pingpong *args,
		  const struct rcv_pong_user *user, void *ctx);

/* For a process that plays with those that connect to it, one by one. */
extern const struct rcv_service rcv_pong_service;

#endif /* RCV_PONG_H */
