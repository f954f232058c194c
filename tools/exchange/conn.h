/* SPDX-License-Identifier: GPL-2.0 */
/* One TLS connection over a non-blocking socket; never raises SIGPIPE. */
#ifndef RCX_CONN_H
#define RCX_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

struct rcx_conn;

enum rcx_io {
	RCX_IO_DONE,
	RCX_IO_READ,	/* try again when readable */
	RCX_IO_WRITE,	/* try again when writable */
	RCX_IO_CLOSED,	/* the peer closed the connection */
	RCX_IO_FAILED,	/* see rcx_conn_error() */
};

/* Takes over fd, even on failure. Returns NULL with a sentence in err. */
struct rcx_conn *rcx_conn_new(struct rcx_tls *tls, int fd, char *err);
void rcx_conn_free(struct rcx_conn *c);

enum rcx_io rcx_conn_handshake(struct rcx_conn *c);
enum rcx_io rcx_conn_read(struct rcx_conn *c, void *buf, size_t len,
			  size_t *n);
/* Can something be read that is no longer in the socket? */
bool rcx_conn_pending(const struct rcx_conn *c);

enum rcx_io rcx_conn_write(struct rcx_conn *c, const void *buf, size_t len,
			   size_t *n);

/* Say that nothing more will come: TLS close, then TCP FIN. */
void rcx_conn_finish(struct rcx_conn *c);

/* After finish: discard what the peer still sends. CLOSED at the end of it. */
enum rcx_io rcx_conn_drain(struct rcx_conn *c);

/* The sentence of the last RCX_IO_FAILED. */
const char *rcx_conn_error(const struct rcx_conn *c);

/* Who the peer proved to be. */
const struct rcx_ids *rcx_conn_ids(const struct rcx_conn *c);

/* The control key of this connection and epoch. Returns 0, or -EIO. */
int rcx_conn_export(struct rcx_conn *c, uint64_t epoch,
		    uint8_t key[RCLINK_KEY_LEN]);

#endif /* RCX_CONN_H */
