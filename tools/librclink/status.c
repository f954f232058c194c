// SPDX-License-Identifier: GPL-2.0
/* The verbs' statuses in words, by their number in enum ib_wc_status. */
#include "rclink.h"

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

static const char *const statuses[] = {
	"success",
	"local length error",
	"local QP operation error",
	"local EE context operation error",
	"local protection error",
	"work request flushed error",
	"memory window bind error",
	"bad response error",
	"local access error",
	"remote invalid request error",
	"remote access error",
	"remote operation error",
	"transport retry counter exceeded",
	"RNR retry counter exceeded",
	"local RDD violation error",
	"remote invalid RD request",
	"aborted operation",
	"invalid EE context number",
	"invalid EE context state",
	"fatal error",
	"response timeout error",
	"general error",
};

static const char *const ops[RCLINK_OP_MAX] = {
	[RCLINK_OP_SEND] = "send",
	[RCLINK_OP_SEND_IMM] = "send-imm",
	[RCLINK_OP_WRITE] = "write",
	[RCLINK_OP_WRITE_IMM] = "write-imm",
	[RCLINK_OP_READ] = "read",
	[RCLINK_OP_CAS] = "cas",
	[RCLINK_OP_FADD] = "fadd",
	[RCLINK_OP_RECV] = "recv",
	[RCLINK_OP_SEND_INV] = "send-inv",
	[RCLINK_OP_MCAS] = "mcas",
	[RCLINK_OP_MFADD] = "mfadd",
};

const char *rclink_status_name(uint32_t status)
{
	if (status == RCLINK_STATUS_UNKNOWN)
		return "outcome unknown";
	return status < NUM(statuses) ? statuses[status] : "unknown status";
}

const char *rclink_op_name(unsigned int op)
{
	return op < NUM(ops) ? ops[op] : "unknown operation";
}
