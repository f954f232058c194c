// SPDX-License-Identifier: GPL-2.0
/*
 * What each message means, and what is asked of the owner for it. See
 * session.c for the order of the conversation.
 */
#include "talk.h"

#include <errno.h>
#include <string.h>

#include <openssl/crypto.h>

#include "core.h"
#include "err.h"

static void protocol_error(struct rcx_session *s, const char *err)
{
	rcx_break(s, RCX_CODE_PROTOCOL, -EPROTO, "protocol error: %s", err);
}

static bool prepare(struct rcx_session *s)
{
	char err[RCX_ERR_LEN] = "";
	int ret;

	ret = s->ops->prepare(s->ctx, s->link, &s->local, err);
	if (ret) {
		rcx_break(s, RCX_CODE_FAILED, ret, "%s", err);
		return false;
	}
	s->prepared = true;
	rcx_step(s, RCX_STEP_PREPARED, s->link);

	return true;
}

static void connect_link(struct rcx_session *s, const struct rcl_endpoint *peer)
{
	struct rcx_msg msg = { .type = RCX_MSG_CONFIRM };
	char err[RCX_ERR_LEN] = "";
	int ret;

	rcx_step(s, RCX_STEP_OFFERED, "");
	ret = s->ops->connect(s->ctx, s->link, s->local.epoch, s->identity,
			      s->role, peer, &s->agreed, err);
	if (ret) {
		rcx_break(s, RCX_CODE_FAILED, ret, "%s", err);
		return;
	}
	rcx_step(s, RCX_STEP_CONNECTED, "");
	msg.agreed = s->agreed;
	if (rcx_send(s, &msg))
		rcx_enter(s, ST_CONFIRM);
}

static void on_welcome(struct rcx_session *s, const struct rcx_msg *in)
{
	struct rcx_msg msg = { .type = RCX_MSG_OFFER };

	if (in->version_min > RCX_VERSION_MAX ||
	    in->version_max < RCX_VERSION_MIN) {
		rcx_break(s, RCX_CODE_VERSION, -EPROTONOSUPPORT,
			  "the initiator speaks protocol versions %d to %d, the responder %u to %u; upgrade the older rclink",
		     RCX_VERSION_MIN, RCX_VERSION_MAX, in->version_min,
		     in->version_max);
		return;
	}
	s->version = in->version_max < RCX_VERSION_MAX ? in->version_max :
		     RCX_VERSION_MAX;
	if (!prepare(s))
		return;
	snprintf(msg.link, sizeof(msg.link), "%s", s->wanted);
	msg.endpoint = s->local;
	if (rcx_send(s, &msg))
		rcx_enter(s, ST_ANSWER);
}

/* Any of the proven identities will do; the first refusal is reported. */
static int admit(struct rcx_session *s, const char *wanted, char *err)
{
	char ignored[RCX_ERR_LEN] = "";
	unsigned int i;
	int ret, first;

	first = s->ops->admit(s->ctx, s->identity, wanted, s->link, err);
	for (i = 1, ret = first; ret && rcx_conn_identity(s->conn, i); i++) {
		s->identity = rcx_conn_identity(s->conn, i);
		ret = s->ops->admit(s->ctx, s->identity, wanted, s->link,
				    ignored);
	}

	return ret ? first : 0;
}

static void on_offer(struct rcx_session *s, const struct rcx_msg *in)
{
	struct rcx_msg msg = { .type = RCX_MSG_ANSWER };
	char err[RCX_ERR_LEN] = "";
	int ret;

	ret = admit(s, in->link, err);
	if (ret) {
		rcx_break(s, RCX_CODE_REFUSED, ret, "%s", err);
		return;
	}
	if (!prepare(s))
		return;
	msg.endpoint = s->local;
	if (rcx_send(s, &msg))
		connect_link(s, &in->endpoint);
}

static void on_confirm(struct rcx_session *s, const struct rcx_msg *in)
{
	uint8_t key[RCLINK_KEY_LEN];
	char err[RCX_ERR_LEN] = "";
	int ret;

	if (in->agreed != s->agreed) {
		rcx_break(s, RCX_CODE_PROTOCOL, -EPROTO,
			  "protocol error: the peer agreed on epoch %llu, this end on %llu",
		     (unsigned long long)in->agreed,
		     (unsigned long long)s->agreed);
		return;
	}
	rcx_step(s, RCX_STEP_CONFIRMED, "");
	ret = rcx_conn_export(s->conn, s->agreed, key);
	if (ret) {
		rcx_break(s, RCX_CODE_FAILED, ret,
			  "cannot derive the control key");
		return;
	}
	rcx_enter(s, ST_UP);
	ret = s->ops->activate(s->ctx, s->link, s->agreed, key, err);
	OPENSSL_cleanse(key, sizeof(key));
	if (ret) {
		rcx_break(s, RCX_CODE_FAILED, ret, "%s", err);
		return;
	}
	rcx_step(s, RCX_STEP_ACTIVATED, "");
}

static void on_error(struct rcx_session *s, const struct rcx_msg *in)
{
	static const int results[] = {
		[RCX_CODE_PROTOCOL] = -EPROTO,
		[RCX_CODE_VERSION] = -EPROTONOSUPPORT,
		[RCX_CODE_REFUSED] = -EACCES,
		[RCX_CODE_FAILED] = -EREMOTEIO,
		[RCX_CODE_TIMEOUT] = -ETIMEDOUT,
		[RCX_CODE_CANCELED] = -ECANCELED,
	};
	int result = -EREMOTEIO;

	if (in->code < sizeof(results) / sizeof(results[0]))
		result = results[in->code];
	rcx_break(s, 0, result, "peer: %s", in->text);
}

void rcx_talk_header(struct rcx_session *s)
{
	const struct rcx_header *h = &s->header;
	const struct rcx_wait *wait = rcx_wait(s);
	char err[RCX_ERR_LEN];

	if (rcx_header_decode(s->in, &s->header, err)) {
		protocol_error(s, err);
	} else if (h->type == RCX_MSG_ERROR) {
		/* The same in all versions. */
	} else if (h->type != wait->message) {
		rcx_fail(err, 0, "%s (type %u) came while %s",
			 rcx_msg_name(h->type), h->type,
			 wait->waiting);
		protocol_error(s, err);
	} else if (h->type == RCX_MSG_OFFER &&
		   (h->version < RCX_VERSION_MIN ||
		    h->version > RCX_VERSION_MAX)) {
		rcx_break(s, RCX_CODE_VERSION, -EPROTONOSUPPORT,
			  "the initiator offers protocol version %u, the responder speaks %d to %d; upgrade the older rclink",
		     h->version, RCX_VERSION_MIN, RCX_VERSION_MAX);
	} else if (h->type == RCX_MSG_OFFER) {
		s->version = h->version;
	} else if (h->type != RCX_MSG_WELCOME && h->version != s->version) {
		rcx_fail(err, 0, "%s has version %u, agreed was %u",
			 rcx_msg_name(h->type), h->version, s->version);
		protocol_error(s, err);
	}
}

void rcx_talk_up(struct rcx_session *s)
{
	struct rcx_msg msg = { .type = RCX_MSG_DONE };

	if (s->state != ST_UP || !s->link_up)
		return;
	if (!s->told_done) {
		rcx_step(s, RCX_STEP_UP, "");
		s->told_done = rcx_send(s, &msg);
	}
	if (s->told_done && s->peer_done) {
		rcx_step(s, RCX_STEP_DONE, "");
		rcx_end(s, 0, "");
	}
}

void rcx_talk_message(struct rcx_session *s)
{
	char err[RCX_ERR_LEN];
	struct rcx_msg msg;

	if (rcx_msg_decode(s->in, s->in_len, &msg, err)) {
		protocol_error(s, err);
		return;
	}
	switch (msg.type) {
	case RCX_MSG_WELCOME:
		on_welcome(s, &msg);
		break;
	case RCX_MSG_OFFER:
		on_offer(s, &msg);
		break;
	case RCX_MSG_ANSWER:
		connect_link(s, &msg.endpoint);
		break;
	case RCX_MSG_CONFIRM:
		on_confirm(s, &msg);
		break;
	case RCX_MSG_DONE:
		s->peer_done = true;
		break;
	case RCX_MSG_ERROR:
		on_error(s, &msg);
		break;
	}
	OPENSSL_cleanse(&msg, sizeof(msg));
	/* The kernel may have said `up` from within activate already. */
	rcx_talk_up(s);
}

void rcx_talk_start(struct rcx_session *s)
{
	struct rcx_msg msg = {
		.type = RCX_MSG_WELCOME,
		.version_min = RCX_VERSION_MIN,
		.version_max = RCX_VERSION_MAX,
	};

	s->identity = rcx_conn_identity(s->conn, 0);
	rcx_step(s, RCX_STEP_TLS, s->identity);
	if (s->role == RCX_INITIATOR)
		rcx_enter(s, ST_WELCOME);
	else if (rcx_send(s, &msg))
		rcx_enter(s, ST_OFFER);
}
