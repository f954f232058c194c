/* SPDX-License-Identifier: GPL-2.0 */
/* The conversation of a session: messages in, messages and calls out. */
#ifndef RCX_TALK_H
#define RCX_TALK_H

#include <stdint.h>

struct rcl_endpoint;
struct rcx_session;

/* The handshake is done: the first word is the responder's. */
void rcx_talk_start(struct rcx_session *s);

/* in[] has a header: break the session off before the body is read? */
void rcx_talk_header(struct rcx_session *s);

/* in[] has one whole message. */
void rcx_talk_message(struct rcx_session *s);

/* In ST_PREPARE and so on: what the owner was at is over, see rcx_ops. */
void rcx_talk_prepared(struct rcx_session *s, int ret,
		       const struct rcl_endpoint *local, const char *err);
void rcx_talk_connected(struct rcx_session *s, int ret, uint64_t agreed,
			const char *err);
void rcx_talk_activated(struct rcx_session *s, int ret, const char *err);

/* The own link may have come up, or the peer's. */
void rcx_talk_up(struct rcx_session *s);

/* The own link went down, as s->down says. */
void rcx_talk_down(struct rcx_session *s);

/* The own link did not come up in its time. */
void rcx_talk_unproven(struct rcx_session *s);

#endif /* RCX_TALK_H */
