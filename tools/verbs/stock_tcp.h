/* SPDX-License-Identifier: GPL-2.0 */
/* The TCP side of ibv_rc_pingpong: one connection, each step with a limit. */
#ifndef RCV_STOCK_TCP_H
#define RCV_STOCK_TCP_H

#include <stddef.h>
#include <stdint.h>

/* All return 0, or a negative errno with a sentence in err. */

/* Returns the connection's socket instead of 0. */
int rcv_tcp_dial(const char *host, uint16_t port, char *err);
/*
 * Likewise, for the first caller. give_up() is called now and then, and returns
 * a reason to give up, or NULL.
 */
int rcv_tcp_answer(uint16_t port, void (*listening)(uint16_t port),
		   const char *(*give_up)(void *ctx), void *ctx, char *err);

int rcv_tcp_put(int fd, const void *buf, size_t len, char *err);
int rcv_tcp_get(int fd, void *buf, size_t len, char *err);

#endif /* RCV_STOCK_TCP_H */
