/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One exchange: the conversation over mutual TLS 1.3 that makes an epoch.
 * It is non-blocking, driven by a libevent base, so that one process can run
 * hundreds. It knows TLS and the messages, but neither netlink nor the kernel:
 * it has its owner do what must be done to the link, through struct rcx_ops.
 */
#ifndef RCX_SESSION_H
#define RCX_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoint.h"
#include "fail.h"

struct event_base;
struct rcl_path;
struct rcx_paths;
struct rcx_session;
struct rcx_tls;

#define RCX_DEFAULT_PORT	7185

#define RCX_IDS_MAX	16	/* of one certificate */

/* Who a peer proved to be: its pin, or all DNS names of its certificate. */
struct rcx_ids {
	unsigned int num;
	unsigned int wanted;	/* index of the one dialled, else 0 */
	char id[RCX_IDS_MAX][RCLINK_PEER_MAX + 1];
};

enum rcx_role {
	RCX_INITIATOR = RCLINK_ROLE_INITIATOR,	/* TLS client */
	RCX_RESPONDER = RCLINK_ROLE_RESPONDER,	/* TLS server */
};

/*
 * The steps, in the order in which a session takes them. FAILED may come
 * after PATHS, once for each path; PREPARED is then the next step, if there is
 * another path.
 */
enum rcx_step {
	RCX_STEP_TCP,		/* TCP connected */
	RCX_STEP_TLS,		/* peer authenticated */
	RCX_STEP_PATHS,		/* both ends know which paths to try */
	RCX_STEP_PREPARED,	/* local QPs in INIT */
	RCX_STEP_OFFERED,	/* both ends have the other's endpoint */
	RCX_STEP_CONNECTED,	/* local QPs in RTR */
	RCX_STEP_CONFIRMED,	/* the peer confirmed its RTR */
	RCX_STEP_ACTIVATED,	/* local QPs in RTS, hello sent */
	RCX_STEP_UP,		/* local link is up */
	RCX_STEP_DONE,		/* the peer said that its link is up, too */
	RCX_STEP_FAILED,	/* not this path; detail says which, and why */
};

/*
 * Returned by prepare, connect and activate: rcx_session_prepared(),
 * _connected() or _activated() will give the result.
 */
#define RCX_LATER	1

/*
 * What a session asks of its owner. Callbacks of type int return 0, or a
 * negative errno with a sentence in err (RCL_ERR_LEN bytes); the session then
 * tells the peer, calls abort if something was prepared, and calls done.
 *
 * prepare, connect and activate are about one path. If one of them fails, or
 * the link goes down, abort is called and then prepare for the next path, until
 * none is left. -EBUSY, -ENOENT and -EPERM are not about the path: these end
 * the session.
 */
struct rcx_ops {
	/*
	 * Responder: find the local link for a peer that proved to be all of
	 * ids and asks for the link called wanted. Fill in link
	 * (RCLINK_NAME_MAX + 1 bytes), and return the index of the id that the
	 * peer is admitted as. -EALREADY, which the peer gets, too: this host
	 * is dialling the peer and goes on with that.
	 */
	int (*admit)(void *ctx, const struct rcx_ids *ids, const char *wanted,
		     char *link, char *err);
	/* Fill in the paths that the link may use here, at least one. */
	int (*offer)(void *ctx, const char *link, struct rcx_paths *paths,
		     char *err);
	/*
	 * path is one of those offered. Returns RCX_LATER if this takes time;
	 * abort may come before it is over.
	 */
	int (*prepare)(void *ctx, const char *link, const struct rcl_path *path,
		       struct rcl_endpoint *local, char *err);
	/*
	 * local_epoch is as prepare gave it; agreed receives the common epoch.
	 * RCX_LATER as with prepare.
	 */
	int (*connect)(void *ctx, const char *link, uint64_t local_epoch,
		       const char *identity, enum rcx_role role,
		       const struct rcl_endpoint *remote, uint64_t *agreed,
		       char *err);
	/*
	 * RCX_LATER as with prepare. From then on the owner calls
	 * rcx_session_link_up() or _link_down().
	 */
	int (*activate)(void *ctx, const char *link, uint64_t epoch,
			const uint8_t key[RCLINK_KEY_LEN], char *err);
	/*
	 * Undo prepare and all since then: the exchange failed before the link
	 * was up, or the path did not work for one of the ends.
	 */
	void (*abort)(void *ctx, const char *link);
	/* For a person to watch; detail may be "". */
	void (*step)(void *ctx, enum rcx_step step, const char *detail);
	/*
	 * Called exactly once, last; the session is freed after it returns.
	 * result 0: both ends are up. err is "" then.
	 */
	void (*done)(void *ctx, int result, const char *err);
};

/*
 * Start an exchange as initiator with host:port, asking for the peer's link
 * called wanted. Returns NULL with a sentence in err. Every step has a time
 * limit; timeout_ms limits the whole exchange. Callbacks come from the event
 * loop, and from the calls at the end of this file.
 */
struct rcx_session *rcx_session_dial(struct event_base *base,
				     struct rcx_tls *tls, const char *host,
				     uint16_t port, const char *link,
				     const char *wanted, int timeout_ms,
				     const struct rcx_ops *ops, void *ctx,
				     char *err);

/*
 * Start an exchange as responder on an accepted socket. The socket is taken
 * over in any case: it is closed if NULL is returned.
 */
struct rcx_session *rcx_session_accept(struct event_base *base,
				       struct rcx_tls *tls, int fd,
				       int timeout_ms,
				       const struct rcx_ops *ops, void *ctx,
				       char *err);

/*
 * To be called after rcx_session_dial(): the link is to stay up until the new
 * epoch is. The OFFER tells the other end.
 */
void rcx_session_rotate(struct rcx_session *s);
bool rcx_session_rotates(const struct rcx_session *s);

/* Who the peer proved to be, from RCX_STEP_TLS on. */
const struct rcx_ids *rcx_session_ids(const struct rcx_session *s);

/* What returned RCX_LATER is over; the arguments are as there. */
void rcx_session_prepared(struct rcx_session *s, int ret,
			  const struct rcl_endpoint *local, const char *err);
void rcx_session_connected(struct rcx_session *s, int ret, uint64_t agreed,
			   const char *err);
void rcx_session_activated(struct rcx_session *s, int ret, const char *err);

/*
 * The kernel said that the link of this session is up, or went down. Like
 * cancel, these may be called from within a callback other than done, and may
 * call done before they return, after which the session is gone.
 */
void rcx_session_link_up(struct rcx_session *s);
void rcx_session_link_down(struct rcx_session *s, const char *reason);

/*
 * Give up now, and tell the peer reason; calls abort and done. If called within
 * a callback, they come once that has returned, else before cancel returns.
 */
void rcx_session_cancel(struct rcx_session *s, const char *reason);

#endif /* RCX_SESSION_H */
