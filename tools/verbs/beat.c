// SPDX-License-Identifier: GPL-2.0
#include "beat.h"

#include <errno.h>
#include <sys/random.h>

#include "epoch.h"
#include "process.h"

#define ANSWER_MS	10000	/* for an answer, or the heartbeats if longer */

static uint32_t interval_of(const struct rcv_epoch *ep)
{
	return ep->policy.v[RCL_P_HEARTBEAT];
}

uint64_t rcv_beat_limit(const struct rcv_epoch *ep)
{
	uint64_t beats = interval_of(ep) * ep->policy.v[RCL_P_MISSES];

	return beats > ANSWER_MS ? beats : ANSWER_MS;
}

void rcv_beat_start(struct rcv_epoch *ep)
{
	uint32_t interval = interval_of(ep), eighth = interval / 8;
	uint32_t lot = 0;

	/* Without a random number, beats are only less spread out. */
	if (ep->role == RCLINK_ROLE_INITIATOR &&
	    getrandom(&lot, sizeof(lot), GRND_NONBLOCK) >= 0)
		interval -= eighth + lot % (eighth + 1);
	ep->heartbeat.quiet = 0;
	ep->heartbeat.due = rcl_now() / NS_PER_MS + interval;
}

void rcv_beat_heard(struct rcv_epoch *ep, const struct rcl_msg *msg)
{
	if (rcl_msg_is_answer(msg->type) ||
	    (msg->credits && !ep->ctrl.credit.questions))
		rcv_beat_start(ep);
}

int rcv_beat_message(struct rcv_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_msg answer = {
		.type = RCL_MSG_BEAT_ACK,
		.cookie = msg->cookie,
	};

	if (msg->type == RCL_MSG_BEAT)
		return rcv_ctrl_send(&ep->ctrl, &answer);
	ep->heartbeat.asked = false;
	return 0;
}

static int ask(struct rcv_epoch *ep)
{
	struct rcl_msg beat = { .type = RCL_MSG_BEAT };
	int ret;

	if (ep->ctrl.credit.questions || !rcv_ctrl_can_ask(&ep->ctrl))
		return 0;
	ret = rcv_ctrl_send(&ep->ctrl, &beat);
	if (ret)
		return ret == -EAGAIN ? 0 : ret;
	ep->heartbeat.asked = true;
	return 0;
}

int rcv_beat_look(struct rcv_epoch *ep, uint64_t now)
{
	struct rcv_heartbeat *hb = &ep->heartbeat;
	uint32_t interval = interval_of(ep);
	int ret;

	if (!interval)
		return 0;
	ret = rcv_large_again(ep, now);
	if (ret || now < hb->due)
		return ret;
	/* The first quiet interval ends with the question. */
	if (++hb->quiet >= ep->policy.v[RCL_P_MISSES])
		return -EHOSTDOWN;
	hb->due += interval;
	/* If much later, this process itself stood still. */
	if (hb->quiet == 1 || now + interval / 2 > hb->due)
		hb->due = now + interval;
	return ask(ep);
}

bool rcv_beat_is_alone(const struct rcv_epoch *ep)
{
	return ep->ctrl.credit.questions == (ep->heartbeat.asked ? 1 : 0);
}

uint64_t rcv_beat_due(const struct rcv_epoch *ep)
{
	if (!interval_of(ep))
		return 0;
	return ep->large.due < ep->heartbeat.due ? ep->large.due :
						   ep->heartbeat.due;
}
