/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer for a link of this host, in this process: it has QPs and the link's
 * key, so it can send whatever a test wants, correctly sealed. Functions return
 * 0 or a negative errno.
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
	bool failed;			/* a work request failed */
	struct {
		uint32_t slot, len;
	} in[PEER_SLOTS];		/* a ring: arrived, not yet heard */
	uint32_t arrived, heard;
	uint8_t text[PEER_TEXT];	/* what was heard last */
	uint16_t owed;			/* receives not told to the module */
	uint16_t credits;		/* messages that the module can take */
};

/* Connect a link that is down; the module has @role and says hello. */
int peer_meet(struct peer *p, struct genl_sock *s, const char *link,
	      uint32_t role);
/* The same for a link that is up and is to get another epoch */
int peer_meet_beside(struct peer *p, struct genl_sock *s, const char *link,
		     uint32_t role);
/* Exchange hellos as an honest peer, until the link is up. */
int peer_hello(struct peer *p, struct genl_sock *s, const char *link);
/* Leave without a goodbye. */
void peer_leave(struct peer *p);

/* Send @msg, with the credits that the module is owed. */
int peer_say(struct peer *p, struct rcl_msg *msg);
/* Seal and send any bytes. */
int peer_say_text(struct peer *p, const uint8_t *text, uint32_t len);
/*
 * Write from @from in this end's link buffer to @to in the module's, after all
 * that was said and written before. The bytes must stay until an answer has
 * come.
 */
int peer_write(struct peer *p, uint32_t from, uint32_t to, uint32_t len);
/* Take a receive of the module with something that is no message. */
int peer_write_imm(struct peer *p);
uint8_t *peer_buffer(const struct peer *p);
/* The next message of any type; its data is valid until the next one. */
int peer_hear(struct peer *p, struct rcl_msg *msg, int ms);
/* Hear the next message, which must be of @type. */
int peer_await(struct peer *p, uint8_t type, struct rcl_msg *msg);
/* Replace QP @i of the pool, in INIT; then connect it as the module says. */
int peer_renew(struct peer *p, uint32_t i);
int peer_rewire(struct peer *p, uint32_t i, const struct rcl_msg *msg);

#endif /* PEER_H */
