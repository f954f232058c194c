/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which messages an end of a control channel may send: pure accounting, done
 * alike by the module and by userspace.
 */
#ifndef RCL_CREDIT_H
#define RCL_CREDIT_H

#include <linux/types.h>

struct rcl_msg;

#define RCL_CTRL_SLOTS		16	/* receives, and sends in flight */
#define RCL_CTRL_SIGNAL		4	/* sends that one completion retires */
#define RCL_CTRL_QUESTIONS	6	/* questions without an answer */

/**
 * struct rcl_question - a question that has not been answered yet
 * @when: time when it was sent, in ns
 * @index: repeated by the answer, if that is about a pooled QP
 * @cookie: repeated by the answer; 0 for a hello
 * @type: its type; the answer has the next one
 */
struct rcl_question {
	u64 when;
	u32 index;
	u32 cookie;
	u8 type;
};

/**
 * struct rcl_credit - what an end may send, and what it must say
 * @left: receives that the peer has posted for this end
 * @owed: receives posted again that the peer does not know of yet
 * @questions: number of questions sent and not answered
 * @oldest: index in @asked of the question to be answered next
 * @asked: a ring of the unanswered ones, because answers come in the order of
 *	their questions
 */
struct rcl_credit {
	u16 left;
	u16 owed;
	u16 questions;
	u16 oldest;
	struct rcl_question asked[RCL_CTRL_QUESTIONS];
};

void rcl_credit_init(struct rcl_credit *credit);
bool rcl_credit_has_places(const struct rcl_credit *credit, u32 places);
void rcl_credit_sent(struct rcl_credit *credit, struct rcl_msg *msg, u64 now);
int rcl_credit_received(struct rcl_credit *credit, const struct rcl_msg *msg,
			u64 arrived, struct rcl_question *question);

#endif /* RCL_CREDIT_H */
