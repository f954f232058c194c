/* SPDX-License-Identifier: GPL-2.0 */
/* A TCP connection to host:port without blocking, also not in the resolver. */
#ifndef RCX_DIAL_H
#define RCX_DIAL_H

#include <stdint.h>

struct event_base;
struct rcx_dial;

/* Called once, by the loop: fd is the caller's, or -1 with a sentence. */
typedef void rcx_dial_cb(void *ctx, int fd, const char *err);

/*
 * In two thirds of timeout_ms the host has been looked up, and all of its
 * addresses have been tried. NULL with a sentence in err (RCL_ERR_LEN bytes).
 */
struct rcx_dial *rcx_dial_start(struct event_base *base, const char *host,
				uint16_t port, int timeout_ms,
				rcx_dial_cb *cb, void *ctx,
				char *err);

/* Also before the callback, which does not come then. */
void rcx_dial_free(struct rcx_dial *d);

#endif /* RCX_DIAL_H */
