/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers that an operator can set on a link, in the order of the netlink
 * attributes that carry them. The tools use this file, too.
 */
#ifndef RCL_POLICY_FIELD_H
#define RCL_POLICY_FIELD_H

enum rcl_policy_field {
	RCL_P_PORT,
	RCL_P_GID_INDEX,
	RCL_P_MTU,
	RCL_P_QPS,
	RCL_P_TIMEOUT,
	RCL_P_RETRY,
	RCL_P_RNR_RETRY,
	RCL_P_MIN_RNR_TIMER,
	RCL_P_RD_ATOMIC,
	RCL_P_SL,
	RCL_P_TRAFFIC_CLASS,
	RCL_P_HOP_LIMIT,
	RCL_P_FLOW_LABEL,
	RCL_P_PKEY_INDEX,
	RCL_P_BUFFER_SIZE,
	RCL_P_LOOPBACK,
	RCL_P_OWNER,
	RCL_P_GROUP,
	RCL_P_MODE,
	RCL_P_HEARTBEAT,
	RCL_P_MISSES,
	RCL_P_RECOVER,
	RCL_P_MAX
};

#endif /* RCL_POLICY_FIELD_H */
