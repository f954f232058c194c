/* SPDX-License-Identifier: GPL-2.0 */
/* The conversation of a session: messages in, messages and calls out. */
#ifndef RCX_TALK_H
#define RCX_TALK_H

#include <stdint.h>

struct rcl_endpoint;
struct rcx_session;

/* The handshake is done: the responder speaks first. */
void rcx_talk_start(struct rcx_session *s);

/* in[] has a header: end the session, before the body is read, if it is bad. */
void rcx_talk_header(struct rcx_session *s);

/* in[] has one whole message. */
void rcx_talk_message(struct rcx_session *s);

/* In ST_PREPARE and so on: the owner has done its part, see rcx_ops. */
void rcx_talk_prepared(struct rcx_session *s, int ret,
		       const struct rcl_endpoint *local, const char *err);
void rcx_talk_connected(struct rcx_session *s, int ret, uint64_t agreed,
			const char *err);
void rcx_talk_activated(struct rcx_session *s, int ret, const char *err);

/* This end's link may have come up, or the peer's. */
void rcx_talk_up(struct rcx_session *s);

/* This end's link went down; s->down says why. */
void rcx_talk_down(struct rcx_session *s);

/* This end's link did not come up in time. */
void rcx_talk_unproven(struct rcx_session *s);

#endif /* RCX_TALK_H */
