/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages on the control QP: a pure codec, no kernel objects.
 * Documentation/protocol.rst has the layout byte for byte.
 */
#ifndef RCL_MSG_H
#define RCL_MSG_H

#include <linux/types.h>

/*
 * To be raised with each new type, because an end that does not know it ends
 * the epoch, and with RCL_GROUP_MSG_VERSION.
 */
#define RCL_MSG_VERSION	4

#define RCL_MSG_SLOT	512	/* bytes of one send or receive slot */
#define RCL_MSG_AAD	16	/* epoch and sequence, in the clear */
#define RCL_MSG_TAG	16	/* AEAD tag */
#define RCL_MSG_HEAD	8	/* type, status, credits, cookie */
#define RCL_MSG_BODY_MAX (RCL_MSG_SLOT - RCL_MSG_AAD - RCL_MSG_TAG - \
			  RCL_MSG_HEAD)
#define RCL_MSG_RANGE	12	/* offset, length, seed */
#define RCL_MSG_DATA_MAX (RCL_MSG_BODY_MAX - RCL_MSG_RANGE)

#define RCL_MSG_AGAIN	1	/* cookie: another epoch is wanted */

/* The data of IMPORTED: a region, then keys of its extents. */
#define RCL_WINDOW_LEN	24	/* address, length, shift, rights */
#define RCL_RKEY_LEN	4
#define RCL_WINDOW_RKEYS ((RCL_MSG_DATA_MAX - RCL_WINDOW_LEN) / RCL_RKEY_LEN)
#define RCL_EXTENT_SHIFT_MIN	12	/* the smallest page */
#define RCL_EXTENT_SHIFT_MAX	30	/* of the peer's */
#define RCL_EXTENTS_MAX		4096	/* of a region */

/* Each answer follows its question. */
enum rcl_msg_type {
	RCL_MSG_HELLO = 1,	/* I am in RTS */
	RCL_MSG_HELLO_ACK,
	RCL_MSG_PING,		/* echo these bytes */
	RCL_MSG_PONG,
	RCL_MSG_FILL,		/* write this pattern into your buffer */
	RCL_MSG_FILLED,
	RCL_MSG_CHECK,		/* does your buffer hold this pattern? */
	RCL_MSG_CHECKED,
	RCL_MSG_BYE,		/* this epoch ends, for good or not */
	RCL_MSG_OPEN,		/* lease pooled QP @index for service @data */
	RCL_MSG_OPENED,
	RCL_MSG_RECYCLE,	/* its lease ended; @qpn, @psn: my new one */
	RCL_MSG_RECYCLED,	/* I am in RTR; @qpn, @psn: my new one */
	RCL_MSG_GO,		/* I am in RTS: it may be leased again */
	RCL_MSG_GONE,
	RCL_MSG_IMPORT,		/* which memory is your region @data? */
	RCL_MSG_IMPORTED,	/* @data: the region and its keys */
	RCL_MSG_HEARS,		/* its lessee here has posted a receive */
	RCL_MSG_HEARD,
	RCL_MSG_BEAT,		/* are you there? cookie: RCL_MSG_AGAIN */
	RCL_MSG_BEAT_ACK,
	RCL_MSG_RESUME,		/* channel @id goes on; got @got messages */
	RCL_MSG_RESUMED,
	RCL_MSG_GROUP,		/* key of group @data, if not the one I have */
	RCL_MSG_GROUPED,	/* @data: the key, or nothing */
	RCL_MSG_MAX
};

enum rcl_msg_status {
	RCL_MSG_OK,
	RCL_MSG_DIFFERS,	/* the data is not what was said */
	RCL_MSG_REFUSED,	/* nobody listens; no region of that name */
	RCL_MSG_BUSY,		/* not now: leased already, backlog full */
	RCL_MSG_FAILED,		/* a verbs call failed: do not use it again */
	RCL_MSG_STATUS_MAX
};

/**
 * struct rcl_msg - one control message
 * @type: enum rcl_msg_type
 * @status: of an answer: enum rcl_msg_status
 * @credits: receive slots that the sender has posted again
 * @cookie: of a question, returned by its answer; of HELLO, RCL_MSG_VERSION
 * @offset: of the data or the buffer range
 * @index: number of a pooled QP
 * @id_high: of GROUP, first half of the identifier of a key
 * @len: of the data or the buffer range, bytes
 * @qpn: of RECYCLE and its answer
 * @got: of RESUME, messages
 * @deaf: of HEARS: 1 if no receive was posted before the QP failed, and it only
 *	asks for an answer
 * @seed: of the pattern
 * @psn: of RECYCLE and its answer
 * @id: of OPEN and RESUME, number of the channel
 * @first: of IMPORT, the first extent of interest
 * @id_low: of GROUP, second half of the identifier of a key
 * @data: payload, @len bytes inside the message
 *
 * A table in msg.c says which types have a range, and which have data.
 */
struct rcl_msg {
	u8 type;
	u8 status;
	u16 credits;
	u32 cookie;
	union {
		u32 offset;
		u32 index;
		u32 id_high;
	};
	union {
		u32 len;
		u32 qpn;
		u32 got;
		u32 deaf;
	};
	union {
		u32 seed;
		u32 psn;
		u32 id;
		u32 first;
		u32 id_low;
	};
	const u8 *data;
};

void rcl_msg_put(u8 *p, u64 v, u32 bytes);
u64 rcl_msg_get(const u8 *p, u32 bytes);
void rcl_msg_put_aad(u8 *buf, u64 epoch, u64 seq);
void rcl_msg_get_aad(const u8 *buf, u64 *epoch, u64 *seq);
u32 rcl_msg_encode(u8 *buf, const struct rcl_msg *msg);
int rcl_msg_decode(const u8 *buf, u32 len, struct rcl_msg *msg);
int rcl_msg_get_name(const struct rcl_msg *msg, char *name, u32 size);
bool rcl_msg_is_answer(u8 type);
bool rcl_msg_is_of_lease(u8 type);

#endif /* RCL_MSG_H */
