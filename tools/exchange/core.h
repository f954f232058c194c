/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of a session, for the three files that implement it: session.c
 * drives it, talk.c knows what the messages mean, core.c ends it and sends.
 * Each calls only those after it.
 */
#ifndef RCX_CORE_H
#define RCX_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "codec.h"
#include "conn.h"
#include "session.h"

/* Each message once, those about a path once per path. */
#define RCX_OUT_MAX	((3 + 4 * RCX_TRIES_MAX) * RCX_ENCODED_MAX)

struct event;

enum rcx_state {
	ST_DIAL,
	ST_TLS,
	ST_WELCOME,
	ST_OFFER,
	ST_ANSWER,
	ST_PREPARE,	/* the owner prepares: nothing is read */
	ST_ENDPOINT,
	ST_CONNECT,	/* the owner connects: nothing is read */
	ST_CONFIRM,
	ST_ACTIVATE,	/* the owner activates: nothing is read */
	ST_UP,		/* for this end's kernel and the peer's DONE */
	ST_FAILED,	/* until the peer has given up this path, too */
	ST_CLOSE,	/* result is known; until the peer has read all */
	ST_FREE,
};

/* What to say if something does not come, and where to look. */
struct rcx_wait {
	const char *waiting;
	const char *advice;
	uint32_t messages;	/* bit per type that may come, besides ERROR */
};

struct rcx_session {
	struct event_base *base;
	struct rcx_tls *tls;
	const struct rcx_ops *ops;
	void *ctx;
	enum rcx_role role;
	enum rcx_state state;

	struct rcx_dial *dial;
	struct rcx_conn *conn;
	struct event *readable;
	struct event *writable;
	struct event *timer;
	int64_t deadline;	/* of the whole session, ms */
	int64_t step_deadline;	/* of this state, ms */
	int64_t proof_deadline;	/* in ST_UP: of this end's link, ms */
	int64_t armed;		/* what the timer is set to, ms */

	bool running;		/* the owner may be called: it must wait */
	bool rerun;		/* something happened meanwhile */
	bool announced;		/* told the owner about the connection */
	bool ticked;		/* the timer fired */
	bool rotate;		/* the link stays up until the new epoch is */
	bool want_write;	/* TLS cannot go on before it has written */
	bool link_up;
	bool canceled;
	char gone[RCL_ERR_LEN];	/* why the owner wants it to end */
	char down[RCL_ERR_LEN];	/* why this end's link is gone, or "" */

	bool prepared;		/* abort would have something to undo */
	bool told_done;
	bool finished;		/* told the peer that nothing more comes */
	uint32_t version;	/* chosen; 0 before */
	char link[RCLINK_NAME_MAX + 1];
	char wanted[RCLINK_NAME_MAX + 1];
	const char *identity;	/* of the peer, in conn */
	struct rcx_paths own;
	struct rcx_paths theirs;
	struct rcx_pair pairs[RCX_TRIES_MAX];
	unsigned int npairs;
	unsigned int at;	/* the pair being tried */
	uint32_t heard;		/* bit per type that came for it */
	char report[RCL_ERR_LEN]; /* of the paths that failed, and why */
	char reason[RCL_ERR_LEN]; /* of the last one of them */
	struct rcl_endpoint local;
	uint64_t agreed;

	int result;
	char err[RCL_ERR_LEN];

	struct rcx_header header; /* of in[], once that has 8 bytes */
	size_t in_len;
	size_t out_len;
	uint8_t in[RCX_MSG_MAX];
	uint8_t out[RCX_OUT_MAX];
};

int64_t rcx_now_ms(void);
void rcx_enter(struct rcx_session *s, enum rcx_state state);
void rcx_step(struct rcx_session *s, enum rcx_step step, const char *detail);

/* In ST_UP: the peer has said DONE, its link is up. */
static inline bool rcx_peer_done(const struct rcx_session *s)
{
	return s->heard & 1u << RCX_MSG_DONE;
}

/* What the session waits for. */
const struct rcx_wait *rcx_wait(const struct rcx_session *s);

/* Does it wait for its owner? Then all but time and cancel must wait. */
bool rcx_asks_owner(const struct rcx_session *s);

/* Queue msg and send what can be sent at once. False: the session ends. */
bool rcx_send(struct rcx_session *s, struct rcx_msg *msg);

/*
 * On a broken connection, drops what is left to send. Reporting the error is up
 * to the next read, because the peer may have said why.
 */
enum rcx_io rcx_flush(struct rcx_session *s);

/* Settle the result; only the first call counts. */
void rcx_end(struct rcx_session *s, int result, const char *err);

/* End with an error, and tell the peer unless code is 0. */
__attribute__((format(printf, 4, 5)))
void rcx_break(struct rcx_session *s, enum rcx_code code, int result,
	       const char *fmt, ...);

#endif /* RCX_CORE_H */
