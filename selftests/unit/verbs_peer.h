/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The peer of an epoch on the fake device: the test that includes this plays
 * it. It reads and seals messages itself, and makes work complete.
 */
#ifndef VERBS_PEER_H
#define VERBS_PEER_H

#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "epoch.h"
#include "fail.h"
#include "verbs_fake.h"

#define MS		1000000ULL	/* ns */
#define QPS		2

static unsigned int ups;

static inline void on_up(void *ctx)
{
	ups++;
}

static inline void on_down(void *ctx, const char *why)
{
}

static const struct rcv_epoch_ops epoch_ops = {
	.up = on_up,
	.down = on_down,
};

struct peer {
	struct event_base *base;
	struct rcv_epoch *ep;	/* that the peer talks to */
	struct rcv_seal seal;	/* the peer's, who is the responder */
	uint32_t cookie;	/* of the peer's last question */
	uint16_t owed;		/* messages read since the peer sent one */
	struct rcl_msg got;
	uint8_t data[RCL_MSG_SLOT];
};

/* Read the epoch's next message into got. Return: its type, 0: none. */
static inline int said(struct peer *p)
{
	const struct fake_send *send;
	int len;

	do
		send = fake_sent(&fake_ctrl);
	while (send && send->opcode != IBV_WR_SEND);
	if (!send)
		return 0;
	memcpy(p->data, send->bytes, send->len);
	len = rcv_seal_open(&p->seal, p->data, send->len);
	if (len < 0 || rcl_msg_decode(p->data + RCL_MSG_AAD, len,
				      &p->got))
		return -1;
	p->owed++;
	return p->got.type;
}

/* The peer sends @msg, and the epoch reads it. */
static inline void say(struct peer *p, struct rcl_msg *msg)
{
	uint8_t buf[RCL_MSG_SLOT];
	int len;

	msg->credits = p->owed;
	p->owed = 0;
	len = rcl_msg_encode(buf + RCL_MSG_AAD, msg);
	len = rcv_seal_close(&p->seal, buf, len);
	fake_arrive(&fake_ctrl, IBV_WC_SUCCESS, buf, len);
	rcv_epoch_turn(p->ep);
}

/* The peer answers the last message read. */
static inline void answer(struct peer *p, uint8_t status)
{
	struct rcl_msg msg = p->got;

	msg.type++;
	msg.status = status;
	say(p, &msg);
}

static inline void ask(struct peer *p, uint8_t type, uint32_t qp, uint32_t len,
		       const char *data)
{
	struct rcl_msg msg = {
		.type = type,
		.cookie = ++p->cookie,
		.offset = qp,
		.len = len,
		.data = (const uint8_t *)data,
	};

	say(p, &msg);
}

static inline const char *text(uint32_t reason)
{
	const struct rcl_reason why = { .reason = reason };

	return rcl_reason_text(&why);
}

static inline void later(struct peer *p, uint64_t ms)
{
	fake_now += ms * MS;
	rcv_epoch_turn(p->ep);
}

static inline int activate(struct peer *p,
			   const struct rcv_service *const *services)
{
	struct rcl_policy policy = { .given = 1u << RCL_P_HEARTBEAT |
					      1u << RCL_P_QPS };
	const uint8_t key[RCLINK_KEY_LEN] = { 1 };
	char err[RCL_ERR_LEN];
	struct rcl_endpoint peer;
	uint64_t agreed;

	policy.v[RCL_P_QPS] = QPS;
	if (rcv_policy_complete(&policy, err))
		return -1;
	p->base = event_base_new();
	p->ep = rcv_epoch_new(p->base, &policy, 1, services, &epoch_ops,
			      NULL, err);
	if (!p->ep)
		return -1;
	peer = p->ep->local;
	peer.gid[15]++;
	if (rcv_epoch_connect(p->ep, RCLINK_ROLE_INITIATOR, &peer, &agreed,
			      err) ||
	    rcv_epoch_activate(p->ep, key, err))
		return -1;
	return rcv_seal_start(&p->seal, key, RCLINK_ROLE_RESPONDER, agreed);
}

/* The peer says hello, but does not answer the epoch's hello yet. */
static inline bool meets(struct peer *p,
			 const struct rcv_service *const *services)
{
	struct rcl_msg hello = {
		.type = RCL_MSG_HELLO, .cookie = RCL_MSG_VERSION,
	};

	if (activate(p, services) || said(p) != RCL_MSG_HELLO)
		return false;
	say(p, &hello);
	return said(p) == RCL_MSG_HELLO_ACK;
}

static inline bool comes_up(struct peer *p)
{
	struct rcl_msg ack = { .type = RCL_MSG_HELLO_ACK };

	say(p, &ack);
	event_base_loop(p->base, EVLOOP_NONBLOCK);
	return ups == 1;
}

static inline void leave(struct peer *p)
{
	rcv_epoch_free(p->ep);
	rcv_seal_wipe(&p->seal);
	event_base_free(p->base);
}

#endif /* VERBS_PEER_H */
