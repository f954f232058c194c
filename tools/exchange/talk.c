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
#include "fail.h"

#define REASON_LEN	150	/* of one path, if there are several */
#define LIST_LEN	400	/* of an end's paths as text */
#define LEFT_LEN	120	/* of the text on those left out */

static void protocol_error(struct rcx_session *s, const char *err)
{
	rcx_break(s, RCX_CODE_PROTOCOL, -EPROTO, "protocol error: %s", err);
}

/* Anything refused for another reason would be refused on every path. */
static bool is_of_path(int result)
{
	return result != -EBUSY && result != -ENOENT && result != -EPERM;
}

/* The code that tells the peer of a failure that ends the session. */
static enum rcx_code code_of(int result)
{
	if (result == -EBUSY)
		return RCX_CODE_BUSY;
	/* There is nothing left to do. */
	return result == -EISCONN ? RCX_CODE_CANCELED : RCX_CODE_FAILED;
}

static const struct rcl_path *path_of(const struct rcx_session *s,
				      enum rcx_role role)
{
	const struct rcx_paths *paths = role == s->role ? &s->own : &s->theirs;
	const struct rcx_pair *pair = &s->pairs[s->at];

	return &paths->path[role == RCX_INITIATOR ? pair->initiator :
						    pair->responder];
}

static const struct rcl_path *own_path(const struct rcx_session *s)
{
	return path_of(s, s->role);
}

static const struct rcl_path *their_path(const struct rcx_session *s)
{
	return path_of(s, s->role == RCX_INITIATOR ? RCX_RESPONDER :
						     RCX_INITIATOR);
}

static const char *role_text(const struct rcx_session *s)
{
	return s->role == RCX_INITIATOR ? "initiator" : "responder";
}

/* One of the GIDs left out might have worked. */
static const char *left_text(const struct rcx_session *s, char buf[LEFT_LEN])
{
	buf[0] = '\0';
	if (s->own.left)
		snprintf(buf, LEFT_LEN,
			 "; %u more GIDs of the %s were not offered, set netdev or gid-index there",
			 s->own.left, role_text(s));

	return buf;
}

/* For whoever watches, and for the end if no path is left. */
static void report(struct rcx_session *s, const char *why)
{
	char own[RCX_PATH_LEN], theirs[RCX_PATH_LEN], text[RCL_ERR_LEN];
	size_t len = strlen(s->report);

	rcx_path_text(own_path(s), own);
	rcx_path_text(their_path(s), theirs);
	rcl_fail(text, 0, "path %u of %u, from %s to the peer's %s, failed: %s",
		 s->at + 1, s->npairs, own, theirs, why);
	if (s->npairs == 1)
		rcl_fail(s->report, 0, "%s", why);
	else
		snprintf(s->report + len, sizeof(s->report) - len,
			 "%s%s to %s: %.*s",
			 len ? "; " : "no path to the peer works: ",
			 rcx_gid_text(own_path(s)->gid, own),
			 rcx_gid_text(their_path(s)->gid, theirs),
			 REASON_LEN, strcmp(s->reason, why) ? why : "the same");
	rcl_fail(s->reason, 0, "%s", why);
	rcx_step(s, RCX_STEP_FAILED, text);
}

/*
 * This path does not work. At most one is prepared at any time: it is undone
 * here, before either end goes on to the next one. False: the session ends.
 */
static bool leave_path(struct rcx_session *s, int result, const char *why,
		       const char *tell)
{
	struct rcx_msg msg = { .type = RCX_MSG_FAILED };
	char left[LEFT_LEN], text[RCL_ERR_LEN];

	snprintf(msg.text, sizeof(msg.text), "%.*s", RCX_TEXT_MAX, tell);
	report(s, why);
	if (s->prepared)
		s->ops->abort(s->ctx, s->link);
	s->prepared = false;
	s->link_up = false;
	s->down[0] = '\0';
	if (!rcx_send(s, &msg))
		return false;
	if (s->at + 1 < s->npairs)
		return true;
	rcl_fail(text, 0, "%s%s", s->report, left_text(s, left));
	rcx_end(s, result, text);

	return false;
}

static void fail_path(struct rcx_session *s, int result, const char *why)
{
	char text[RCL_ERR_LEN];

	/* why may be a string that leave_path() wipes. */
	snprintf(text, sizeof(text), "%s", why);
	if (!is_of_path(result))
		rcx_break(s, code_of(result), result, "%s", text);
	else if (leave_path(s, result, text, text))
		rcx_enter(s, ST_FAILED);
}

void rcx_talk_prepared(struct rcx_session *s, int ret,
		       const struct rcl_endpoint *local, const char *err)
{
	struct rcx_msg msg = { .type = RCX_MSG_ENDPOINT };

	s->prepared = !ret;
	if (ret) {
		fail_path(s, ret, err);
		return;
	}
	s->local = *local;
	if (memcmp(s->local.gid, own_path(s)->gid, sizeof(s->local.gid))) {
		fail_path(s, -EAGAIN,
			  "the GIDs of the port have changed meanwhile; try again");
		return;
	}
	rcx_step(s, RCX_STEP_PREPARED, s->link);
	msg.endpoint = s->local;
	if (rcx_send(s, &msg))
		rcx_enter(s, ST_ENDPOINT);
}

static void try_path(struct rcx_session *s)
{
	struct rcl_endpoint local;
	char err[RCL_ERR_LEN] = "";
	int ret;

	s->told_done = false;
	rcx_enter(s, ST_PREPARE);
	ret = s->ops->prepare(s->ctx, s->link, own_path(s), &local, err);
	if (ret != RCX_LATER)
		rcx_talk_prepared(s, ret, &local, err);
	else
		s->prepared = true;
}

static void on_failed(struct rcx_session *s, const struct rcx_msg *in)
{
	char why[RCL_ERR_LEN];

	rcl_fail(why, 0, "peer: %s", in->text);
	if (s->state != ST_FAILED && !leave_path(s, -EREMOTEIO, why, ""))
		return;
	s->heard = 0;
	s->at++;
	try_path(s);
}

/* "192.0.2.1 (rxe0 port 1), 2001:db8::1 (rxe0 port 1)" */
static const char *list_paths(const struct rcx_paths *paths,
			      char buf[LIST_LEN])
{
	char path[RCX_PATH_LEN];
	size_t len = 0;
	uint32_t i;

	for (i = 0; i < paths->num && len < LIST_LEN; i++)
		len += snprintf(buf + len, LIST_LEN - len, "%s%s",
				i ? ", " : "",
				rcx_path_text(&paths->path[i], path));

	return buf;
}

/* Both lists are known: find the pairs to try, and their order. */
static bool find_paths(struct rcx_session *s)
{
	char own[LIST_LEN], theirs[LIST_LEN], left[LEFT_LEN], count[32];

	if (s->role == RCX_INITIATOR)
		s->npairs = rcx_paths_order(&s->own, &s->theirs, s->pairs);
	else
		s->npairs = rcx_paths_order(&s->theirs, &s->own, s->pairs);
	if (!s->npairs) {
		rcx_break(s, RCX_CODE_FAILED, -EHOSTUNREACH,
			  "no path in common; give both hosts a GID of one kind, see `rclink dev` or `rclink dev --verbs`%s: the %s has %s, the other end %s",
			  left_text(s, left), role_text(s),
			  list_paths(&s->own, own),
			  list_paths(&s->theirs, theirs));
		return false;
	}
	snprintf(count, sizeof(count), "%u", s->npairs);
	rcx_step(s, RCX_STEP_PATHS, count);

	return true;
}

static bool offer(struct rcx_session *s)
{
	char err[RCL_ERR_LEN] = "";
	int ret;

	ret = s->ops->offer(s->ctx, s->link, &s->own, err);
	if (!ret)
		return true;
	rcx_break(s, code_of(ret), ret, "%s", err);

	return false;
}

void rcx_talk_connected(struct rcx_session *s, int ret, uint64_t agreed,
			const char *err)
{
	struct rcx_msg msg = { .type = RCX_MSG_CONFIRM, .agreed = agreed };

	if (ret) {
		fail_path(s, ret, err);
		return;
	}
	s->agreed = agreed;
	rcx_step(s, RCX_STEP_CONNECTED, "");
	if (rcx_send(s, &msg))
		rcx_enter(s, ST_CONFIRM);
}

static void on_endpoint(struct rcx_session *s, const struct rcx_msg *in)
{
	const struct rcl_path *path = their_path(s);
	char err[RCL_ERR_LEN] = "";
	uint64_t agreed = 0;
	int ret;

	if (in->endpoint.link_layer != path->link_layer ||
	    memcmp(in->endpoint.gid, path->gid, sizeof(path->gid))) {
		protocol_error(s, "ENDPOINT is not on the path that is tried");
		return;
	}
	rcx_step(s, RCX_STEP_OFFERED, "");
	rcx_enter(s, ST_CONNECT);
	ret = s->ops->connect(s->ctx, s->link, s->local.epoch, s->identity,
			      s->role, &in->endpoint, &agreed, err);
	if (ret != RCX_LATER)
		rcx_talk_connected(s, ret, agreed, err);
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
	if (!offer(s))
		return;
	snprintf(msg.link, sizeof(msg.link), "%s", s->wanted);
	msg.paths = s->own;
	msg.rotate = s->rotate;
	if (rcx_send(s, &msg))
		rcx_enter(s, ST_ANSWER);
}

static void on_offer(struct rcx_session *s, const struct rcx_msg *in)
{
	const struct rcx_ids *ids = rcx_conn_ids(s->conn);
	struct rcx_msg msg = { .type = RCX_MSG_ANSWER };
	char err[RCL_ERR_LEN] = "";
	int as;

	as = s->ops->admit(s->ctx, ids, in->link, s->link, err);
	if (as < 0) {
		rcx_break(s, as == -EALREADY ? RCX_CODE_SUPERSEDED :
			     as == -EBUSY ? RCX_CODE_BUSY : RCX_CODE_REFUSED,
			  as, "%s", err);
		return;
	}
	s->identity = ids->id[as];
	s->theirs = in->paths;
	s->rotate = in->rotate;
	if (!offer(s) || !find_paths(s))
		return;
	msg.paths = s->own;
	if (rcx_send(s, &msg))
		try_path(s);
}

static void on_answer(struct rcx_session *s, const struct rcx_msg *in)
{
	s->theirs = in->paths;
	if (find_paths(s))
		try_path(s);
}

void rcx_talk_activated(struct rcx_session *s, int ret, const char *err)
{
	if (ret) {
		fail_path(s, ret, err);
		return;
	}
	rcx_step(s, RCX_STEP_ACTIVATED, "");
	rcx_enter(s, ST_UP);
}

static void on_confirm(struct rcx_session *s, const struct rcx_msg *in)
{
	uint8_t key[RCLINK_KEY_LEN];
	char err[RCL_ERR_LEN] = "";
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
	rcx_enter(s, ST_ACTIVATE);
	ret = s->ops->activate(s->ctx, s->link, s->agreed, key, err);
	OPENSSL_cleanse(key, sizeof(key));
	if (ret != RCX_LATER)
		rcx_talk_activated(s, ret, err);
}

/*
 * s->heard says that DONE came. If it crosses a FAILED that this end sent after
 * its own DONE, the peer has both DONEs, takes the link to be up and is gone.
 */
static void on_done(struct rcx_session *s)
{
	if (s->state == ST_FAILED && s->told_done)
		rcx_break(s, 0, -ENOLINK, "%s", s->report);
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
		[RCX_CODE_SUPERSEDED] = -EALREADY,
		[RCX_CODE_BUSY] = -EBUSY,
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
	char err[RCL_ERR_LEN];

	if (rcx_header_decode(s->in, &s->header, err)) {
		protocol_error(s, err);
	} else if (h->type == RCX_MSG_ERROR) {
		/* Its layout is the same in all versions. */
	} else if (h->type >= 32 || !(wait->messages & 1u << h->type)) {
		rcl_fail(err, 0, "%s (type %u) came while %s",
			 rcx_msg_name(h->type), h->type,
			 wait->waiting);
		protocol_error(s, err);
	} else if (s->heard & 1u << h->type) {
		rcl_fail(err, 0, "%s (type %u) came twice for one path",
			 rcx_msg_name(h->type), h->type);
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
		rcl_fail(err, 0, "%s has version %u, agreed was %u",
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
	if (s->told_done && rcx_peer_done(s)) {
		rcx_step(s, RCX_STEP_DONE, "");
		rcx_end(s, 0, "");
	}
}

void rcx_talk_message(struct rcx_session *s)
{
	char err[RCL_ERR_LEN];
	struct rcx_msg msg;

	if (rcx_msg_decode(s->in, s->in_len, &msg, err)) {
		OPENSSL_cleanse(&msg, sizeof(msg));
		protocol_error(s, err);
		return;
	}
	s->heard |= 1u << msg.type;
	switch (msg.type) {
	case RCX_MSG_WELCOME:
		on_welcome(s, &msg);
		break;
	case RCX_MSG_OFFER:
		on_offer(s, &msg);
		break;
	case RCX_MSG_ANSWER:
		on_answer(s, &msg);
		break;
	case RCX_MSG_ENDPOINT:
		if (s->state != ST_FAILED)
			on_endpoint(s, &msg);
		break;
	case RCX_MSG_CONFIRM:
		if (s->state != ST_FAILED)
			on_confirm(s, &msg);
		break;
	case RCX_MSG_DONE:
		on_done(s);
		break;
	case RCX_MSG_FAILED:
		on_failed(s, &msg);
		break;
	case RCX_MSG_ERROR:
		on_error(s, &msg);
		break;
	}
	OPENSSL_cleanse(&msg, sizeof(msg));
	/* The owner may already have reported `up` from within activate. */
	rcx_talk_up(s);
}

void rcx_talk_start(struct rcx_session *s)
{
	const struct rcx_ids *ids = rcx_conn_ids(s->conn);
	struct rcx_msg msg = {
		.type = RCX_MSG_WELCOME,
		.version_min = RCX_VERSION_MIN,
		.version_max = RCX_VERSION_MAX,
	};

	s->identity = ids->id[ids->wanted];
	rcx_step(s, RCX_STEP_TLS, s->identity);
	if (s->role == RCX_INITIATOR)
		rcx_enter(s, ST_WELCOME);
	else if (rcx_send(s, &msg))
		rcx_enter(s, ST_OFFER);
}

void rcx_talk_down(struct rcx_session *s)
{
	if (s->state >= ST_ENDPOINT && s->state <= ST_UP)
		fail_path(s, -ENOLINK, s->down);
}

void rcx_talk_unproven(struct rcx_session *s)
{
	char why[RCL_ERR_LEN];

	rcl_fail(why, 0, "timed out %s; %s", rcx_wait(s)->waiting,
		 rcx_wait(s)->advice);
	fail_path(s, -ETIMEDOUT, why);
}
