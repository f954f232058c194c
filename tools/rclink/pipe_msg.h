/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of `rclink send` and `rclink recv`, as bytes; see
 * Documentation/channels.rst.
 */
#ifndef PIPE_MSG_H
#define PIPE_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIPE_VERSION	1
#define PIPE_SHA_LEN	32
#define PIPE_TEXT_LEN	56	/* without the NUL */
#define PIPE_MSG_LEN	64	/* of the longest; fits inline */

/* Immediates of the sender's messages; data has none. */
enum pipe_imm {
	PIPE_IMM_END = 1,
	PIPE_IMM_ABORT = 2,
};

/* Types of the receiver's messages. */
enum pipe_type {
	PIPE_GRANT = 1,
	PIPE_DONE = 2,
	PIPE_FAILED = 3,
};

/* How much was sent, or received. */
struct pipe_sum {
	uint64_t total;			/* bytes */
	uint8_t sha[PIPE_SHA_LEN];
};

struct pipe_msg {
	enum pipe_type type;
	uint32_t granted;		/* GRANT: since the start, mod 2^32 */
	uint32_t size;			/* GRANT: of each buffer, bytes */
	struct pipe_sum sum;		/* DONE */
	char text[PIPE_TEXT_LEN + 1];	/* FAILED */
};

/* Return the length in bytes. */
size_t pipe_msg_pack(const struct pipe_msg *msg, uint8_t *buf);
size_t pipe_sum_pack(const struct pipe_sum *sum, uint8_t *buf);

/* Return whether buf is such a message. */
bool pipe_msg_unpack(struct pipe_msg *msg, const uint8_t *buf, size_t len);
bool pipe_sum_unpack(struct pipe_sum *sum, const uint8_t *buf, size_t len);

/* Text from a peer, cut at what no terminal should get. */
void pipe_text_unpack(char text[PIPE_TEXT_LEN + 1], const uint8_t *buf,
		      size_t len);

#endif /* PIPE_MSG_H */
