/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The service `echo` (Documentation/channels.rst), with which each operation of
 * a channel can be tried. It does not matter whether the process at the other
 * end runs over libibverbs or over the module.
 */
#ifndef RCV_ECHO_H
#define RCV_ECHO_H

#include <stdint.h>

struct rcv_echo_op;
struct rcv_epoch;
struct rcv_service;

/* err is NULL if all was as it must be. */
typedef void rcv_echo_done(void *ctx, const char *err);

/*
 * Connect to the peer's service, do op once with size bytes, at most
 * RCV_ECHO_SIZE, and check the result. Returns 0, or -ENOMEM. After 0, done is
 * called in any case, by a turn of the epoch or when that is freed: ctx must
 * outlive it.
 */
int rcv_echo_try(struct rcv_epoch *ep, const struct rcv_echo_op *op,
		 uint32_t size, rcv_echo_done *done, void *ctx);

/* For a process that lets others try. */
extern const struct rcv_service rcv_echo_service;

#endif /* RCV_ECHO_H */
