/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The attributes of each command: sound requests, attribute by attribute. For
 * nl_attrs.c alone.
 */
#ifndef FIELDS_H
#define FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "harness.h"
#include "rcl.h"

enum kind { U32, U64, TEXT, BINARY, FLAG, NEST };

/* One attribute of a sound request */
struct field {
	const char *word;
	uint16_t type;
	enum kind kind;
	const void *data;
	uint32_t len;		/* of @data; for TEXT the maximum, with NUL */
	bool needed;
	bool many;		/* may be there twice */
	const struct field *sub;
	uint32_t nsub;
};

static const uint32_t one = 1, port = 1, four = 4, mtu = 1024, gid_index;
static const uint32_t size = 65536, timeout = 14, zero, eight = 8;
static const uint64_t cookie = 42;
static const uint8_t key[RCLINK_KEY_LEN] = { 9 };

/* Filled in when the peer's end is known. */
static struct rcl_end remote;
static uint64_t epoch;

#define F32(word, type, value, ...) \
	{ word, type, U32, &(value), sizeof(value), __VA_ARGS__ }
#define F64(word, type, value, ...) \
	{ word, type, U64, &(value), sizeof(value), __VA_ARGS__ }
#define NAME(text) \
	{ "name", RCLINK_A_LINK_NAME, TEXT, text, RCLINK_NAME_MAX + 1, true }

/* The link that is created or changed */
static char policy_name[RCLINK_NAME_MAX + 1];

static const struct field policy[] = {
	NAME(policy_name),
	{ "device", RCLINK_A_LINK_DEVICE, TEXT, rcl_device,
	  RCLINK_DEVICE_MAX + 1 },
	{ "netdev", RCLINK_A_LINK_NETDEV, TEXT, "", RCLINK_NETDEV_MAX + 1 },
	F32("port", RCLINK_A_LINK_PORT, port),
	F32("gid-index", RCLINK_A_LINK_GID_INDEX, gid_index),
	F32("mtu", RCLINK_A_LINK_MTU, mtu),
	F32("qps", RCLINK_A_LINK_QPS, four),
	F32("timeout", RCLINK_A_LINK_TIMEOUT, timeout),
	F32("retry", RCLINK_A_LINK_RETRY, four),
	F32("rnr-retry", RCLINK_A_LINK_RNR_RETRY, four),
	F32("min-rnr-timer", RCLINK_A_LINK_MIN_RNR_TIMER, four),
	F32("rd-atomic", RCLINK_A_LINK_RD_ATOMIC, four),
	F32("sl", RCLINK_A_LINK_SL, zero),
	F32("traffic-class", RCLINK_A_LINK_TRAFFIC_CLASS, zero),
	F32("hop-limit", RCLINK_A_LINK_HOP_LIMIT, zero),
	F32("flow-label", RCLINK_A_LINK_FLOW_LABEL, zero),
	F32("pkey-index", RCLINK_A_LINK_PKEY_INDEX, zero),
	F32("buffer-size", RCLINK_A_LINK_BUFFER_SIZE, size),
	F32("loopback", RCLINK_A_LINK_LOOPBACK, one),
	F32("owner", RCLINK_A_LINK_OWNER, one),
	F32("group", RCLINK_A_LINK_GROUP, one),
	F32("mode", RCLINK_A_LINK_MODE, four),
	F32("heartbeat", RCLINK_A_LINK_HEARTBEAT, zero),
	F32("misses", RCLINK_A_LINK_MISSES, four),
	F32("recover", RCLINK_A_LINK_RECOVER, one),
};

static const struct field dev_get[] = {
	{ "name", RCLINK_A_DEV_NAME, TEXT, rcl_device, RCLINK_DEVICE_MAX + 1,
	  true },
	F32("port", RCLINK_A_DEV_PORT, port, true),
};

static const struct field idle[] = { NAME("idle") };

static const struct field prepare[] = {
	NAME("other"),
	{ "device", RCLINK_A_LINK_DEVICE, TEXT, rcl_device,
	  RCLINK_DEVICE_MAX + 1 },
	F32("port", RCLINK_A_LINK_PORT, port),
	F32("gid-index", RCLINK_A_LINK_GID_INDEX, gid_index),
	{ "rotate", RCLINK_A_LINK_ROTATE, FLAG, "" },
};

static const struct field up[] = { NAME("up") };

static const struct field replace[] = {
	NAME("up"),
	F64("epoch", RCLINK_A_LINK_EPOCH, epoch, true),
};

static const struct field qps[][2] = {
	{
		F32("qpn", RCLINK_A_QP_QPN, remote.qp[0].qpn, true),
		F32("psn", RCLINK_A_QP_PSN, remote.qp[0].psn, true),
	},
	{
		F32("qpn", RCLINK_A_QP_QPN, remote.qp[1].qpn, true),
		F32("psn", RCLINK_A_QP_PSN, remote.qp[1].psn, true),
	},
	{
		F32("qpn", RCLINK_A_QP_QPN, remote.qp[2].qpn, true),
		F32("psn", RCLINK_A_QP_PSN, remote.qp[2].psn, true),
	},
	{
		F32("qpn", RCLINK_A_QP_QPN, remote.qp[3].qpn, true),
		F32("psn", RCLINK_A_QP_PSN, remote.qp[3].psn, true),
	},
	{
		F32("qpn", RCLINK_A_QP_QPN, remote.qp[4].qpn, true),
		F32("psn", RCLINK_A_QP_PSN, remote.qp[4].psn, true),
	},
};

#define QP_NEST(n) \
	{ "qp", RCLINK_A_ENDPOINT_QP, NEST, .many = true, .sub = qps[n], \
	  .nsub = 2 }

static const struct field end_fields[] = {
	F32("link-layer", RCLINK_A_ENDPOINT_LINK_LAYER, remote.link_layer,
	    true),
	{ "gid", RCLINK_A_ENDPOINT_GID, BINARY, remote.gid,
	  sizeof(remote.gid), true },
	F32("lid", RCLINK_A_ENDPOINT_LID, remote.lid, true),
	F32("mtu", RCLINK_A_ENDPOINT_MTU, remote.mtu, true),
	F32("rd-atomic", RCLINK_A_ENDPOINT_RD_ATOMIC, remote.rd_atomic, true),
	F32("atomics", RCLINK_A_ENDPOINT_ATOMICS, remote.atomics, true),
	F64("epoch", RCLINK_A_ENDPOINT_EPOCH, remote.epoch, true),
	F64("addr", RCLINK_A_ENDPOINT_ADDR, remote.addr, true),
	F32("rkey", RCLINK_A_ENDPOINT_RKEY, remote.rkey, true),
	F32("length", RCLINK_A_ENDPOINT_LENGTH, remote.length, true),
	F32("pkey", RCLINK_A_ENDPOINT_PKEY, remote.pkey),
	F32("masked-atomics", RCLINK_A_ENDPOINT_MASKED_ATOMICS, zero),
	QP_NEST(0), QP_NEST(1), QP_NEST(2), QP_NEST(3), QP_NEST(4),
};

static const struct field connect[] = {
	NAME("ours"),
	F64("epoch", RCLINK_A_LINK_EPOCH, epoch, true),
	{ "peer", RCLINK_A_LINK_PEER, TEXT, "a peer", RCLINK_PEER_MAX + 1,
	  true },
	F32("role", RCLINK_A_LINK_ROLE, one, true),
	{ "remote", RCLINK_A_LINK_REMOTE, NEST, .needed = true,
	  .sub = end_fields, .nsub = ARRAY_SIZE(end_fields) },
};

static const struct field activate[] = {
	NAME("ours"),
	F64("epoch", RCLINK_A_LINK_EPOCH, epoch, true),
	{ "key", RCLINK_A_LINK_KEY, BINARY, key, sizeof(key), true },
};

static const struct field ping[] = {
	{ "link", RCLINK_A_PING_LINK, TEXT, "idle", RCLINK_NAME_MAX + 1,
	  true },
	F32("op", RCLINK_A_PING_OP, one),
	F32("size", RCLINK_A_PING_SIZE, eight),
	F64("cookie", RCLINK_A_PING_COOKIE, cookie),
	F32("count", RCLINK_A_PING_COUNT, one),
};

static const struct field record_get[] = {
	{ "link", RCLINK_A_RECORD_LINK, TEXT, "idle", RCLINK_NAME_MAX + 1,
	  true },
	F64("number", RCLINK_A_RECORD_NUMBER, cookie),
};

static const struct field note[] = {
	{ "link", RCLINK_A_RECORD_LINK, TEXT, "idle", RCLINK_NAME_MAX + 1,
	  true },
	{ "text", RCLINK_A_RECORD_TEXT, TEXT, "a note", RCLINK_NOTE_MAX + 1,
	  true },
};

static const uint32_t any_gid = RCLINK_GID_INDEX_AUTO;

static uint8_t mgid[RCLINK_GID_LEN];
static uint32_t mlid;

static const struct field group_add[] = {
	{ "name", RCLINK_A_GROUP_NAME, TEXT, "fresh", RCLINK_NAME_MAX + 1,
	  true },
	{ "device", RCLINK_A_GROUP_DEVICE, TEXT, rcl_device,
	  RCLINK_DEVICE_MAX + 1 },
	F32("port", RCLINK_A_GROUP_PORT, port),
	F32("gid-index", RCLINK_A_GROUP_GID_INDEX, any_gid),
	{ "mgid", RCLINK_A_GROUP_MGID, BINARY, mgid, sizeof(mgid), true },
	F32("mlid", RCLINK_A_GROUP_MLID, mlid),
	F32("qkey", RCLINK_A_GROUP_QKEY, four),
	F32("owner", RCLINK_A_GROUP_OWNER, one),
	F32("group", RCLINK_A_GROUP_GROUP, one),
	F32("mode", RCLINK_A_GROUP_MODE, four),
	{ "link", RCLINK_A_GROUP_LINK, TEXT, "idle", RCLINK_NAME_MAX + 1,
	  .many = true },
};

/* A group whose key another host gives */
static const struct field group_add_from[] = {
	{ "name", RCLINK_A_GROUP_NAME, TEXT, "fresh", RCLINK_NAME_MAX + 1,
	  true },
	{ "mgid", RCLINK_A_GROUP_MGID, BINARY, mgid, sizeof(mgid), true },
	F32("mlid", RCLINK_A_GROUP_MLID, mlid),
	{ "from", RCLINK_A_GROUP_FROM, TEXT, "other", RCLINK_NAME_MAX + 1 },
	F32("mode", RCLINK_A_GROUP_MODE, four),
};

static const struct field group_set[] = {
	{ "name", RCLINK_A_GROUP_NAME, TEXT, "kept", RCLINK_NAME_MAX + 1,
	  true },
	{ "link", RCLINK_A_GROUP_LINK, TEXT, "other", RCLINK_NAME_MAX + 1,
	  .many = true },
	{ "no-link", RCLINK_A_GROUP_NO_LINK, TEXT, "idle",
	  RCLINK_NAME_MAX + 1, .many = true },
	{ "rekey", RCLINK_A_GROUP_REKEY, FLAG, "" },
	F32("owner", RCLINK_A_GROUP_OWNER, one),
	F32("group", RCLINK_A_GROUP_GROUP, one),
	F32("mode", RCLINK_A_GROUP_MODE, four),
};

static const struct field kept[] = {
	{ "name", RCLINK_A_GROUP_NAME, TEXT, "kept", RCLINK_NAME_MAX + 1,
	  true },
};

static const struct field group_regions[] = {
	{ "name", RCLINK_A_GROUP_NAME, TEXT, "kept", RCLINK_NAME_MAX + 1,
	  true },
	F32("sender", RCLINK_A_GROUP_SENDER, four, true),
};

#endif /* FIELDS_H */
