/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device without a wire, in place of libibverbs and of hca.c. It keeps what
 * is posted and completes a signaled send at once; the test says what comes in.
 * Only fake_arrive() writes to memory.
 */
#ifndef VERBS_FAKE_H
#define VERBS_FAKE_H

#include <stdbool.h>
#include <stdint.h>

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

/* Sends, of which the test has looked at some, and posted receives. */
struct fake_qp {
	struct ibv_qp qp;
	struct fake_send send[FAKE_POSTS];
	unsigned int sent, seen;
	struct fake_recv recv[FAKE_POSTS];
	unsigned int posted, used;
};

/* The control QP; it stays when its epoch is freed. */
extern struct fake_qp fake_ctrl;
extern uint64_t fake_now;	/* ns, what rcl_now() returns */
extern bool fake_mute;		/* nothing that is sent is acknowledged */
extern bool fake_gone;		/* the device was removed */
extern int fake_no_send, fake_no_recv;	/* how posting fails; 0: it does not */

static inline struct fake_qp *fake_qp(struct ibv_qp *qp)
{
	return (struct fake_qp *)qp;
}

/* The next send that the test has not looked at; NULL if there is none. */
const struct fake_send *fake_sent(struct fake_qp *qp);

/* Complete a receive with @status, and with @bytes if they are not NULL. */
void fake_arrive(struct fake_qp *qp, enum ibv_wc_status status,
		 const void *bytes, uint32_t len);

#endif /* VERBS_FAKE_H */
