// SPDX-License-Identifier: GPL-2.0
/*
 * Flow control. Each end posts RCL_CTRL_SLOTS receives before it tells its QPN
 * to anybody, and every message says how many of them were posted again, so a
 * sender knows how many messages the peer can take, and no RNR NAK ever
 * happens.
 *
 * No message exists only to return credits, because none is needed: apart from
 * hello and bye every message is a question or its answer, and an end has at
 * most RCL_CTRL_QUESTIONS questions open. Of B's messages whose slots A has not
 * yet returned there are thus at most
 *  - RCL_CTRL_QUESTIONS answers: a question of A returns the slots of all that
 *    A has received before, and it is sent only while fewer are open;
 *  - RCL_CTRL_QUESTIONS + 1 questions: an answer of A returns all slots but the
 *    one of its own question, which is posted again right after it;
 * beside hello, its answer and bye: 16. An end that finds no credit for an
 * answer has a peer that asks more than it may.
 */
#include "credit.h"

#include <linux/errno.h>
#include <linux/string.h>

#include "msg.h"

/**
 * rcl_credit_init - both ends have posted all their receives
 * @credit: to be set
 */
void rcl_credit_init(struct rcl_credit *credit)
{
	memset(credit, 0, sizeof(*credit));
	credit->left = RCL_CTRL_SLOTS;
}

/**
 * rcl_credit_has_places - may so many more questions be sent now?
 * @credit: of this end
 * @places: 1, or more for who leaves some to others
 *
 * One credit is kept: for a bye.
 *
 * Return: false when an answer must come in first.
 */
bool rcl_credit_has_places(const struct rcl_credit *credit, u32 places)
{
	return credit->questions + places <= RCL_CTRL_QUESTIONS &&
	       credit->left > places;
}

static bool rcl_credit_is_question(u8 type)
{
	return !rcl_msg_is_answer(type) && type != RCL_MSG_BYE;
}

/**
 * rcl_credit_sent - account for a message that is about to be sent
 * @credit: with one left; for a question, with a place
 * @msg: its credits are filled in
 * @now: in ns
 */
void rcl_credit_sent(struct rcl_credit *credit, struct rcl_msg *msg, u64 now)
{
	u32 next = credit->oldest + credit->questions;

	msg->credits = credit->owed;
	credit->owed = 0;
	credit->left--;
	if (!rcl_credit_is_question(msg->type))
		return;
	/* The cookie of a hello is none, and is not returned. */
	credit->asked[next % RCL_CTRL_QUESTIONS] = (struct rcl_question){
		.when = now,
		.index = msg->index,
		.cookie = msg->type == RCL_MSG_HELLO ? 0 : msg->cookie,
		.type = msg->type,
	};
	credit->questions++;
}

/* Else a peer could owe one for ever, and answer others. */
static bool rcl_credit_is_next(const struct rcl_credit *credit,
			       const struct rcl_msg *msg)
{
	const struct rcl_question *asked = &credit->asked[credit->oldest];

	return credit->questions && msg->type == asked->type + 1 &&
	       msg->cookie == asked->cookie &&
	       (!rcl_msg_is_of_lease(msg->type) ||
		msg->index == asked->index);
}

/**
 * rcl_credit_received - account for a message that has come in
 * @credit: of this end
 * @msg: authentic
 * @question: set to what it answers; of no type when it is no answer
 *
 * Return: 0, or -EPROTO when no honest peer says that now.
 */
int rcl_credit_received(struct rcl_credit *credit, const struct rcl_msg *msg,
			struct rcl_question *question)
{
	question->type = 0;
	if (msg->credits > RCL_CTRL_SLOTS - credit->left)
		return -EPROTO;
	credit->left += msg->credits;
	if (!rcl_msg_is_answer(msg->type))
		return 0;
	if (!rcl_credit_is_next(credit, msg))
		return -EPROTO;
	*question = credit->asked[credit->oldest];
	credit->oldest = (credit->oldest + 1) % RCL_CTRL_QUESTIONS;
	credit->questions--;
	return 0;
}
