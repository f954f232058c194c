// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding and decoding walk the same two tables: what a message must carry,
 * and how a field looks. A value that this end would refuse is never sent
 * either. What is decoded comes from a peer: each length is checked before it
 * is used, and each error names the message and the field.
 */
#include "codec.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bytes.h"
#include "fail.h"

#define MANDATORY	0x8000
#define QP_LEN		8
#define QPN_MIN		2	/* 0 and 1 are the management QPs */
#define UINT24_MAX	0xffffff
#define LID_MAX		0xbfff	/* above are multicast LIDs */
#define BIT(n)		(1u << (n))

enum field_number {
	F_VERSION_MIN = 1,
	F_VERSION_MAX,
	F_LINK,
	F_LINK_LAYER,
	F_GID,
	F_LID,
	F_MTU,
	F_RD_ATOMIC,
	F_ATOMICS,
	F_EPOCH,
	F_ADDR,
	F_RKEY,
	F_LENGTH,
	F_QPS,
	F_AGREED,
	F_CODE,
	F_TEXT,
	F_PATHS,
	F_PKEY,
	F_ROTATE,
	F_MASKED_ATOMICS,
	F_COUNT
};

enum kind { K_UINT, K_NAME, K_GID, K_QPS, K_TEXT, K_PATHS };

static_assert(RCX_HEADER_LEN + 4 + RCLINK_NAME_MAX + 4 + RCX_PATHS_LEN + 5 <=
	      RCX_ENCODED_MAX, "an OFFER must fit");

struct field {
	const char *name;
	enum kind kind;
	uint8_t width;		/* K_UINT: bytes on the wire */
	uint16_t offset;	/* in struct rcx_msg; 64 bits if width is 8 */
	uint64_t min, max;	/* K_UINT: smallest and largest value */
};

#define UINT(n, w, member, lo, hi)					\
	{ .name = n, .kind = K_UINT, .width = w,			\
	  .offset = offsetof(struct rcx_msg, member), .min = lo, .max = hi }

static const struct field fields[F_COUNT] = {
	[F_VERSION_MIN] = UINT("version-min", 2, version_min, 1, UINT16_MAX),
	[F_VERSION_MAX] = UINT("version-max", 2, version_max, 1, UINT16_MAX),
	[F_LINK] = { .name = "link", .kind = K_NAME },
	[F_LINK_LAYER] = UINT("link-layer", 1, endpoint.link_layer,
			      RCLINK_LINK_LAYER_INFINIBAND,
			      RCLINK_LINK_LAYER_ROCE),
	[F_GID] = { .name = "gid", .kind = K_GID },
	[F_LID] = UINT("lid", 2, endpoint.lid, 0, LID_MAX),
	[F_MTU] = UINT("mtu", 2, endpoint.mtu, 256, 4096),
	[F_RD_ATOMIC] = UINT("rd-atomic", 1, endpoint.rd_atomic, 0, UINT8_MAX),
	[F_ATOMICS] = UINT("atomics", 1, endpoint.atomics, RCLINK_ATOMICS_NONE,
			   RCLINK_ATOMICS_GLOBAL),
	[F_EPOCH] = UINT("epoch", 8, endpoint.epoch, 1, UINT64_MAX),
	[F_ADDR] = UINT("addr", 8, endpoint.addr, 0, UINT64_MAX),
	[F_RKEY] = UINT("rkey", 4, endpoint.rkey, 1, UINT32_MAX),
	[F_LENGTH] = UINT("length", 4, endpoint.length, 1, UINT32_MAX),
	[F_QPS] = { .name = "qps", .kind = K_QPS },
	[F_AGREED] = UINT("agreed-epoch", 8, agreed, 1, UINT64_MAX),
	[F_CODE] = UINT("code", 2, code, 1, UINT16_MAX),
	[F_TEXT] = { .name = "text", .kind = K_TEXT },
	[F_PATHS] = { .name = "paths", .kind = K_PATHS },
	[F_PKEY] = UINT("pkey", 2, endpoint.pkey, 1, UINT16_MAX),
	[F_ROTATE] = UINT("rotate", 1, rotate, 1, 1),
	[F_MASKED_ATOMICS] = UINT("masked-atomics", 1, endpoint.masked_atomics,
				  RCLINK_ATOMICS_HCA, RCLINK_ATOMICS_GLOBAL),
};

#define ENDPOINT							\
	(BIT(F_LINK_LAYER) | BIT(F_GID) | BIT(F_LID) | BIT(F_MTU) |	\
	 BIT(F_RD_ATOMIC) | BIT(F_ATOMICS) | BIT(F_EPOCH) |		\
	 BIT(F_ADDR) | BIT(F_RKEY) | BIT(F_LENGTH) | BIT(F_QPS))

static const struct {
	const char *name;
	uint32_t fields;	/* required, each once */
	uint32_t may;		/* optional; not sent when 0 */
} messages[] = {
	[RCX_MSG_WELCOME] = { "WELCOME",
			      BIT(F_VERSION_MIN) | BIT(F_VERSION_MAX), 0 },
	[RCX_MSG_OFFER] = { "OFFER", BIT(F_LINK) | BIT(F_PATHS),
			    BIT(F_ROTATE) },
	[RCX_MSG_ANSWER] = { "ANSWER", BIT(F_PATHS), 0 },
	[RCX_MSG_CONFIRM] = { "CONFIRM", BIT(F_AGREED), 0 },
	[RCX_MSG_DONE] = { "DONE", 0, 0 },
	[RCX_MSG_ERROR] = { "ERROR", BIT(F_CODE) | BIT(F_TEXT), 0 },
	[RCX_MSG_ENDPOINT] = { "ENDPOINT", ENDPOINT,
			       BIT(F_PKEY) | BIT(F_MASKED_ATOMICS) },
	[RCX_MSG_FAILED] = { "FAILED", BIT(F_TEXT), 0 },
};

static bool known(uint32_t type)
{
	return type && type < sizeof(messages) / sizeof(messages[0]);
}

const char *rcx_msg_name(uint32_t type)
{
	return known(type) ? messages[type].name : "unknown message";
}

static uint64_t load(const struct rcx_msg *msg, const struct field *f)
{
	const char *p = (const char *)msg + f->offset;
	uint64_t wide;
	uint32_t narrow;

	if (f->width == sizeof(wide)) {
		memcpy(&wide, p, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, p, sizeof(narrow));
	return narrow;
}

static void store(struct rcx_msg *msg, const struct field *f, uint64_t value)
{
	char *p = (char *)msg + f->offset;
	uint32_t narrow = value;

	if (f->width == sizeof(value))
		memcpy(p, &value, sizeof(value));
	else
		memcpy(p, &narrow, sizeof(narrow));
}

static bool name_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

int rcx_name_check(const char *name, size_t len, char *err)
{
	size_t i;

	if (!len || len > RCLINK_NAME_MAX)
		return rcl_fail(err, -EINVAL,
				"a link name has 1 to %d characters, not %zu",
				RCLINK_NAME_MAX, len);
	for (i = 0; i < len; i++)
		if (!name_char(name[i]))
			return rcl_fail(err, -EINVAL,
					"a link name has letters, digits, '_', '.' and '-' only");

	return 0;
}

static int check_qps(const struct rcl_endpoint *ep, char *err)
{
	uint32_t i, j;

	if (!ep->nqps || ep->nqps > 1 + RCLINK_QPS_MAX)
		return rcl_fail(err, -EINVAL, "%u QPs, not 1 to %d", ep->nqps,
				1 + RCLINK_QPS_MAX);
	/* QPNs and PSNs are secrets of the epoch: none is ever printed. */
	for (i = 0; i < ep->nqps; i++) {
		if (ep->qp[i].qpn < QPN_MIN || ep->qp[i].qpn > UINT24_MAX)
			return rcl_fail(err, -EINVAL,
					"the number of QP %u is not 2 to 16777215",
					i);
		if (ep->qp[i].psn > UINT24_MAX)
			return rcl_fail(err, -EINVAL,
					"the PSN of QP %u has more than 24 bits",
					i);
		for (j = 0; j < i; j++)
			if (ep->qp[j].qpn == ep->qp[i].qpn)
				return rcl_fail(err, -EINVAL,
						"two QPs have one number");
	}

	return 0;
}

static int check_endpoint(const struct rcl_endpoint *ep, char *err)
{
	static const uint8_t zero[RCLINK_GID_LEN];
	bool ib = ep->link_layer == RCLINK_LINK_LAYER_INFINIBAND;

	if (ep->mtu & (ep->mtu - 1))
		return rcl_fail(err, -EINVAL,
				"mtu %u is not 256, 512, 1024, 2048 or 4096",
				ep->mtu);
	if (ib && !ep->lid)
		return rcl_fail(err, -EINVAL,
				"lid 0 cannot be reached on InfiniBand");
	if (!ib && ep->lid)
		return rcl_fail(err, -EINVAL, "lid %u on RoCE, which has none",
				ep->lid);
	if (!ib && !memcmp(ep->gid, zero, sizeof(zero)))
		return rcl_fail(err, -EINVAL,
				"an all-zero gid cannot be reached on RoCE");
	if (!ib && ep->gid[0] == 0xff)
		return rcl_fail(err, -EINVAL, "the gid is a multicast group");
	if (ep->addr > UINT64_MAX - ep->length)
		return rcl_fail(err, -EINVAL,
				"the buffer wraps around the address space");

	return check_qps(ep, err);
}

/* Check what one field alone cannot tell; each is within its own range. */
static int check_msg(const struct rcx_msg *msg, char *err)
{
	switch (msg->type) {
	case RCX_MSG_WELCOME:
		if (msg->version_min > msg->version_max)
			return rcl_fail(err, -EINVAL,
					"version-min %u is above version-max %u",
					msg->version_min, msg->version_max);
		return 0;
	case RCX_MSG_OFFER:
	case RCX_MSG_ANSWER:
		return rcx_paths_check(&msg->paths, err);
	case RCX_MSG_ENDPOINT:
		return check_endpoint(&msg->endpoint, err);
	default:
		return 0;
	}
}

/* Put the message and field in front of the sentence: "OFFER: mtu: ...". */
static int refuse(char *err, int ret, const char *msg, const char *field,
		  const char *why)
{
	return rcl_fail(err, ret, "%s: %s%s%s", msg, field ? field : "",
			field ? ": " : "", why);
}

static int decode_qps(struct rcl_endpoint *ep, const uint8_t *p, size_t len,
		      char *err)
{
	uint32_t i;

	if (!len || len % QP_LEN || len / QP_LEN > 1 + RCLINK_QPS_MAX)
		return rcl_fail(err, -EPROTO,
				"%zu bytes, not 1 to %d entries of %d", len,
				1 + RCLINK_QPS_MAX, QP_LEN);
	ep->nqps = len / QP_LEN;
	for (i = 0; i < ep->nqps; i++, p += QP_LEN) {
		ep->qp[i].qpn = rcx_get_be(p, 4);
		ep->qp[i].psn = rcx_get_be(p + 4, 4);
	}

	return 0;
}

static int check_range(const struct field *f, uint64_t value, char *err)
{
	if (value >= f->min && value <= f->max)
		return 0;

	return rcl_fail(err, -EINVAL, "%llu is not %llu to %llu",
			(unsigned long long)value, (unsigned long long)f->min,
			(unsigned long long)f->max);
}

/* Printable ASCII only: this text ends up on terminals and in logs. */
static void copy_text(char *to, const uint8_t *from, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[len] = '\0';
}

static int decode_value(struct rcx_msg *msg, const struct field *f,
			const uint8_t *p, size_t len, char *err)
{
	uint64_t value;

	switch (f->kind) {
	case K_UINT:
		if (len != f->width)
			break;
		value = rcx_get_be(p, f->width);
		store(msg, f, value);
		return check_range(f, value, err);
	case K_NAME:
		if (rcx_name_check((const char *)p, len, err))
			return -EPROTO;
		memcpy(msg->link, p, len);
		return 0;
	case K_GID:
		if (len != RCLINK_GID_LEN)
			break;
		memcpy(msg->endpoint.gid, p, len);
		return 0;
	case K_QPS:
		return decode_qps(&msg->endpoint, p, len, err);
	case K_TEXT:
		if (len > RCX_TEXT_MAX)
			break;
		copy_text(msg->text, p, len);
		return 0;
	case K_PATHS:
		return rcx_paths_decode(&msg->paths, p, len, err);
	}

	return rcl_fail(err, -EPROTO, "%zu bytes is the wrong length", len);
}

int rcx_header_decode(const uint8_t *buf, struct rcx_header *header, char *err)
{
	uint32_t length = rcx_get_be(buf, 4);

	if (length < RCX_HEADER_LEN - 4 || length > RCX_LENGTH_MAX)
		return rcl_fail(err, -EPROTO,
				"a message of %u bytes is not %d to %d long",
				length, RCX_HEADER_LEN - 4, RCX_LENGTH_MAX);
	header->size = 4 + length;
	header->type = rcx_get_be(buf + 4, 2);
	header->version = rcx_get_be(buf + 6, 2);

	return 0;
}

/* Decode the field at p, left bytes before the end. Returns its wire size. */
static int decode_field(struct rcx_msg *msg, uint32_t *have, const uint8_t *p,
			size_t left, char *err)
{
	const char *name = messages[msg->type].name;
	unsigned int number, len;
	char why[RCL_ERR_LEN];

	if (left < 4)
		return rcl_fail(err, -EPROTO, "%s: %zu trailing bytes", name,
				left);
	number = rcx_get_be(p, 2);
	len = rcx_get_be(p + 2, 2);
	if (len > left - 4)
		return rcl_fail(err, -EPROTO,
				"%s: field %u says %u bytes, only %zu follow",
				name, number & ~MANDATORY, len, left - 4);

	if ((number & ~MANDATORY) >= F_COUNT ||
	    !((messages[msg->type].fields | messages[msg->type].may) &
	      BIT(number & ~MANDATORY))) {
		if (number & MANDATORY)
			return rcl_fail(err, -EPROTO,
					"%s: mandatory field %u is not known here; is the peer's rclink newer?",
					name, number & ~MANDATORY);
		return 4 + len;
	}

	number &= ~MANDATORY;
	if (*have & BIT(number))
		return rcl_fail(err, -EPROTO,
				"%s: field %u (%s) is there twice", name,
				number, fields[number].name);
	*have |= BIT(number);
	if (decode_value(msg, &fields[number], p + 4, len, why))
		return refuse(err, -EPROTO, name, fields[number].name, why);

	return 4 + len;
}

int rcx_msg_decode(const uint8_t *buf, size_t len, struct rcx_msg *msg,
		   char *err)
{
	unsigned int count = 0, number;
	struct rcx_header header;
	char why[RCL_ERR_LEN];
	uint32_t have = 0;
	size_t at;
	int ret;

	memset(msg, 0, sizeof(*msg));
	if (len < RCX_HEADER_LEN)
		return rcl_fail(err, -EPROTO, "%zu bytes are no message", len);
	ret = rcx_header_decode(buf, &header, err);
	if (ret)
		return ret;
	if (header.size != len)
		return rcl_fail(err, -EPROTO,
				"the message says %u bytes but has %zu",
				header.size, len);
	if (!known(header.type))
		return rcl_fail(err, -EPROTO, "message type %u is not known",
				header.type);
	msg->type = header.type;
	msg->version = header.version;

	for (at = RCX_HEADER_LEN; at < len; at += ret) {
		if (++count > RCX_FIELDS_MAX)
			return rcl_fail(err, -EPROTO,
					"%s: more than %d fields",
					rcx_msg_name(msg->type),
					RCX_FIELDS_MAX);
		ret = decode_field(msg, &have, buf + at, len - at, err);
		if (ret < 0)
			return ret;
	}

	for (number = 1; number < F_COUNT; number++)
		if (messages[msg->type].fields & ~have & BIT(number))
			return rcl_fail(err, -EPROTO,
					"%s: field %u (%s) is missing",
					rcx_msg_name(msg->type), number,
					fields[number].name);
	if (check_msg(msg, why))
		return refuse(err, -EPROTO, rcx_msg_name(msg->type), NULL, why);

	return 0;
}

static int encode_qps(const struct rcl_endpoint *ep, uint8_t *p)
{
	uint32_t i;

	for (i = 0; i < ep->nqps; i++, p += QP_LEN) {
		rcx_put_be(p, 4, ep->qp[i].qpn);
		rcx_put_be(p + 4, 4, ep->qp[i].psn);
	}

	return ep->nqps * QP_LEN;
}

/* There is room for the longest value; the values are not checked yet. */
static int encode_value(const struct rcx_msg *msg, const struct field *f,
			uint8_t *p, char *err)
{
	const char *end;
	size_t len;

	switch (f->kind) {
	case K_UINT:
		if (check_range(f, load(msg, f), err))
			return -EINVAL;
		rcx_put_be(p, f->width, load(msg, f));
		return f->width;
	case K_NAME:
		end = memchr(msg->link, '\0', sizeof(msg->link));
		len = end ? end - msg->link : (long)sizeof(msg->link);
		if (rcx_name_check(msg->link, len, err))
			return -EINVAL;
		memcpy(p, msg->link, len);
		return len;
	case K_GID:
		memcpy(p, msg->endpoint.gid, RCLINK_GID_LEN);
		return RCLINK_GID_LEN;
	case K_QPS:
		if (check_qps(&msg->endpoint, err))
			return -EINVAL;
		return encode_qps(&msg->endpoint, p);
	case K_TEXT:
		end = memchr(msg->text, '\0', RCX_TEXT_MAX);
		len = end ? end - msg->text : RCX_TEXT_MAX;
		copy_text((char *)p, (const uint8_t *)msg->text, len);
		return len;
	case K_PATHS:
		if (rcx_paths_check(&msg->paths, err))
			return -EINVAL;
		return rcx_paths_encode(&msg->paths, p);
	}

	return rcl_fail(err, -EINVAL, "no such kind of field");
}

int rcx_msg_encode(const struct rcx_msg *msg, uint8_t *buf, size_t size,
		   char *err)
{
	unsigned int number;
	char why[RCL_ERR_LEN];
	size_t at = RCX_HEADER_LEN;
	bool must;
	int len;

	if (size < RCX_ENCODED_MAX)
		return rcl_fail(err, -ENOBUFS, "no room for a message");
	if (!known(msg->type))
		return rcl_fail(err, -EINVAL, "message type %u is not known",
				msg->type);

	for (number = 1; number < F_COUNT; number++) {
		must = messages[msg->type].fields & BIT(number);
		if (!must && !(messages[msg->type].may & BIT(number) &&
			       load(msg, &fields[number])))
			continue;
		len = encode_value(msg, &fields[number], buf + at + 4, why);
		if (len < 0)
			return refuse(err, len, rcx_msg_name(msg->type),
				      fields[number].name, why);
		rcx_put_be(buf + at, 2, (must ? MANDATORY : 0) | number);
		rcx_put_be(buf + at + 2, 2, len);
		at += 4 + len;
	}
	if (check_msg(msg, why))
		return refuse(err, -EINVAL, rcx_msg_name(msg->type), NULL, why);

	rcx_put_be(buf, 4, at - 4);
	rcx_put_be(buf + 4, 2, msg->type);
	rcx_put_be(buf + 6, 2, msg->version);

	return at;
}
