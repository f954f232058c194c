// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/rclink.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "nl-gen.h"

#include <uapi/linux/rclink.h>

/* Common nested types */
const struct nla_policy rclink_endpoint_nl_policy[RCLINK_A_ENDPOINT_MASKED_ATOMICS + 1] = {
	[RCLINK_A_ENDPOINT_LINK_LAYER] = NLA_POLICY_RANGE(NLA_U32, 1, 3),
	[RCLINK_A_ENDPOINT_GID] = NLA_POLICY_EXACT_LEN(RCLINK_GID_LEN),
	[RCLINK_A_ENDPOINT_LID] = { .type = NLA_U32, },
	[RCLINK_A_ENDPOINT_MTU] = { .type = NLA_U32, },
	[RCLINK_A_ENDPOINT_RD_ATOMIC] = { .type = NLA_U32, },
	[RCLINK_A_ENDPOINT_ATOMICS] = NLA_POLICY_MAX(NLA_U32, 2),
	[RCLINK_A_ENDPOINT_EPOCH] = { .type = NLA_U64, },
	[RCLINK_A_ENDPOINT_ADDR] = { .type = NLA_U64, },
	[RCLINK_A_ENDPOINT_RKEY] = { .type = NLA_U32, },
	[RCLINK_A_ENDPOINT_LENGTH] = { .type = NLA_U32, },
	[RCLINK_A_ENDPOINT_QP] = NLA_POLICY_NESTED(rclink_qp_nl_policy),
	[RCLINK_A_ENDPOINT_PKEY] = { .type = NLA_U32, },
	[RCLINK_A_ENDPOINT_MASKED_ATOMICS] = NLA_POLICY_MAX(NLA_U32, 2),
};

const struct nla_policy rclink_qp_nl_policy[RCLINK_A_QP_PSN + 1] = {
	[RCLINK_A_QP_QPN] = { .type = NLA_U32, },
	[RCLINK_A_QP_PSN] = { .type = NLA_U32, },
};

/* RCLINK_CMD_DEV_GET - do */
const struct nla_policy rclink_dev_get_nl_policy[RCLINK_A_DEV_PORT + 1] = {
	[RCLINK_A_DEV_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_DEVICE_MAX, },
	[RCLINK_A_DEV_PORT] = { .type = NLA_U32, },
};

/* RCLINK_CMD_LINK_NEW - do */
const struct nla_policy rclink_link_new_nl_policy[RCLINK_A_LINK_NETDEV + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_LINK_DEVICE] = { .type = NLA_NUL_STRING, .len = RCLINK_DEVICE_MAX, },
	[RCLINK_A_LINK_PORT] = { .type = NLA_U32, },
	[RCLINK_A_LINK_GID_INDEX] = { .type = NLA_U32, },
	[RCLINK_A_LINK_MTU] = { .type = NLA_U32, },
	[RCLINK_A_LINK_QPS] = { .type = NLA_U32, },
	[RCLINK_A_LINK_TIMEOUT] = { .type = NLA_U32, },
	[RCLINK_A_LINK_RETRY] = { .type = NLA_U32, },
	[RCLINK_A_LINK_RNR_RETRY] = { .type = NLA_U32, },
	[RCLINK_A_LINK_MIN_RNR_TIMER] = { .type = NLA_U32, },
	[RCLINK_A_LINK_RD_ATOMIC] = { .type = NLA_U32, },
	[RCLINK_A_LINK_SL] = { .type = NLA_U32, },
	[RCLINK_A_LINK_TRAFFIC_CLASS] = { .type = NLA_U32, },
	[RCLINK_A_LINK_HOP_LIMIT] = { .type = NLA_U32, },
	[RCLINK_A_LINK_FLOW_LABEL] = { .type = NLA_U32, },
	[RCLINK_A_LINK_PKEY_INDEX] = { .type = NLA_U32, },
	[RCLINK_A_LINK_BUFFER_SIZE] = { .type = NLA_U32, },
	[RCLINK_A_LINK_LOOPBACK] = NLA_POLICY_MAX(NLA_U32, 1),
	[RCLINK_A_LINK_OWNER] = { .type = NLA_U32, },
	[RCLINK_A_LINK_GROUP] = { .type = NLA_U32, },
	[RCLINK_A_LINK_MODE] = { .type = NLA_U32, },
	[RCLINK_A_LINK_HEARTBEAT] = { .type = NLA_U32, },
	[RCLINK_A_LINK_MISSES] = { .type = NLA_U32, },
	[RCLINK_A_LINK_RECOVER] = NLA_POLICY_MAX(NLA_U32, 1),
	[RCLINK_A_LINK_NETDEV] = { .type = NLA_NUL_STRING, .len = RCLINK_NETDEV_MAX, },
};

/* RCLINK_CMD_LINK_SET - do */
const struct nla_policy rclink_link_set_nl_policy[RCLINK_A_LINK_NETDEV + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_LINK_DEVICE] = { .type = NLA_NUL_STRING, .len = RCLINK_DEVICE_MAX, },
	[RCLINK_A_LINK_PORT] = { .type = NLA_U32, },
	[RCLINK_A_LINK_GID_INDEX] = { .type = NLA_U32, },
	[RCLINK_A_LINK_MTU] = { .type = NLA_U32, },
	[RCLINK_A_LINK_QPS] = { .type = NLA_U32, },
	[RCLINK_A_LINK_TIMEOUT] = { .type = NLA_U32, },
	[RCLINK_A_LINK_RETRY] = { .type = NLA_U32, },
	[RCLINK_A_LINK_RNR_RETRY] = { .type = NLA_U32, },
	[RCLINK_A_LINK_MIN_RNR_TIMER] = { .type = NLA_U32, },
	[RCLINK_A_LINK_RD_ATOMIC] = { .type = NLA_U32, },
	[RCLINK_A_LINK_SL] = { .type = NLA_U32, },
	[RCLINK_A_LINK_TRAFFIC_CLASS] = { .type = NLA_U32, },
	[RCLINK_A_LINK_HOP_LIMIT] = { .type = NLA_U32, },
	[RCLINK_A_LINK_FLOW_LABEL] = { .type = NLA_U32, },
	[RCLINK_A_LINK_PKEY_INDEX] = { .type = NLA_U32, },
	[RCLINK_A_LINK_BUFFER_SIZE] = { .type = NLA_U32, },
	[RCLINK_A_LINK_LOOPBACK] = NLA_POLICY_MAX(NLA_U32, 1),
	[RCLINK_A_LINK_OWNER] = { .type = NLA_U32, },
	[RCLINK_A_LINK_GROUP] = { .type = NLA_U32, },
	[RCLINK_A_LINK_MODE] = { .type = NLA_U32, },
	[RCLINK_A_LINK_HEARTBEAT] = { .type = NLA_U32, },
	[RCLINK_A_LINK_MISSES] = { .type = NLA_U32, },
	[RCLINK_A_LINK_RECOVER] = NLA_POLICY_MAX(NLA_U32, 1),
	[RCLINK_A_LINK_NETDEV] = { .type = NLA_NUL_STRING, .len = RCLINK_NETDEV_MAX, },
};

/* RCLINK_CMD_LINK_DEL - do */
const struct nla_policy rclink_link_del_nl_policy[RCLINK_A_LINK_NAME + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
};

/* RCLINK_CMD_LINK_GET - do */
const struct nla_policy rclink_link_get_nl_policy[RCLINK_A_LINK_NAME + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
};

/* RCLINK_CMD_LINK_PREPARE - do */
const struct nla_policy rclink_link_prepare_nl_policy[RCLINK_A_LINK_ROTATE + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_LINK_DEVICE] = { .type = NLA_NUL_STRING, .len = RCLINK_DEVICE_MAX, },
	[RCLINK_A_LINK_PORT] = { .type = NLA_U32, },
	[RCLINK_A_LINK_GID_INDEX] = { .type = NLA_U32, },
	[RCLINK_A_LINK_ROTATE] = { .type = NLA_FLAG, },
};

/* RCLINK_CMD_LINK_CONNECT - do */
const struct nla_policy rclink_link_connect_nl_policy[RCLINK_A_LINK_REMOTE + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_LINK_EPOCH] = { .type = NLA_U64, },
	[RCLINK_A_LINK_PEER] = { .type = NLA_NUL_STRING, .len = RCLINK_PEER_MAX, },
	[RCLINK_A_LINK_ROLE] = NLA_POLICY_RANGE(NLA_U32, 1, 2),
	[RCLINK_A_LINK_REMOTE] = NLA_POLICY_NESTED(rclink_endpoint_nl_policy),
};

/* RCLINK_CMD_LINK_ACTIVATE - do */
const struct nla_policy rclink_link_activate_nl_policy[RCLINK_A_LINK_KEY + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_LINK_EPOCH] = { .type = NLA_U64, },
	[RCLINK_A_LINK_KEY] = NLA_POLICY_EXACT_LEN(RCLINK_KEY_LEN),
};

/* RCLINK_CMD_LINK_DISCONNECT - do */
const struct nla_policy rclink_link_disconnect_nl_policy[RCLINK_A_LINK_NAME + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
};

/* RCLINK_CMD_PING - do */
const struct nla_policy rclink_ping_nl_policy[RCLINK_A_PING_COUNT + 1] = {
	[RCLINK_A_PING_LINK] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_PING_OP] = NLA_POLICY_RANGE(NLA_U32, 1, 5),
	[RCLINK_A_PING_SIZE] = { .type = NLA_U32, },
	[RCLINK_A_PING_COOKIE] = { .type = NLA_U64, },
	[RCLINK_A_PING_COUNT] = NLA_POLICY_RANGE(NLA_U32, 1, RCLINK_PING_COUNT_MAX),
};

/* RCLINK_CMD_RECORD_GET - do */
const struct nla_policy rclink_record_get_nl_policy[RCLINK_A_RECORD_NUMBER + 1] = {
	[RCLINK_A_RECORD_LINK] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_RECORD_NUMBER] = { .type = NLA_U64, },
};

/* RCLINK_CMD_LINK_NOTE - do */
const struct nla_policy rclink_link_note_nl_policy[RCLINK_A_RECORD_TEXT + 1] = {
	[RCLINK_A_RECORD_LINK] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_RECORD_TEXT] = { .type = NLA_NUL_STRING, .len = RCLINK_NOTE_MAX, },
};

/* RCLINK_CMD_LINK_REPLACE - do */
const struct nla_policy rclink_link_replace_nl_policy[RCLINK_A_LINK_EPOCH + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_LINK_EPOCH] = { .type = NLA_U64, },
};

/* RCLINK_CMD_LINK_ROTATE - do */
const struct nla_policy rclink_link_rotate_nl_policy[RCLINK_A_LINK_NAME + 1] = {
	[RCLINK_A_LINK_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
};

/* RCLINK_CMD_GROUP_ADD - do */
const struct nla_policy rclink_group_add_nl_policy[RCLINK_A_GROUP_MODE + 1] = {
	[RCLINK_A_GROUP_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_GROUP_DEVICE] = { .type = NLA_NUL_STRING, .len = RCLINK_DEVICE_MAX, },
	[RCLINK_A_GROUP_PORT] = { .type = NLA_U32, },
	[RCLINK_A_GROUP_GID_INDEX] = { .type = NLA_U32, },
	[RCLINK_A_GROUP_MGID] = NLA_POLICY_EXACT_LEN(RCLINK_GID_LEN),
	[RCLINK_A_GROUP_MLID] = { .type = NLA_U32, },
	[RCLINK_A_GROUP_QKEY] = { .type = NLA_U32, },
	[RCLINK_A_GROUP_FROM] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_GROUP_LINK] = { .type = NLA_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_GROUP_OWNER] = { .type = NLA_U32, },
	[RCLINK_A_GROUP_GROUP] = { .type = NLA_U32, },
	[RCLINK_A_GROUP_MODE] = { .type = NLA_U32, },
};

/* RCLINK_CMD_GROUP_DEL - do */
const struct nla_policy rclink_group_del_nl_policy[RCLINK_A_GROUP_NAME + 1] = {
	[RCLINK_A_GROUP_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
};

/* RCLINK_CMD_GROUP_GET - do */
const struct nla_policy rclink_group_get_nl_policy[RCLINK_A_GROUP_NAME + 1] = {
	[RCLINK_A_GROUP_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
};

/* RCLINK_CMD_GROUP_REGIONS - do */
const struct nla_policy rclink_group_regions_nl_policy[RCLINK_A_GROUP_SENDER + 1] = {
	[RCLINK_A_GROUP_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_GROUP_SENDER] = { .type = NLA_U32, },
};

/* RCLINK_CMD_GROUP_SET - do */
const struct nla_policy rclink_group_set_nl_policy[RCLINK_A_GROUP_MODE + 1] = {
	[RCLINK_A_GROUP_NAME] = { .type = NLA_NUL_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_GROUP_LINK] = { .type = NLA_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_GROUP_NO_LINK] = { .type = NLA_STRING, .len = RCLINK_NAME_MAX, },
	[RCLINK_A_GROUP_REKEY] = { .type = NLA_FLAG, },
	[RCLINK_A_GROUP_OWNER] = { .type = NLA_U32, },
	[RCLINK_A_GROUP_GROUP] = { .type = NLA_U32, },
	[RCLINK_A_GROUP_MODE] = { .type = NLA_U32, },
};

/* Ops table for rclink */
const struct genl_ops rclink_nl_ops[19] = {
	{
		.cmd		= RCLINK_CMD_DEV_GET,
		.doit		= rclink_nl_dev_get_doit,
		.dumpit		= rclink_nl_dev_get_dumpit,
		.start		= rclink_nl_dump_begin,
		.policy		= rclink_dev_get_nl_policy,
		.maxattr	= RCLINK_A_DEV_PORT,
	},
	{
		.cmd		= RCLINK_CMD_LINK_NEW,
		.doit		= rclink_nl_link_new_doit,
		.policy		= rclink_link_new_nl_policy,
		.maxattr	= RCLINK_A_LINK_NETDEV,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_LINK_SET,
		.doit		= rclink_nl_link_set_doit,
		.policy		= rclink_link_set_nl_policy,
		.maxattr	= RCLINK_A_LINK_NETDEV,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_LINK_DEL,
		.doit		= rclink_nl_link_del_doit,
		.policy		= rclink_link_del_nl_policy,
		.maxattr	= RCLINK_A_LINK_NAME,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_LINK_GET,
		.doit		= rclink_nl_link_get_doit,
		.dumpit		= rclink_nl_link_get_dumpit,
		.start		= rclink_nl_dump_begin,
		.policy		= rclink_link_get_nl_policy,
		.maxattr	= RCLINK_A_LINK_NAME,
	},
	{
		.cmd		= RCLINK_CMD_LINK_PREPARE,
		.doit		= rclink_nl_link_prepare_doit,
		.policy		= rclink_link_prepare_nl_policy,
		.maxattr	= RCLINK_A_LINK_ROTATE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_LINK_CONNECT,
		.doit		= rclink_nl_link_connect_doit,
		.policy		= rclink_link_connect_nl_policy,
		.maxattr	= RCLINK_A_LINK_REMOTE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_LINK_ACTIVATE,
		.doit		= rclink_nl_link_activate_doit,
		.policy		= rclink_link_activate_nl_policy,
		.maxattr	= RCLINK_A_LINK_KEY,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_LINK_DISCONNECT,
		.doit		= rclink_nl_link_disconnect_doit,
		.policy		= rclink_link_disconnect_nl_policy,
		.maxattr	= RCLINK_A_LINK_NAME,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_PING,
		.doit		= rclink_nl_ping_doit,
		.policy		= rclink_ping_nl_policy,
		.maxattr	= RCLINK_A_PING_COUNT,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_RECORD_GET,
		.doit		= rclink_nl_record_get_doit,
		.policy		= rclink_record_get_nl_policy,
		.maxattr	= RCLINK_A_RECORD_NUMBER,
	},
	{
		.cmd		= RCLINK_CMD_LINK_NOTE,
		.doit		= rclink_nl_link_note_doit,
		.policy		= rclink_link_note_nl_policy,
		.maxattr	= RCLINK_A_RECORD_TEXT,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_LINK_REPLACE,
		.doit		= rclink_nl_link_replace_doit,
		.policy		= rclink_link_replace_nl_policy,
		.maxattr	= RCLINK_A_LINK_EPOCH,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_LINK_ROTATE,
		.doit		= rclink_nl_link_rotate_doit,
		.policy		= rclink_link_rotate_nl_policy,
		.maxattr	= RCLINK_A_LINK_NAME,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_GROUP_ADD,
		.doit		= rclink_nl_group_add_doit,
		.policy		= rclink_group_add_nl_policy,
		.maxattr	= RCLINK_A_GROUP_MODE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_GROUP_DEL,
		.doit		= rclink_nl_group_del_doit,
		.policy		= rclink_group_del_nl_policy,
		.maxattr	= RCLINK_A_GROUP_NAME,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_GROUP_GET,
		.doit		= rclink_nl_group_get_doit,
		.dumpit		= rclink_nl_group_get_dumpit,
		.start		= rclink_nl_dump_begin,
		.policy		= rclink_group_get_nl_policy,
		.maxattr	= RCLINK_A_GROUP_NAME,
	},
	{
		.cmd		= RCLINK_CMD_GROUP_REGIONS,
		.doit		= rclink_nl_group_regions_doit,
		.policy		= rclink_group_regions_nl_policy,
		.maxattr	= RCLINK_A_GROUP_SENDER,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= RCLINK_CMD_GROUP_SET,
		.doit		= rclink_nl_group_set_doit,
		.policy		= rclink_group_set_nl_policy,
		.maxattr	= RCLINK_A_GROUP_MODE,
		.flags		= GENL_ADMIN_PERM,
	},
};

static const struct genl_multicast_group rclink_nl_mcgrps[] = {
	[RCLINK_NLGRP_EVENTS] = { "events", },
};
