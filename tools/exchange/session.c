// SPDX-License-Identifier: GPL-2.0
/*
 * The conversation, with one state per thing to wait for. Whatever happens to a
 * session (bytes, time, the dialler, calls by its owner) leaves a mark in the
 * struct and calls run(), which moves the session on as far as it can go. If
 * the owner calls in from one of its own callbacks, the run() that is already
 * on the stack picks up the mark.
 *
 *	initiator			responder
 *	DIAL
 *	TLS				TLS
 *	WELCOME		<- WELCOME --
 *	(offer)		-- OFFER ->	OFFER
 *					(admit, offer)
 *	ANSWER		<- ANSWER --
 *	PREPARE				PREPARE
 *	ENDPOINT	<- ENDPOINT ->	ENDPOINT
 *	CONNECT				CONNECT
 *	CONFIRM		<- CONFIRM ->	CONFIRM
 *	ACTIVATE			ACTIVATE
 *	UP		<- DONE ->	UP
 *	CLOSE				CLOSE
 *
 * PREPARE to UP are about one path. An end that finds that it does not work
 * undoes it, sends FAILED, and waits for the peer's FAILED; then both go on
 * with PREPARE for the next one.
 *
 * The responder sends ANSWER before its own prepare, so that both ends work on
 * their QPs at the same time. A failed session tells the peer why, undoes what
 * was prepared, and lingers until the peer has read the reason: closing a
 * socket with unread bytes would send a reset that overtakes it.
 */
#include "session.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <openssl/crypto.h>

#include "core.h"
#include "dial.h"
#include "fail.h"
#include "talk.h"
#include "tls.h"

#define READS_MAX	64	/* in one turn of the loop */

/* The connection is broken: say how, when, and where to look. */
static void broken(struct rcx_session *s, enum rcx_io io)
{
	if (io == RCX_IO_CLOSED)
		rcx_break(s, 0, -ECONNRESET,
			  "the peer closed the connection while %s; %s",
		     rcx_wait(s)->waiting, rcx_wait(s)->advice);
	else
		rcx_break(s, 0, -ECONNABORTED, "%s (while %s)",
			  rcx_conn_error(s->conn), rcx_wait(s)->waiting);
}

/* Never reads beyond the current message, so one buffer is enough. */
static void receive(struct rcx_session *s)
{
	unsigned int reads = 0;
	size_t want, n;
	enum rcx_io io;

	while (s->state > ST_TLS && s->state < ST_CLOSE &&
	       !rcx_asks_owner(s)) {
		/* No event reports what TLS has already read. */
		if (reads++ >= READS_MAX && !rcx_conn_pending(s->conn))
			return;
		want = s->in_len < RCX_HEADER_LEN ? RCX_HEADER_LEN :
		       s->header.size;
		io = rcx_conn_read(s->conn, s->in + s->in_len,
				   want - s->in_len, &n);
		if (io == RCX_IO_WRITE)
			s->want_write = true;
		if (io == RCX_IO_READ || io == RCX_IO_WRITE)
			return;
		if (io != RCX_IO_DONE) {
			broken(s, io);
			return;
		}
		s->in_len += n;
		if (s->in_len == RCX_HEADER_LEN) {
			rcx_talk_header(s);
			want = s->header.size;
		}
		if (s->state < ST_CLOSE && s->in_len == want) {
			rcx_talk_message(s);
			s->in_len = 0;
		}
	}
}

static void handshake(struct rcx_session *s)
{
	enum rcx_io io = rcx_conn_handshake(s->conn);

	if (io == RCX_IO_WRITE)
		s->want_write = true;
	if (io == RCX_IO_READ || io == RCX_IO_WRITE)
		return;
	if (io == RCX_IO_DONE)
		rcx_talk_start(s);
	else
		broken(s, io);
}

/*
 * Time is up only once the timer has fired, which comes after what could be
 * read: if this process did not run for a while, the peer is not to blame.
 */
static void check_limits(struct rcx_session *s)
{
	int64_t now = rcx_now_ms();

	if (s->canceled)
		rcx_break(s, RCX_CODE_CANCELED, -ECANCELED, "%s", s->gone);
	else if (s->down[0] && !rcx_asks_owner(s))
		rcx_talk_down(s);
	else if (s->ticked && s->state == ST_UP && !s->link_up &&
		 now >= s->proof_deadline)
		rcx_talk_unproven(s);
	else if (s->ticked && s->state < ST_CLOSE &&
		 (now >= s->deadline || now >= s->step_deadline))
		rcx_break(s, RCX_CODE_TIMEOUT, -ETIMEDOUT, "timed out %s; %s",
			  rcx_wait(s)->waiting, rcx_wait(s)->advice);
	s->ticked = false;
}

/* Let the peer read everything before the socket goes, but not for ever. */
static void close_down(struct rcx_session *s)
{
	enum rcx_io io = rcx_flush(s);

	s->want_write = io == RCX_IO_WRITE;
	if (io == RCX_IO_DONE && !s->finished) {
		rcx_conn_finish(s->conn);
		s->finished = true;
	}
	if (s->finished)
		io = rcx_conn_drain(s->conn);
	if (io == RCX_IO_CLOSED || io == RCX_IO_FAILED || s->canceled ||
	    rcx_now_ms() >= s->step_deadline)
		s->state = ST_FREE;
}

/* Not called by rcx_session_accept(): its caller has no session yet. */
static void announce(struct rcx_session *s)
{
	s->announced = true;
	rcx_step(s, RCX_STEP_TCP, "");
}

static void advance(struct rcx_session *s)
{
	s->want_write = false;
	check_limits(s);
	if (s->conn && !s->announced)
		announce(s);
	if (s->state == ST_TLS)
		handshake(s);
	if (s->state > ST_TLS && s->state < ST_CLOSE) {
		rcx_flush(s);
		rcx_talk_up(s);
		receive(s);
	}
	if (s->state == ST_CLOSE)
		close_down(s);
}

/*
 * Never rearmed for the same moment: that would put off a timer that is due but
 * not called yet, so a peer that keeps us reading could put it off for ever.
 */
static void arm_timer(struct rcx_session *s, int64_t until)
{
	int64_t left = until - rcx_now_ms();
	struct timeval tv;

	if (until == s->armed && event_pending(s->timer, EV_TIMEOUT, NULL))
		return;
	if (left < 0)
		left = 0;
	tv.tv_sec = left / 1000;
	tv.tv_usec = left % 1000 * 1000;
	event_add(s->timer, &tv);
	s->armed = until;
}

static void arm(struct rcx_session *s)
{
	int64_t until = s->step_deadline;

	if (s->state < ST_CLOSE && s->deadline < until)
		until = s->deadline;
	if (s->state == ST_UP && !s->link_up && s->proof_deadline < until)
		until = s->proof_deadline;
	arm_timer(s, until);
	/* What can be read only once somebody else has acted is no news. */
	if (rcx_asks_owner(s) || s->want_write)
		event_del(s->readable);
	else if (s->readable)
		event_add(s->readable, NULL);
	if (s->writable && (s->want_write || s->out_len))
		event_add(s->writable, NULL);
}

static void release(struct rcx_session *s)
{
	if (s->readable)
		event_free(s->readable);
	if (s->writable)
		event_free(s->writable);
	if (s->timer)
		event_free(s->timer);
	rcx_dial_free(s->dial);
	rcx_conn_free(s->conn);
	rcx_tls_free(s->tls);
	OPENSSL_cleanse(s, sizeof(*s));
	free(s);
}

static void run(struct rcx_session *s)
{
	if (s->running) {
		s->rerun = true;
		return;
	}
	s->running = true;
	do {
		s->rerun = false;
		advance(s);
	} while (s->rerun);
	if (s->state == ST_FREE) {
		s->ops->done(s->ctx, s->result, s->err);
		release(s);
		return;
	}
	s->running = false;
	arm(s);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	struct rcx_session *s = arg;

	(void)fd;
	s->ticked |= !!(what & EV_TIMEOUT);
	run(s);
}

/* The TCP connection is made; the session owns it from now on. */
static int begin(struct rcx_session *s, int fd, char *err)
{
	int one = 1;

	evutil_make_socket_nonblocking(fd);
	/* A message must not wait for the acknowledgment of the one before. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	s->conn = rcx_conn_new(s->tls, fd, err);
	if (!s->conn)
		return -ENOMEM;
	s->readable = event_new(s->base, fd, EV_READ | EV_PERSIST, on_event, s);
	s->writable = event_new(s->base, fd, EV_WRITE, on_event, s);
	if (!s->readable || !s->writable || event_add(s->readable, NULL))
		return rcl_fail(err, -ENOMEM, "out of memory for a session");
	rcx_enter(s, ST_TLS);

	return 0;
}

static void on_dial(void *ctx, int fd, const char *why)
{
	struct rcx_session *s = ctx;
	char err[RCL_ERR_LEN];

	rcx_dial_free(s->dial);
	s->dial = NULL;
	if (fd < 0)
		rcx_end(s, -EHOSTUNREACH, why);
	else if (begin(s, fd, err))
		rcx_end(s, -ENOMEM, err);
	run(s);
}

static struct rcx_session *create(struct event_base *base, struct rcx_tls *tls,
				  int timeout_ms, const struct rcx_ops *ops,
				  void *ctx, char *err)
{
	struct rcx_session *s = calloc(1, sizeof(*s));

	if (s)
		s->timer = evtimer_new(base, on_event, s);
	if (!s || !s->timer) {
		free(s);
		rcl_fail(err, -ENOMEM, "out of memory for a session");
		return NULL;
	}
	s->base = base;
	s->tls = rcx_tls_hold(tls);
	s->ops = ops;
	s->ctx = ctx;
	s->deadline = rcx_now_ms() + timeout_ms;

	return s;
}

struct rcx_session *rcx_session_dial(struct event_base *base,
				     struct rcx_tls *tls, const char *host,
				     uint16_t port, const char *link,
				     const char *wanted, int timeout_ms,
				     const struct rcx_ops *ops, void *ctx,
				     char *err)
{
	struct rcx_session *s;

	if (rcx_name_check(link, strlen(link), err) ||
	    rcx_name_check(wanted, strlen(wanted), err))
		return NULL;
	s = create(base, tls, timeout_ms, ops, ctx, err);
	if (!s)
		return NULL;
	s->role = RCX_INITIATOR;
	snprintf(s->link, sizeof(s->link), "%s", link);
	snprintf(s->wanted, sizeof(s->wanted), "%s", wanted);
	rcx_enter(s, ST_DIAL);
	s->dial = rcx_dial_start(base, host, port, timeout_ms, on_dial, s, err);
	if (!s->dial) {
		release(s);
		return NULL;
	}
	arm(s);

	return s;
}

struct rcx_session *rcx_session_accept(struct event_base *base,
				       struct rcx_tls *tls, int fd,
				       int timeout_ms,
				       const struct rcx_ops *ops, void *ctx,
				       char *err)
{
	struct rcx_session *s;

	s = create(base, tls, timeout_ms, ops, ctx, err);
	if (!s) {
		close(fd);
		return NULL;
	}
	s->role = RCX_RESPONDER;
	if (begin(s, fd, err)) {
		release(s);
		return NULL;
	}
	arm(s);

	return s;
}

void rcx_session_rotate(struct rcx_session *s)
{
	s->rotate = true;
}

const struct rcx_ids *rcx_session_ids(const struct rcx_session *s)
{
	return rcx_conn_ids(s->conn);
}

bool rcx_session_rotates(const struct rcx_session *s)
{
	return s->rotate;
}

void rcx_session_prepared(struct rcx_session *s, int ret,
			  const struct rcl_endpoint *local, const char *err)
{
	bool running = s->running;

	if (s->state != ST_PREPARE)
		return;
	s->running = true;
	rcx_talk_prepared(s, ret, local, err);
	s->running = running;
	run(s);
}

void rcx_session_connected(struct rcx_session *s, int ret, uint64_t agreed,
			   const char *err)
{
	bool running = s->running;

	if (s->state != ST_CONNECT)
		return;
	s->running = true;
	rcx_talk_connected(s, ret, agreed, err);
	s->running = running;
	run(s);
}

void rcx_session_activated(struct rcx_session *s, int ret, const char *err)
{
	bool running = s->running;

	if (s->state != ST_ACTIVATE)
		return;
	s->running = true;
	rcx_talk_activated(s, ret, err);
	s->running = running;
	run(s);
}

void rcx_session_link_up(struct rcx_session *s)
{
	/* A late report about an older epoch must not count. */
	if (s->state != ST_ACTIVATE && s->state != ST_UP)
		return;
	s->link_up = true;
	run(s);
}

void rcx_session_link_down(struct rcx_session *s, const char *reason)
{
	if (s->prepared)
		rcl_fail(s->down, 0, "the link went down: %s", reason);
	run(s);
}

void rcx_session_cancel(struct rcx_session *s, const char *reason)
{
	rcl_fail(s->gone, 0, "%s", reason);
	s->canceled = true;
	run(s);
}
