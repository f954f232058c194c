// SPDX-License-Identifier: GPL-2.0
#include "msg.h"

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/string.h>

#define RCL_HAS_RANGE	BIT(0)
#define RCL_HAS_DATA	BIT(1)
#define RCL_IS_ANSWER	BIT(2)	/* to a question of this end */
#define RCL_IS_OF_LEASE	BIT(3)	/* about a pooled QP, as its question was */

/* Indexed by any byte that a peer may send: one that is no type has none. */
static const u8 traits[256] = {
	[RCL_MSG_HELLO_ACK] = RCL_IS_ANSWER,
	[RCL_MSG_PING] = RCL_HAS_RANGE | RCL_HAS_DATA,
	[RCL_MSG_PONG] = RCL_HAS_RANGE | RCL_HAS_DATA | RCL_IS_ANSWER,
	[RCL_MSG_FILL] = RCL_HAS_RANGE,
	[RCL_MSG_FILLED] = RCL_HAS_RANGE | RCL_IS_ANSWER,
	[RCL_MSG_CHECK] = RCL_HAS_RANGE,
	[RCL_MSG_CHECKED] = RCL_HAS_RANGE | RCL_IS_ANSWER,
	[RCL_MSG_OPEN] = RCL_HAS_RANGE | RCL_HAS_DATA,
	[RCL_MSG_OPENED] = RCL_HAS_RANGE | RCL_IS_ANSWER | RCL_IS_OF_LEASE,
	[RCL_MSG_RECYCLE] = RCL_HAS_RANGE,
	[RCL_MSG_RECYCLED] = RCL_HAS_RANGE | RCL_IS_ANSWER | RCL_IS_OF_LEASE,
	[RCL_MSG_GO] = RCL_HAS_RANGE,
	[RCL_MSG_GONE] = RCL_HAS_RANGE | RCL_IS_ANSWER | RCL_IS_OF_LEASE,
	[RCL_MSG_IMPORT] = RCL_HAS_RANGE | RCL_HAS_DATA,
	[RCL_MSG_IMPORTED] = RCL_HAS_RANGE | RCL_HAS_DATA | RCL_IS_ANSWER,
	[RCL_MSG_HEARS] = RCL_HAS_RANGE,
	[RCL_MSG_HEARD] = RCL_HAS_RANGE | RCL_IS_ANSWER | RCL_IS_OF_LEASE,
	[RCL_MSG_BEAT_ACK] = RCL_IS_ANSWER,
	[RCL_MSG_RESUME] = RCL_HAS_RANGE,
	[RCL_MSG_RESUMED] = RCL_HAS_RANGE | RCL_IS_ANSWER | RCL_IS_OF_LEASE,
	[RCL_MSG_GROUP] = RCL_HAS_RANGE | RCL_HAS_DATA,
	[RCL_MSG_GROUPED] = RCL_HAS_RANGE | RCL_HAS_DATA | RCL_IS_ANSWER,
};

/**
 * rcl_msg_put - write a number, most significant byte first
 * @p: where
 * @v: the number
 * @bytes: how many
 */
void rcl_msg_put(u8 *p, u64 v, u32 bytes)
{
	while (bytes--) {
		p[bytes] = v;
		v >>= 8;
	}
}

/**
 * rcl_msg_get - read a number, most significant byte first
 * @p: where
 * @bytes: how many
 *
 * Return: the number.
 */
u64 rcl_msg_get(const u8 *p, u32 bytes)
{
	u64 v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

/**
 * rcl_msg_put_aad - write the part of a message that is in the clear
 * @buf: RCL_MSG_AAD bytes
 * @epoch: agreed in the exchange
 * @seq: of the message, counted by the sender from 0
 */
void rcl_msg_put_aad(u8 *buf, u64 epoch, u64 seq)
{
	rcl_msg_put(buf, epoch, 8);
	rcl_msg_put(buf + 8, seq, 8);
}

/**
 * rcl_msg_get_aad - read the part of a message that is in the clear
 * @buf: RCL_MSG_AAD bytes
 * @epoch: set
 * @seq: set
 */
void rcl_msg_get_aad(const u8 *buf, u64 *epoch, u64 *seq)
{
	*epoch = rcl_msg_get(buf, 8);
	*seq = rcl_msg_get(buf + 8, 8);
}

/**
 * rcl_msg_is_answer - does this type answer a question of this end?
 * @type: enum rcl_msg_type
 *
 * Return: true if so.
 */
bool rcl_msg_is_answer(u8 type)
{
	return traits[type] & RCL_IS_ANSWER;
}

/**
 * rcl_msg_is_of_lease - is it an answer about a pooled QP, as the question was?
 * @type: enum rcl_msg_type
 *
 * Return: true if so: then it carries the QP's index.
 */
bool rcl_msg_is_of_lease(u8 type)
{
	return traits[type] & RCL_IS_OF_LEASE;
}

/**
 * rcl_msg_encode - write a message before it is sealed
 * @buf: RCL_MSG_HEAD + RCL_MSG_BODY_MAX bytes
 * @msg: @msg->len at most RCL_MSG_DATA_MAX where there is data; the data may
 *	lie anywhere in @buf
 *
 * Return: the length in bytes.
 */
u32 rcl_msg_encode(u8 *buf, const struct rcl_msg *msg)
{
	u32 len = RCL_MSG_HEAD;

	if ((traits[msg->type] & RCL_HAS_DATA) && msg->len) {
		memmove(buf + RCL_MSG_HEAD + RCL_MSG_RANGE, msg->data,
			msg->len);
		len += msg->len;
	}
	rcl_msg_put(buf, msg->type, 1);
	rcl_msg_put(buf + 1, msg->status, 1);
	rcl_msg_put(buf + 2, msg->credits, 2);
	rcl_msg_put(buf + 4, msg->cookie, 4);
	if (traits[msg->type] & RCL_HAS_RANGE) {
		rcl_msg_put(buf + 8, msg->offset, 4);
		rcl_msg_put(buf + 12, msg->len, 4);
		rcl_msg_put(buf + 16, msg->seed, 4);
		len += RCL_MSG_RANGE;
	}
	return len;
}

/**
 * rcl_msg_decode - read a message after its seal was opened
 * @buf: the message; @msg->data points into it
 * @len: its bytes
 * @msg: set
 *
 * Return: 0, or -EBADMSG when the type, status or length is wrong.
 */
int rcl_msg_decode(const u8 *buf, u32 len, struct rcl_msg *msg)
{
	u32 want = RCL_MSG_HEAD;

	memset(msg, 0, sizeof(*msg));
	if (len < RCL_MSG_HEAD)
		return -EBADMSG;
	msg->type = buf[0];
	msg->status = buf[1];
	msg->credits = rcl_msg_get(buf + 2, 2);
	msg->cookie = rcl_msg_get(buf + 4, 4);
	if (!msg->type || msg->type >= RCL_MSG_MAX ||
	    msg->status >= RCL_MSG_STATUS_MAX)
		return -EBADMSG;
	if (traits[msg->type] & RCL_HAS_RANGE) {
		want += RCL_MSG_RANGE;
		if (len < want)
			return -EBADMSG;
		msg->offset = rcl_msg_get(buf + 8, 4);
		msg->len = rcl_msg_get(buf + 12, 4);
		msg->seed = rcl_msg_get(buf + 16, 4);
	}
	if (traits[msg->type] & RCL_HAS_DATA) {
		if (msg->len > RCL_MSG_DATA_MAX)
			return -EBADMSG;
		msg->data = buf + want;
		want += msg->len;
	}
	return len == want ? 0 : -EBADMSG;
}

/**
 * rcl_msg_get_name - take a name out of the data of a message
 * @msg: decoded, with data
 * @name: set, and terminated
 * @size: of @name
 *
 * Return: 0, or -EPROTO when it is empty, too long or has a zero byte.
 */
int rcl_msg_get_name(const struct rcl_msg *msg, char *name, u32 size)
{
	if (!msg->len || msg->len >= size || memchr(msg->data, 0, msg->len))
		return -EPROTO;
	memcpy(name, msg->data, msg->len);
	name[msg->len] = 0;
	return 0;
}
