/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The other end of a link of this host: QPs of this process, with the key of
 * the link, so that it says whatever a test wants, well sealed. Functions
 * return 0 or a negative errno.
 */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "../../kmod/msg.h"
#include "../../tools/verbs/cq.h"
#include "../../tools/verbs/hca.h"
#include "../../tools/verbs/rc.h"
#include "../../tools/verbs/seal.h"
#include "rcl.h"

#define PEER_QPS	2	/* in the pool */
#define PEER_SLOTS	16	/* receives that an end has posted */
#define PEER_SENDS	64	/* that may not have completed */
#define PEER_BUFFER	65536	/* bytes of its link buffer */
#define PEER_TEXT	(RCL_MSG_HEAD + RCL_MSG_BODY_MAX)

struct peer {
	struct rcv_hca hca;
	struct ibv_pd *pd;
	struct rcv_cq cq;		/* of the control QP */
	struct rcv_cq pool_cq;
	struct rcv_qp qp[1 + PEER_QPS];	/* the control QP first */
	struct rcv_wiring wiring;
	uint8_t *mem;			/* receives, sends, link buffer */
	struct ibv_mr *mr;
	struct rcv_seal seal;
	struct rcl_end end;		/* the module's */
	uint32_t sent, completed;
	bool failed;			/* a work request did */
	struct {
		uint32_t slot, len;
	} in[PEER_SLOTS];		/* a ring: arrived, not yet heard */
	uint32_t arrived, heard;
	uint8_t text[PEER_TEXT];	/* what was heard last */
	uint16_t owed;			/* receives that it does not know of */
	uint16_t credits;		/* that it has for us */
};

/* Connect a link that is down; the module has that role, and says hello. */
int peer_meet(struct peer *p, struct genl_sock *s, const char *link,
	      uint32_t role);
/* The same of one that is up, which is to have another epoch. */
int peer_meet_beside(struct peer *p, struct genl_sock *s, const char *link,
		     uint32_t role);
/* Until the link is up, as an honest peer. */
int peer_hello(struct peer *p, struct genl_sock *s, const char *link);
/* Gone, without a word. */
void peer_leave(struct peer *p);

/* With the credits that it is owed, as it is. */
int peer_say(struct peer *p, struct rcl_msg *msg);
/* Any bytes. */
int peer_say_text(struct peer *p, const uint8_t *text, uint32_t len);
/*
 * From there in its link buffer to there in the module's, behind what was said
 * and written before; the bytes stay until an answer has come.
 */
int peer_write(struct peer *p, uint32_t from, uint32_t to, uint32_t len);
/* What takes a receive of the module's, and is no message. */
int peer_write_imm(struct peer *p);
uint8_t *peer_buffer(const struct peer *p);
/* What comes next, whatever it is; its data is good until the next one. */
int peer_hear(struct peer *p, struct rcl_msg *msg, int ms);
/* That it is of that type, in front of which there may be heartbeats. */
int peer_await(struct peer *p, uint8_t type, struct rcl_msg *msg);
/* Another QP for that number of the pool, in INIT; then as the module says. */
int peer_renew(struct peer *p, uint32_t i);
int peer_rewire(struct peer *p, uint32_t i, const struct rcl_msg *msg);

#endif /* PEER_H */
