/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of the exchange as bytes, see Documentation/protocol.rst.
 * Pure functions: no I/O, no allocation, no state.
 */
#ifndef RCX_CODEC_H
#define RCX_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "endpoint.h"
#include "path.h"

/* Protocol versions that this code speaks. */
#define RCX_VERSION_MIN		2
#define RCX_VERSION_MAX		2

#define RCX_HEADER_LEN		8
#define RCX_LENGTH_MAX		16384	/* of what follows the length word */
#define RCX_MSG_MAX		(4 + RCX_LENGTH_MAX)
#define RCX_ENCODED_MAX		1024	/* no message made here is longer */
#define RCX_FIELDS_MAX		128
#define RCX_TEXT_MAX		200

enum rcx_msg_type {
	RCX_MSG_WELCOME = 1,
	RCX_MSG_OFFER,
	RCX_MSG_ANSWER,
	RCX_MSG_CONFIRM,
	RCX_MSG_DONE,
	RCX_MSG_ERROR,
	RCX_MSG_ENDPOINT,
	RCX_MSG_FAILED,
};

enum rcx_code {
	RCX_CODE_PROTOCOL = 1,	/* a message broke the rules */
	RCX_CODE_VERSION,	/* no common protocol version */
	RCX_CODE_REFUSED,	/* no such link for this identity */
	RCX_CODE_FAILED,	/* a local step failed */
	RCX_CODE_TIMEOUT,
	RCX_CODE_CANCELED,
	RCX_CODE_SUPERSEDED,	/* refused: the sender's own exchange goes on */
	RCX_CODE_BUSY,		/* refused for now: another exchange goes on */
};

struct rcx_header {
	uint32_t size;		/* of the whole message, bytes */
	uint32_t type;		/* enum rcx_msg_type, or unknown */
	uint32_t version;
};

/* Only the members that the message type carries are meaningful. */
struct rcx_msg {
	uint32_t type;		/* enum rcx_msg_type */
	uint32_t version;
	uint32_t version_min;	/* WELCOME */
	uint32_t version_max;	/* WELCOME */
	char link[RCLINK_NAME_MAX + 1];	/* OFFER: link wanted at the peer */
	struct rcx_paths paths;	/* OFFER, ANSWER */
	uint32_t rotate;	/* OFFER: 1: keep the link up meanwhile; or 0 */
	struct rcl_endpoint endpoint;	/* ENDPOINT */
	uint64_t agreed;	/* CONFIRM: common epoch */
	uint32_t code;		/* ERROR: enum rcx_code */
	char text[RCX_TEXT_MAX + 1];	/* ERROR, FAILED */
};

/*
 * On failure, all that take err return a negative errno with a sentence in err
 * (RCL_ERR_LEN bytes): -EPROTO for bad bytes, -EINVAL for values that must not
 * be sent, -ENOBUFS when size is below RCX_ENCODED_MAX.
 */

/* Decode the first RCX_HEADER_LEN bytes. Does not judge type and version. */
int rcx_header_decode(const uint8_t *buf, struct rcx_header *header, char *err);

/* Decode one message of exactly len bytes. Does not judge the version. */
int rcx_msg_decode(const uint8_t *buf, size_t len, struct rcx_msg *msg,
		   char *err);

/*
 * Returns the bytes written. A text is truncated and made printable; any other
 * value out of range is refused.
 */
int rcx_msg_encode(const struct rcx_msg *msg, uint8_t *buf, size_t size,
		   char *err);

/* "OFFER", or "unknown message". */
const char *rcx_msg_name(uint32_t type);

/* Is name usable as a link name, and so as the link of an OFFER? */
int rcx_name_check(const char *name, size_t len, char *err);

#endif /* RCX_CODEC_H */
