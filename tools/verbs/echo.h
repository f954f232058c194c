/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The service `echo` (Documentation/channels.rst), by which each operation of a
 * channel can be tried: it knows no difference between a process over
 * libibverbs and one over the module at the other end.
 */
#ifndef RCV_ECHO_H
#define RCV_ECHO_H

#include <stdint.h>

struct rcv_echo_op;
struct rcv_epoch;
struct rcv_service;

/* err is NULL when all was as it must be. */
typedef void rcv_echo_done(void *ctx, const char *err);

/*
 * Connect to the service of the peer, do that once with so many bytes, to
 * RCV_ECHO_SIZE, and see whether it was done. done is called in any case, by a
 * turn of the epoch, or when that is freed: ctx outlives it. 0, or -ENOMEM.
 */
int rcv_echo_try(struct rcv_epoch *ep, const struct rcv_echo_op *op,
		 uint32_t size, rcv_echo_done *done, void *ctx);

/* For who lets others try. */
extern const struct rcv_service rcv_echo_service;

#endif /* RCV_ECHO_H */
