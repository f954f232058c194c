/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device without a wire, in place of libibverbs and of hca.c: what is posted
 * is kept, a send that is to complete does so at once, and the test says what
 * comes in. Nothing is ever written to memory but by fake_arrive().
 */
#ifndef VERBS_FAKE_H
#define VERBS_FAKE_H

#include <infiniband/verbs.h>

#define FAKE_VENDOR_ERR	0x81
#define FAKE_POSTS	128
#define FAKE_BYTES	512	/* of a send that are kept */

struct fake_send {
	uint32_t opcode;	/* enum ibv_wr_opcode */
	uint32_t len;
	uint8_t bytes[FAKE_BYTES];
};

struct fake_recv {
	uint64_t wr_id;
	void *to;
};

/* What was sent and not looked at yet; and where what comes goes to. */
struct fake_qp {
	struct ibv_qp qp;
	struct fake_send send[FAKE_POSTS];
	unsigned int sent, seen;
	struct fake_recv recv[FAKE_POSTS];
	unsigned int posted, used;
};

/* The control QP, also of an epoch that was freed. */
extern struct fake_qp fake_ctrl;
extern uint64_t fake_now;	/* ns, what rcl_now() says */

static inline struct fake_qp *fake_qp(struct ibv_qp *qp)
{
	return (struct fake_qp *)qp;
}

/* The next one that was sent; NULL: there is none. */
const struct fake_send *fake_sent(struct fake_qp *qp);

/* A receive completes so, with these bytes if they are not NULL. */
void fake_arrive(struct fake_qp *qp, enum ibv_wc_status status,
		 const void *bytes, uint32_t len);

#endif /* VERBS_FAKE_H */
