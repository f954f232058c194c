// SPDX-License-Identifier: GPL-2.0
/*
 * Flow control. Each end posts RCL_CTRL_SLOTS receives before it tells anybody
 * its QPN, and every message says how many of them were posted again, so a
 * sender knows how many messages the peer can take, and no RNR NAK ever
 * happens.
 *
 * No message exists only to return credits, because none is needed: apart from
 * hello and bye every message is a question or its answer, and an end has at
 * most RCL_CTRL_QUESTIONS questions open. Thus the messages from B whose slots
 * A has not yet returned are at most
 *  - RCL_CTRL_QUESTIONS answers: a question from A returns the slots of all
 *    that A has received before, and is sent only while fewer are open;
 *  - RCL_CTRL_QUESTIONS + 1 questions: an answer from A returns all slots but
 *    that of the question it answers, which is posted again right after it;
 *  - hello, its answer and bye,
 * which makes 16. If an end finds no credit for an answer, its peer asks more
 * than it may.
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
 * rcl_credit_has_places - may that many more questions be sent now?
 * @credit: of this end
 * @places: 1, or more for a caller that leaves some to others
 *
 * One credit is reserved for a bye.
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
 * @credit: has one left, and for a question also a place
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
	/* The cookie field of a hello is no cookie, and is not returned. */
	credit->asked[next % RCL_CTRL_QUESTIONS] = (struct rcl_question){
		.when = now,
		.index = msg->index,
		.cookie = msg->type == RCL_MSG_HELLO ? 0 : msg->cookie,
		.type = msg->type,
	};
	credit->questions++;
}

/* Otherwise a peer could owe one answer for ever, and give others. */
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
 * @arrived: when it came in, in ns as for rcl_credit_sent()
 * @question: set to the question that it answers; type 0 if it is no answer
 *
 * Return: 0, or -EPROTO if no honest peer would say that now.
 */
int rcl_credit_received(struct rcl_credit *credit, const struct rcl_msg *msg,
			u64 arrived, struct rcl_question *question)
{
	question->type = 0;
	if (msg->credits > RCL_CTRL_SLOTS - credit->left)
		return -EPROTO;
	credit->left += msg->credits;
	if (!rcl_msg_is_answer(msg->type))
		return 0;
	/* A cookie can be guessed, so it may have come before its question. */
	if (!rcl_credit_is_next(credit, msg) ||
	    arrived < credit->asked[credit->oldest].when)
		return -EPROTO;
	*question = credit->asked[credit->oldest];
	credit->oldest = (credit->oldest + 1) % RCL_CTRL_QUESTIONS;
	credit->questions--;
	return 0;
}
