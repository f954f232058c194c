// SPDX-License-Identifier: GPL-2.0
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STEP_MS		10000	/* for each thing waited for */
#define LINGER_MS	1000

#define BIT(n)		(1u << (n))

static const struct rcx_wait waits[] = {
	[ST_DIAL] = { "connecting", "check the address and the firewall", 0 },
	[ST_TLS] = { "in the TLS handshake",
		"check that an rclink is at the other end of this port, and what it says of its callers",
		0 },
	[ST_WELCOME] = { "waiting for WELCOME",
		"see what the peer's rclink says; it may have run out of time",
		BIT(RCX_MSG_WELCOME) },
	[ST_OFFER] = { "waiting for OFFER",
		"see what the peer's rclink says", BIT(RCX_MSG_OFFER) },
	[ST_ANSWER] = { "waiting for ANSWER",
		"see what the peer's rclink says", BIT(RCX_MSG_ANSWER) },
	[ST_PREPARE] = { "waiting for the module to prepare the QPs",
		"see what `rclink why` and the kernel log say", 0 },
	[ST_ENDPOINT] = { "waiting for ENDPOINT",
		"see what the peer's rclink and its kernel log say",
		BIT(RCX_MSG_ENDPOINT) | BIT(RCX_MSG_FAILED) },
	[ST_CONNECT] = { "waiting for the module to connect the QPs",
		"see what `rclink why` and the kernel log say", 0 },
	[ST_CONFIRM] = { "waiting for CONFIRM",
		"see what the peer's rclink and its kernel log say",
		BIT(RCX_MSG_CONFIRM) | BIT(RCX_MSG_FAILED) },
	[ST_ACTIVATE] = { "waiting for the module to activate the QPs",
		"see what `rclink why` and the kernel log say", 0 },
	[ST_UP] = { "waiting for the link to come up",
		"check the RDMA path: MTU, GIDs, VLAN, and UDP port 4791 on RoCE",
		BIT(RCX_MSG_DONE) | BIT(RCX_MSG_FAILED) },
	/* The others are about the path that this end has given up already. */
	[ST_FAILED] = { "waiting for FAILED",
		"see what the peer's rclink says",
		BIT(RCX_MSG_FAILED) | BIT(RCX_MSG_ENDPOINT) |
		BIT(RCX_MSG_CONFIRM) | BIT(RCX_MSG_DONE) },
	[ST_CLOSE] = { "closing", "", 0 },
	[ST_FREE] = { "closed", "", 0 },
};

static const struct rcx_wait wait_peer_up = {
	"waiting for DONE, for the peer's link to come up",
	"see what the peer's rclink and its kernel log say",
	BIT(RCX_MSG_DONE) | BIT(RCX_MSG_FAILED)
};

static const struct rcx_wait wait_nothing = {
	"waiting for the link to come up, the peer's DONE being there",
	"check the RDMA path: MTU, GIDs, VLAN, and UDP port 4791 on RoCE",
	BIT(RCX_MSG_FAILED)
};

const struct rcx_wait *rcx_wait(const struct rcx_session *s)
{
	if (s->state == ST_UP && rcx_peer_done(s))
		return &wait_nothing;
	if (s->state == ST_UP && s->link_up)
		return &wait_peer_up;

	return &waits[s->state];
}

bool rcx_asks_owner(const struct rcx_session *s)
{
	return s->state == ST_PREPARE || s->state == ST_CONNECT ||
	       s->state == ST_ACTIVATE;
}

int64_t rcx_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);

	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void rcx_enter(struct rcx_session *s, enum rcx_state state)
{
	int64_t now = rcx_now_ms(), share;

	s->state = state;
	s->step_deadline = now + (state == ST_CLOSE ? LINGER_MS : STEP_MS);
	/* Each address has a limit of its own, see dial.c. */
	if (state == ST_DIAL)
		s->step_deadline = s->deadline;
	if (state != ST_UP)
		return;
	/* The other paths must have their time, too. */
	share = (s->deadline - now) / (s->npairs - s->at);
	s->proof_deadline = now + (share < STEP_MS ? share : STEP_MS);
	/* A peer that runs out of time can still say so. */
	s->step_deadline += LINGER_MS;
}

void rcx_step(struct rcx_session *s, enum rcx_step step, const char *detail)
{
	if (s->ops->step)
		s->ops->step(s->ctx, step, detail);
}

/* The messages of one session always fit. */
static int queue(struct rcx_session *s, const struct rcx_msg *msg, char *err)
{
	int len = rcx_msg_encode(msg, s->out + s->out_len,
				 sizeof(s->out) - s->out_len, err);

	if (len < 0)
		return len;
	s->out_len += len;

	return 0;
}

enum rcx_io rcx_flush(struct rcx_session *s)
{
	enum rcx_io io = RCX_IO_DONE;
	size_t n;

	while (s->out_len) {
		io = rcx_conn_write(s->conn, s->out, s->out_len, &n);
		if (io != RCX_IO_DONE)
			break;
		s->out_len -= n;
		memmove(s->out, s->out + n, s->out_len);
	}
	/* Do not wait for a broken connection to become writable. */
	if (io == RCX_IO_CLOSED || io == RCX_IO_FAILED)
		s->out_len = 0;

	return io;
}

void rcx_end(struct rcx_session *s, int result, const char *err)
{
	/* The peer is told that the link is up only after the owner is done. */
	bool up = s->link_up && !rcx_asks_owner(s);

	if (s->state >= ST_CLOSE)
		return;
	s->result = result;
	snprintf(s->err, sizeof(s->err), "%s", err);
	rcx_enter(s, s->conn ? ST_CLOSE : ST_FREE);
	if (result && s->prepared && !up)
		s->ops->abort(s->ctx, s->link);
}

void rcx_break(struct rcx_session *s, enum rcx_code code, int result,
	       const char *fmt, ...)
{
	char err[RCL_ERR_LEN], ignored[RCL_ERR_LEN];
	struct rcx_msg msg = {
		.type = RCX_MSG_ERROR,
		.version = s->version ? s->version : RCX_VERSION_MAX,
		.code = code,
	};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, sizeof(err), fmt, ap);
	va_end(ap);
	if (code && s->state > ST_TLS && s->state < ST_CLOSE) {
		snprintf(msg.text, sizeof(msg.text), "%.*s", RCX_TEXT_MAX,
			 err);
		queue(s, &msg, ignored);
	}
	rcx_end(s, result, err);
}

bool rcx_send(struct rcx_session *s, struct rcx_msg *msg)
{
	char err[RCL_ERR_LEN];
	int ret;

	msg->version = s->version ? s->version : RCX_VERSION_MAX;
	ret = queue(s, msg, err);
	if (ret) {
		rcx_break(s, RCX_CODE_FAILED, ret, "%s", err);
		return false;
	}
	rcx_flush(s);

	return true;
}
