// SPDX-License-Identifier: GPL-2.0
#include "hostile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "slow.h"

#define COOKIE	0x5eed

static const char *const beside[] = { "x", "y" };

static int new_link(struct genl_sock *s, const char *name)
{
	struct genl_msg m;

	genl_begin(&m, s, RCLINK_CMD_LINK_NEW);
	genl_put_str(&m, RCLINK_A_LINK_NAME, name);
	genl_put_u32(&m, RCLINK_A_LINK_LOOPBACK, 1);
	genl_put_u32(&m, RCLINK_A_LINK_QPS, PEER_QPS);
	genl_put_u32(&m, RCLINK_A_LINK_HEARTBEAT, 0);
	genl_put_u32(&m, RCLINK_A_LINK_RECOVER, RCLINK_RECOVER_RESUME);
	return genl_ask(s, &m, NULL, NULL);
}

static uint64_t malformed(struct genl_sock *s)
{
	const struct nlattr *stats;
	struct genl_msg m, answer;

	genl_begin(&m, s, RCLINK_CMD_LINK_GET);
	genl_put_str(&m, RCLINK_A_LINK_NAME, HOSTILE_LINK);
	if (genl_ask(s, &m, &answer, NULL))
		return 0;
	stats = genl_attr(&answer, RCLINK_A_LINK_STATS);
	return genl_u64(genl_next(stats, RCLINK_A_STATS_RX_MALFORMED, NULL));
}

int hostile_begin(struct hostile *h, uint32_t role)
{
	int ret;
	int i;

	memset(h, 0, sizeof(*h));
	h->role = role;
	ret = rcl_open(&h->s);
	if (!ret)
		ret = rcl_clean(&h->s);
	if (!ret)
		ret = new_link(&h->s, HOSTILE_LINK);
	for (i = 0; !ret && i < 2; i++)
		ret = rcl_new(&h->s, beside[i]);
	return ret ? ret : rcl_pair(&h->s, beside[0], beside[1],
				    RCLINK_LINK_STATE_UP);
}

static int never_noticed(struct hostile *h)
{
	struct rcl_pong pong;
	struct rcl_view view;
	int ret = 0;
	int i;

	for (i = 0; !ret && i < 2; i++) {
		ret = rcl_view(&h->s, beside[i], &view);
		if (!ret && (view.state != RCLINK_LINK_STATE_UP ||
			     view.epoch != 1))
			ret = -ENOTCONN;
		if (!ret)
			ret = rcl_ping(&h->s, beside[i], RCLINK_PING_OP_WRITE,
				       4096, COOKIE, NULL);
		do {
			if (!ret)
				ret = rcl_pong(&h->s, &pong, slow(HOSTILE_MS));
		} while (!ret && pong.cookie != COOKIE);
		if (!ret && pong.error)
			ret = -EREMOTEIO;
	}
	return ret;
}

int hostile_end(struct hostile *h)
{
	int ret = never_noticed(h);

	if (h->p.mem)
		peer_leave(&h->p);
	rcl_clean(&h->s);
	genl_close(&h->s);
	return ret;
}

int hostile_meet(struct hostile *h)
{
	h->malformed = malformed(&h->s);
	return peer_meet(&h->p, &h->s, HOSTILE_LINK, h->role);
}

int hostile_up(struct hostile *h)
{
	int ret = hostile_meet(h);

	return ret ? ret : peer_hello(&h->p, &h->s, HOSTILE_LINK);
}

int hostile_say(struct hostile *h, const struct wrong *w)
{
	uint8_t text[PEER_TEXT] = { 0 };
	struct rcl_msg msg = w->msg;

	/* Else as many as are owed. */
	if (!msg.credits)
		msg.credits = h->p.owed;
	h->p.owed = 0;
	return peer_say_text(&h->p, text, rcl_msg_encode(text, &msg) + w->more);
}

static int complain(const char *what, const char *fmt, uint64_t value)
{
	printf("# %s: ", what);
	printf(fmt, (unsigned long long)value);
	printf("\n");
	return -EBADE;
}

int hostile_ends(struct hostile *h, const char *what, uint32_t reason)
{
	bool counts = reason == RCLINK_DOWN_REASON_PROTOCOL;
	struct rcl_view view;
	int ret;

	ret = rcl_until(&h->s, HOSTILE_LINK, RCLINK_LINK_STATE_DOWN,
			HOSTILE_MS);
	if (!ret)
		ret = rcl_view(&h->s, HOSTILE_LINK, &view);
	if (ret)
		ret = complain(what, "the link is not down, %lld", ret);
	else if (view.reason != reason)
		ret = complain(what, "it is down for reason %llu", view.reason);
	else if (malformed(&h->s) - h->malformed != counts)
		ret = complain(what, "malformed messages: %llu",
			       malformed(&h->s) - h->malformed);
	if (ret)
		rcl_disconnect(&h->s, HOSTILE_LINK);
	peer_leave(&h->p);
	return ret;
}

int hostile_lives(struct hostile *h, const char *what)
{
	struct rcl_msg msg, beat = {
		.type = RCL_MSG_BEAT, .cookie = COOKIE,
	};
	struct rcl_view view;
	int ret;

	ret = peer_say(&h->p, &beat);
	if (!ret)
		ret = peer_await(&h->p, RCL_MSG_BEAT_ACK, &msg);
	if (!ret)
		ret = rcl_view(&h->s, HOSTILE_LINK, &view);
	if (ret)
		return complain(what, "it does not answer, %lld", ret);
	if (msg.cookie != COOKIE || view.state != RCLINK_LINK_STATE_UP)
		return complain(what, "it is in state %llu", view.state);
	return 0;
}
