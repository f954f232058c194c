// SPDX-License-Identifier: GPL-2.0
/*
 * A sign of the peer is a sealed message which shows that the peer hears this
 * end, too: an answer, or anything that returns a credit, because the peer has
 * then read what took that credit. While the peer owes an answer, only an
 * answer counts: a credit may be for something that was read before the path to
 * the peer was cut. So one round trip is a sign for both ends: BEAT returns the
 * credit of the other end's last message, and BEAT_ACK is an answer. It does
 * not matter which end asks, so the initiator does, some time before its
 * interval ends. It draws the moment at random, so that many links do not all
 * ask at once, but from a few moments that all links share, four to eight in
 * each interval, so that an idle processor does not wake for each link
 * separately. The other end asks if no question comes, or only too seldom.
 *
 * An interval begins anew with every sign. If one ends without a sign, the
 * peer is asked, unless a question of any kind is open already: RC keeps the
 * order and loses nothing, so a second one would show no more than the first. A
 * heartbeat thus takes no credit that others wait for.
 *
 * Heartbeats are small. A large packet in each interval shows that large ones
 * get through, too (probe.c).
 *
 * What counts is how many intervals have ended, not how much time has passed,
 * and everything that has come in is read first: if this host itself stood
 * still, that counts as one interval, however long it was.
 *
 * All of it runs in the link's work item.
 */
#include "heartbeat.h"

#include <linux/log2.h>
#include <linux/random.h>

#include "due.h"
#include "epoch.h"
#include "msg.h"
#include "probe.h"
#include "stats.h"

#define RCL_AGAIN_MS	1000	/* between two reported wishes of the peer */
#define RCL_ANSWER_MS	10000	/* for an answer of the peer's kernel */

/* A moment in the last three eighths of the interval that begins now. */
static u64 rcl_heartbeat_moment(u64 end, u32 interval)
{
	u32 quarter = interval / 4;
	u32 apart;

	if (quarter < 2)
		return end;
	apart = rounddown_pow_of_two(quarter);
	end -= quarter / 2 + get_random_u32() % (quarter / 2 + 1);
	return round_up(end - apart / 2, apart);
}

static unsigned long rcl_heartbeat_interval(const struct rcl_epoch *ep)
{
	return msecs_to_jiffies(ep->policy.v[RCL_P_HEARTBEAT]);
}

/**
 * rcl_heartbeat_limit - how long may the peer owe anything?
 * @ep: of a link
 *
 * Return: the limit in milliseconds, no less than the silence that heartbeats
 * tolerate.
 */
unsigned int rcl_heartbeat_limit(const struct rcl_epoch *ep)
{
	return max_t(u32, RCL_ANSWER_MS, ep->policy.v[RCL_P_HEARTBEAT] *
		     ep->policy.v[RCL_P_MISSES]);
}

/**
 * rcl_heartbeat_start - begin an interval, after a sign of the peer just now
 * @ep: of a link that is up
 */
void rcl_heartbeat_start(struct rcl_epoch *ep)
{
	unsigned long interval = rcl_heartbeat_interval(ep);
	u64 due = get_jiffies_64() + interval;

	if (ep->pool.role == RCLINK_ROLE_INITIATOR)
		due = rcl_heartbeat_moment(due, interval);
	ep->heartbeat.quiet = 0;
	ep->heartbeat.patient = 0;
	ep->heartbeat.due = due;
}

/**
 * rcl_heartbeat_heard - an authentic message came in
 * @ep: of a link that is up
 * @msg: of any type
 */
void rcl_heartbeat_heard(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	if (rcl_msg_is_answer(msg->type) ||
	    (msg->credits && !ep->ctrl.credit.questions))
		rcl_heartbeat_start(ep);
}

/**
 * rcl_heartbeat_rotation_asked - does the peer want the link rotated?
 * @ep: of a link that is up
 * @msg: of any type, hostile
 *
 * This bounds how often listeners are told of the wish, however often the peer
 * states it.
 *
 * Return: true if so, at most once in RCL_AGAIN_MS.
 */
bool rcl_heartbeat_rotation_asked(struct rcl_epoch *ep,
				  const struct rcl_msg *msg)
{
	struct rcl_heartbeat *hb = &ep->heartbeat;

	if (msg->type != RCL_MSG_BEAT || msg->cookie != RCL_MSG_AGAIN ||
	    rcl_due_lies_ahead(hb->again))
		return false;
	hb->again = rcl_due_in(RCL_AGAIN_MS);
	return true;
}

/**
 * rcl_heartbeat_message - take a heartbeat, or the answer to ours
 * @ep: of a link that is up
 * @msg: BEAT or BEAT_ACK, hostile
 *
 * Return: 0, or what rcl_ctrl_send() returns.
 */
int rcl_heartbeat_message(struct rcl_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_msg answer = {
		.type = RCL_MSG_BEAT_ACK,
		.cookie = msg->cookie,
	};

	if (msg->type == RCL_MSG_BEAT)
		return rcl_ctrl_send(&ep->ctrl, &answer);
	ep->heartbeat.asked = false;
	return 0;
}

static int rcl_heartbeat_ask(struct rcl_epoch *ep)
{
	struct rcl_msg beat = {
		.type = RCL_MSG_BEAT,
		.cookie = ep->heartbeat.rotate ? RCL_MSG_AGAIN : 0,
	};
	int ret;

	if (!rcl_ctrl_can_ask(&ep->ctrl))
		return 0;
	ret = rcl_ctrl_send(&ep->ctrl, &beat);
	if (ret)
		return ret == -EAGAIN ? 0 : ret;
	ep->heartbeat.asked = true;
	ep->heartbeat.rotate = false;
	ep->ctrl.stats->heartbeats++;
	return 0;
}

/**
 * rcl_heartbeat_ask_rotation - ask the peer to rotate, if that is wanted
 * @ep: of a link that is up
 *
 * Call this before others ask, because they may have questions all the time.
 *
 * Context: the link's work item.
 * Return: 0, or the error of posting.
 */
int rcl_heartbeat_ask_rotation(struct rcl_epoch *ep)
{
	if (!ep->heartbeat.rotate || ep->heartbeat.asked)
		return 0;
	return rcl_heartbeat_ask(ep);
}

/**
 * rcl_heartbeat_look - has an interval ended without a sign of the peer?
 * @ep: of a link that is up; what has come in was read
 *
 * Context: the link's work item.
 * Return: 0, -EHOSTDOWN if that was the last interval that the policy grants,
 * or the error of posting.
 */
int rcl_heartbeat_look(struct rcl_epoch *ep)
{
	struct rcl_heartbeat *hb = &ep->heartbeat;
	unsigned long interval = rcl_heartbeat_interval(ep);
	u64 now;
	int ret;

	if (!interval)
		return 0;
	ret = rcl_probe_again(ep);
	if (ret || rcl_due_lies_ahead(hb->due))
		return ret;
	/* The end of the first interval only prompts the question. */
	if (hb->quiet++)
		ep->ctrl.stats->heartbeats_missed++;
	if (hb->quiet >= ep->policy.v[RCL_P_MISSES] &&
	    !rcl_due_lies_ahead(hb->patient))
		return -EHOSTDOWN;
	now = get_jiffies_64();
	hb->due += interval;
	/*
	 * A little late is due to the clock; if it is much later, this host
	 * stood still. The answer to a question gets a whole interval.
	 */
	if (hb->quiet == 1 || time_after64(now + interval / 2, hb->due))
		hb->due = now + interval;
	/* Any open question shows as much. */
	return ep->ctrl.credit.questions ? 0 : rcl_heartbeat_ask(ep);
}

/**
 * rcl_heartbeat_is_alone - is no question open except, at most, a heartbeat?
 * @ep: of a link that is up
 *
 * Return: false while the peer owes another answer.
 */
bool rcl_heartbeat_is_alone(const struct rcl_epoch *ep)
{
	return ep->ctrl.credit.questions == (ep->heartbeat.asked ? 1 : 0);
}

/**
 * rcl_heartbeat_due - when to look next
 * @ep: of a link that is up
 *
 * Return: in jiffies, 0 for never.
 */
u64 rcl_heartbeat_due(const struct rcl_epoch *ep)
{
	if (!ep->policy.v[RCL_P_HEARTBEAT])
		return 0;
	return rcl_due_first(ep->probe.due, ep->heartbeat.due);
}
