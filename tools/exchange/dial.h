/* SPDX-License-Identifier: GPL-2.0 */
/* Connect to host:port by TCP without blocking, not even in the resolver. */
#ifndef RCX_DIAL_H
#define RCX_DIAL_H

#include <stdint.h>

struct event_base;
struct rcx_dial;

/* Called once, by the loop, with an fd to own, or -1 and a sentence in err. */
typedef void rcx_dial_cb(void *ctx, int fd, const char *err);

/*
 * Within two thirds of timeout_ms, host is looked up and all its addresses are
 * tried. Returns NULL with a sentence in err (RCL_ERR_LEN bytes).
 */
struct rcx_dial *rcx_dial_start(struct event_base *base, const char *host,
				uint16_t port, int timeout_ms,
				rcx_dial_cb *cb, void *ctx,
				char *err);

/* May be called before the callback, which then does not come. */
void rcx_dial_free(struct rcx_dial *d);

#endif /* RCX_DIAL_H */
