// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer harness: whatever a peer sends, decoding stays within it, and what
 * is accepted can be sent again and means the same.
 */
#include "codec.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Order a list against itself: each path matches itself, at least. */
static void order(const struct rcx_paths *paths)
{
	struct rcx_pair pairs[RCX_TRIES_MAX];
	unsigned int num = rcx_paths_order(paths, paths, pairs), i;

	if (!num != !paths->num)
		abort();
	for (i = 0; i < num; i++)
		if (pairs[i].initiator >= paths->num ||
		    pairs[i].responder >= paths->num)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t again[RCX_ENCODED_MAX];
	struct rcx_msg msg, back;
	struct rcx_header header;
	char err[RCL_ERR_LEN];
	int len;

	if (size >= RCX_HEADER_LEN)
		rcx_header_decode(bytes, &header, err);
	if (rcx_msg_decode(bytes, size, &msg, err)) {
		/* A refusal is a sentence that fits on a terminal. */
		for (len = 0; err[len]; len++)
			if (err[len] < ' ' || err[len] > '~')
				abort();
		return 0;
	}
	len = rcx_msg_encode(&msg, again, sizeof(again), err);
	if (len < 0 || rcx_msg_decode(again, len, &back, err))
		abort();
	/* Both were cleared first, so the padding is equal, too. */
	if (memcmp(&msg, &back, sizeof(msg)))
		abort();
	order(&msg.paths);

	return 0;
}
