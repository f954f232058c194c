// SPDX-License-Identifier: GPL-2.0
#include "echo_op.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "fail.h"
#include "lease.h"

#define PERIOD	251	/* no page begins like the one before */

#define CHANGE	(RCV_RIGHT_WRITE | RCV_RIGHT_READ)

const struct rcv_echo_op rcv_echo_ops[] = {
	{ "send", IBV_WR_SEND, 0, true, false },
	{ "send-imm", IBV_WR_SEND_WITH_IMM, 0, true, false },
	{ "write", IBV_WR_RDMA_WRITE, CHANGE, false, true },
	{ "write-imm", IBV_WR_RDMA_WRITE_WITH_IMM, CHANGE, true, true },
	{ "read", IBV_WR_RDMA_READ, RCV_RIGHT_READ, false, false },
	{ "cas", IBV_WR_ATOMIC_CMP_AND_SWP, RCV_RIGHT_ATOMIC | RCV_RIGHT_READ,
	  false, true },
	{ "fadd", IBV_WR_ATOMIC_FETCH_AND_ADD,
	  RCV_RIGHT_ATOMIC | RCV_RIGHT_READ, false, true },
	{ "send-inv", IBV_WR_SEND_WITH_INV, RCV_RIGHT_INVALIDATE, true, false },
	{ NULL }
};

const struct rcv_echo_op *rcv_echo_op(const char *name)
{
	const struct rcv_echo_op *op;

	for (op = rcv_echo_ops; op->name; op++)
		if (!strcmp(op->name, name))
			return op;
	return NULL;
}

const char *rcv_echo_memory(const struct rcv_echo_op *op)
{
	return op->rights & RCV_RIGHT_INVALIDATE ? RCV_ECHO_ONCE :
						   RCV_ECHO_SERVICE;
}

int rcv_echo_check(const struct rcv_echo_op *op, uint32_t size,
		   const struct rcv_shown *shown, bool atomics, char *err)
{
	const char *name = rcv_echo_memory(op);
	uint32_t needed = op->rights & RCV_RIGHT_INVALIDATE ? 0 : size;

	if (!shown)
		return rcl_fail(err, -ENOENT,
				"the peer shows no memory that is called %s",
				name);
	if (rcv_echo_is_atomic(op) &&
	    !(atomics && shown->rights & RCV_RIGHT_ATOMIC))
		return rcl_fail(err, -EOPNOTSUPP,
				"atomics need devices that have them at both ends, and memory that is shown for them");
	if (op->rights & ~shown->rights)
		return rcl_fail(err, -EACCES,
				"the peer's memory %s is not shown for that",
				name);
	if (needed > shown->first)
		return rcl_fail(err, -EMSGSIZE,
				"only %llu bytes of the peer's memory %s can be reached: choose a smaller --size",
				(unsigned long long)shown->first, name);
	if (rcv_echo_is_atomic(op) && shown->addr % RCV_ECHO_WORD)
		return rcl_fail(err, -EINVAL,
				"the peer's memory %s does not begin where a word does",
				name);
	return 0;
}

static uint8_t byte(uint32_t i, bool sent)
{
	return (i + sent) % PERIOD;
}

void rcv_echo_fill(uint8_t *to, uint32_t len, bool sent)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		to[i] = byte(i, sent);
}

bool rcv_echo_is(const uint8_t *data, uint32_t len, bool sent)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (data[i] != byte(i, sent))
			return false;
	return true;
}
