// SPDX-License-Identifier: GPL-2.0
#include "ping.h"

#include <errno.h>

#define ATOMIC_LEN	8

static bool is_atomic(uint32_t op)
{
	return op == RCLINK_PING_OP_CAS || op == RCLINK_PING_OP_FADD;
}

int rcv_remote_check(const struct rcl_endpoint *local,
		     const struct rcl_endpoint *remote, uint32_t op,
		     uint32_t size, const char **why)
{
	if (is_atomic(op) && (!local->atomics || !remote->atomics)) {
		*why = "op: atomics need devices that have them at both ends";
		return -EOPNOTSUPP;
	}
	if (is_atomic(op) && size != ATOMIC_LEN) {
		*why = "size: atomics take 8 bytes";
		return -EINVAL;
	}
	if (size > remote->length) {
		*why = "size is beyond the peer's link buffer: see buffer-size";
		return -EMSGSIZE;
	}
	return 0;
}

static const enum ibv_wr_opcode opcodes[] = {
	[RCLINK_PING_OP_WRITE] = IBV_WR_RDMA_WRITE,
	[RCLINK_PING_OP_READ] = IBV_WR_RDMA_READ,
	[RCLINK_PING_OP_CAS] = IBV_WR_ATOMIC_CMP_AND_SWP,
	[RCLINK_PING_OP_FADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
};

int rcv_remote_post(struct rcv_qp *qp, const struct rcl_endpoint *remote,
		    const struct rcv_remote_op *op)
{
	struct ibv_sge sge = {
		.addr = op->addr,
		.length = op->len,
		.lkey = op->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = op->wr_id,
		.sg_list = &sge,
		.num_sge = op->len ? 1 : 0,
		.opcode = opcodes[op->op],
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (is_atomic(op->op)) {
		wr.wr.atomic.remote_addr = remote->addr + op->offset;
		wr.wr.atomic.rkey = remote->rkey;
		wr.wr.atomic.compare_add = op->compare;
		wr.wr.atomic.swap = op->swap;
	} else {
		wr.wr.rdma.remote_addr = remote->addr + op->offset;
		wr.wr.rdma.rkey = remote->rkey;
	}
	return rcv_qp_send(qp, &wr);
}
