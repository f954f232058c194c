// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer harness: whatever a peer seals into a control message, decoding
 * stays inside it, and what is accepted encodes to the same bytes.
 */
#include "msg.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size);

int LLVMFuzzerTestOneInput(const u8 *bytes, size_t size)
{
	u8 again[RCL_MSG_HEAD + RCL_MSG_BODY_MAX];
	struct rcl_msg msg;

	if (size > sizeof(again))
		return -1;
	if (rcl_msg_decode(bytes, size, &msg))
		return 0;
	if (rcl_msg_encode(again, &msg) != size || memcmp(again, bytes, size))
		abort();
	return 0;
}
