// SPDX-License-Identifier: GPL-2.0
/*
 * The loop delivers completions, device events and timeouts; each ends in
 * rcv_epoch_turn(), which polls, reads what came in, sends pending questions,
 * and decides whether the epoch ends. The timer's event tells the owner, on an
 * empty stack, and the owner may free the epoch there.
 */
#include "epoch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "beat.h"
#include "check.h"
#include "fail.h"
#include "news.h"
#include "objects.h"
#include "process.h"
#include "range.h"

#define LOOK_S		1	/* between checks for a removed device */
#define BYE_MS		200	/* for a goodbye to reach the peer's device */
#define POLL_WCS	16

enum { HEARD = 1, ANSWERED = 2, BOTH = HEARD | ANSWERED };

static uint64_t now_ms(void)
{
	return rcl_now() / NS_PER_MS;
}

void rcv_epoch_kick(struct rcv_epoch *ep)
{
	event_active(ep->timer, EV_TIMEOUT, 0);
}

/* Of reasons that explain equally well, the first one counts. */
static void note(struct rcv_epoch *ep, uint32_t reason,
		 const struct rcv_wc *failed)
{
	const struct rcl_reason why = {
		.reason = reason,
		.wc_status = failed ? failed->status : 0,
		.vendor_err = failed ? failed->vendor_err : 0,
		.mtu = rcv_epoch_mtu(ep),
	};

	if (!ep->failure.reason ||
	    rcl_reason_weight(&ep->failure) < rcl_reason_weight(&why))
		ep->failure = why;
}

static void end(struct rcv_epoch *ep, const char *why)
{
	if (ep->why[0])
		return;
	rcl_fail(ep->why, 0, "%s", why);
	event_del(ep->completion);
	event_del(ep->pool_completion);
	event_del(ep->news);
	event_del(ep->look);
	rcv_epoch_kick(ep);
}

static void end_for(struct rcv_epoch *ep, const struct rcl_reason *why)
{
	char text[RCL_ERR_LEN];

	if (why->reason != RCLINK_DOWN_REASON_COMPLETION) {
		end(ep, rcl_reason_text(why));
		return;
	}
	rcl_fail(text, 0, "%s (vendor error 0x%x)", rcl_reason_text(why),
		 why->vendor_err);
	end(ep, text);
}

static void end_at(struct rcv_epoch *ep, uint32_t reason)
{
	const struct rcl_reason why = { .reason = reason };

	end_for(ep, &why);
}

int rcv_policy_complete(struct rcl_policy *policy, char *err)
{
	const char *why;
	int field;

	for (field = 0; field < RCL_P_MAX; field++) {
		if (!(policy->given & 1u << field))
			policy->v[field] = rcl_range_default(field);
		else if (rcl_range_check(field, policy->v[field], &why))
			return rcl_fail(err, -EINVAL, "%s", why);
	}
	if (rcl_range_agree(policy->given, policy->v, &why))
		return rcl_fail(err, -EINVAL, "%s", why);
	return 0;
}

/* Like the module's rcl_ctrl_is_too_long(). */
static bool is_too_long(const struct rcv_wc *wc)
{
	return wc->wr_id >> RCV_WR_SHIFT == RCV_WR_CTRL_RECV &&
	       (wc->status == IBV_WC_LOC_LEN_ERR ||
		wc->status == IBV_WC_LOC_QP_OP_ERR ||
		wc->status == IBV_WC_REM_INV_REQ_ERR);
}

static void completed(struct rcv_epoch *ep, const struct rcv_wc *wc)
{
	enum rcv_wr kind = wc->wr_id >> RCV_WR_SHIFT;

	if (kind == RCV_WR_LARGE && rcv_large_is_lost(ep, wc)) {
		note(ep, RCLINK_DOWN_REASON_MTU, NULL);
		return;
	}
	if (is_too_long(wc)) {
		note(ep, RCLINK_DOWN_REASON_NOT_A_MESSAGE, NULL);
		return;
	}
	if (wc->status != IBV_WC_SUCCESS) {
		note(ep, RCLINK_DOWN_REASON_COMPLETION, wc);
		return;
	}
	switch (kind) {
	case RCV_WR_LARGE:
		break;
	case RCV_WR_PING:
		rcv_ping_completed(&ep->pinger);
		break;
	case RCV_WR_BENCH:
		ep->bench_done(ep->bench_ctx);
		break;
	default:
		if (!rcv_ctrl_completed(&ep->ctrl, wc))
			note(ep, RCLINK_DOWN_REASON_NOT_A_MESSAGE, NULL);
	}
}

/* Returns how many there were, up to POLL_WCS. */
static int poll_some(struct rcv_epoch *ep, struct rcv_cq *cq,
		     void (*take)(struct rcv_epoch *ep,
				  const struct rcv_wc *wc))
{
	struct rcv_wc wcs[POLL_WCS];
	int i, n;

	n = rcv_cq_poll(cq, wcs, POLL_WCS);
	if (n < 0)
		note(ep, RCLINK_DOWN_REASON_LOCAL_ERROR, NULL);
	for (i = 0; i < n; i++)
		take(ep, &wcs[i]);
	return n;
}

/*
 * Messages first: one may end a channel, whose last data came before it and is
 * in the pool's CQ by now, however many completions of others precede it there.
 * What comes in meanwhile can wait.
 */
static bool poll_all(struct rcv_epoch *ep)
{
	bool some = poll_some(ep, &ep->cq, completed) > 0;
	int n, all = 0;

	do {
		n = poll_some(ep, &ep->pool_cq, rcv_lease_completed);
		all += n;
	} while (n == POLL_WCS && all < ep->pool_cq.cq->cqe);
	return some || all > 0;
}

/* The epoch is up as soon as all of that is known. */
static void settle(struct rcv_epoch *ep)
{
	if (ep->up || ep->proven != BOTH || !ep->large.through)
		return;
	ep->up = true;
	rcv_beat_start(ep);
	ep->tell_up = true;
	rcv_epoch_kick(ep);
}

static int on_hello(struct rcv_epoch *ep, const struct rcl_msg *msg)
{
	struct rcl_msg ack = { .type = RCL_MSG_HELLO_ACK };
	int ret = 0;

	if (ep->up)
		return -EPROTO;
	if (msg->type == RCL_MSG_HELLO) {
		if (ep->proven & HEARD)
			return -EPROTO;
		if (msg->cookie != RCL_MSG_VERSION)
			return -EPROTONOSUPPORT;
		ret = rcv_large_post(ep);
		if (!ret)
			ret = rcv_ctrl_send(&ep->ctrl, &ack);
		ep->proven |= HEARD;
	} else {
		ep->proven |= ANSWERED;
	}
	if (!ret)
		settle(ep);
	return ret;
}

/*
 * A peer that is up has got the answer to its hello, and the large packet that
 * was written before that; the acknowledgment may come later, or was lost.
 */
static void overtaken(struct rcv_epoch *ep)
{
	if (ep->proven == BOTH)
		ep->large.through = true;
	settle(ep);
}

static int on_message(struct rcv_epoch *ep, const struct rcv_in *in)
{
	const struct rcl_msg *msg = &in->msg;

	if (ep->up)
		rcv_beat_heard(ep, msg);
	if (rcl_msg_is_answer(msg->type) && msg->type != RCL_MSG_BEAT_ACK)
		ep->due = 0;
	switch (msg->type) {
	case RCL_MSG_HELLO:
	case RCL_MSG_HELLO_ACK:
		return on_hello(ep, msg);
	case RCL_MSG_BYE:
		return msg->cookie == RCL_MSG_AGAIN ? -EREMCHG : -ECONNRESET;
	}
	overtaken(ep);
	if (!ep->up)
		return -EPROTO;
	switch (msg->type) {
	case RCL_MSG_PONG:
	case RCL_MSG_FILLED:
	case RCL_MSG_CHECKED:
		return rcv_ping_answer(&ep->pinger, in);
	case RCL_MSG_PING:
	case RCL_MSG_FILL:
	case RCL_MSG_CHECK:
		return rcv_ping_question(&ep->pinger, msg);
	}
	if (msg->type == RCL_MSG_BEAT || msg->type == RCL_MSG_BEAT_ACK)
		return rcv_beat_message(ep, msg);
	if (rcl_msg_is_answer(msg->type))
		return rcv_lease_answer(ep, msg);
	return rcv_lease_question(ep, msg);
}

static int receive(struct rcv_epoch *ep)
{
	struct rcv_in in;
	int ret;

	while ((ret = rcv_ctrl_recv(&ep->ctrl, &in)) > 0) {
		ret = on_message(ep, &in);
		if (!ret)
			ret = rcv_ctrl_give_back(&ep->ctrl, &in);
		if (ret)
			return ret;
	}
	return ret;
}

/* While something waits for the peer, an answer must come now and then. */
static int ask(struct rcv_epoch *ep)
{
	int ret;

	ret = rcv_lease_continue(ep);
	if (!ret)
		ret = rcv_ping_continue(&ep->pinger);
	if (!ret)
		ret = rcv_beat_look(ep, now_ms());
	if (rcv_beat_is_alone(ep) && !ep->pinger.ping)
		ep->due = 0;
	else if (!ep->due)
		ep->due = now_ms() + rcv_beat_limit(ep);
	else if (!ret && now_ms() >= ep->due)
		ret = -ETIMEDOUT;
	return ret;
}

static uint32_t reason_of(int ret)
{
	switch (ret) {
	case -EBADMSG:
	case -ESTALE:
		return RCLINK_DOWN_REASON_UNAUTHENTICATED;
	case -EILSEQ:
		return RCLINK_DOWN_REASON_OUT_OF_SEQUENCE;
	case -EMSGSIZE:
		return RCLINK_DOWN_REASON_NOT_A_MESSAGE;
	case -ETIMEDOUT:
		return RCLINK_DOWN_REASON_TIMED_OUT;
	default:
		return rcl_reason_of(ret);
	}
}

static void set_timer(struct rcv_epoch *ep, uint64_t ms)
{
	const struct timeval tv = {
		.tv_sec = ms / 1000,
		.tv_usec = ms % 1000 * 1000,
	};

	event_add(ep->timer, &tv);
}

/* 0 means never. */
static uint64_t sooner(uint64_t due, uint64_t other)
{
	return !due || (other && other < due) ? other : due;
}

static void expect(struct rcv_epoch *ep)
{
	uint64_t now = now_ms(), due;

	if (!ep->up)
		return;
	due = sooner(ep->due, rcv_beat_due(ep));
	due = sooner(due, rcv_lease_due(ep));
	if (due)
		set_timer(ep, due > now ? due - now : 0);
}

/*
 * A goodbye explains the failures that come with it. If the owner is to be told
 * something, the timer has been kicked; setting it again would undo that.
 */
void rcv_epoch_turn(struct rcv_epoch *ep)
{
	bool more;
	int ret;

	if (ep->why[0])
		return;
	more = poll_all(ep);
	settle(ep);
	ret = receive(ep);
	if (!ret && ep->up)
		ret = ask(ep);
	if (ep->failure.reason && ret != -ECONNRESET && ret != -EREMCHG)
		end_for(ep, &ep->failure);
	else if (ret)
		end_at(ep, reason_of(ret));
	if (ep->why[0] || ep->tell_up || ep->busy)
		return;
	/* What completed before this raises no event. */
	if (rcv_cq_arm(&ep->cq) || rcv_cq_arm(&ep->pool_cq))
		end_at(ep, RCLINK_DOWN_REASON_LOCAL_ERROR);
	else if (more || poll_all(ep))
		set_timer(ep, 0);	/* after the loop's other events */
	else
		expect(ep);
}

static void on_completion(evutil_socket_t fd, short what, void *arg)
{
	struct rcv_epoch *ep = arg;

	(void)fd;
	(void)what;
	rcv_cq_take_event(&ep->cq);
	rcv_epoch_turn(ep);
}

static void on_pool_completion(evutil_socket_t fd, short what, void *arg)
{
	struct rcv_epoch *ep = arg;

	(void)fd;
	(void)what;
	rcv_cq_take_event(&ep->pool_cq);
	rcv_epoch_turn(ep);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct rcv_epoch *ep = arg;
	bool tell = ep->tell_up;

	(void)fd;
	(void)what;
	ep->tell_up = false;
	rcv_epoch_turn(ep);
	if (ep->why[0]) {
		rcv_ping_abort(&ep->pinger, ep->why);
		rcv_lease_end_all(ep, ep->why);
		ep->ops->down(ep->ctx, ep->why);
	} else if (tell) {
		ep->ops->up(ep->ctx);
	}
}

static void take_news(struct rcv_epoch *ep, const struct ibv_async_event *e)
{
	const struct rcv_watched watched = {
		.ctrl = ep->qp[0].qp,
		.port = ep->hca.port,
		.gid_holds = rcv_hca_gid_is(&ep->hca, ep->local.gid),
		.gone = rcv_hca_is_gone(&ep->hca),
		.vague = rcv_hca_is_vague(&ep->hca),
	};
	uint32_t reason = rcv_news_reason(&watched, e);

	if (reason)
		note(ep, reason, NULL);
}

static void on_news(evutil_socket_t fd, short what, void *arg)
{
	struct rcv_epoch *ep = arg;
	struct ibv_async_event e;

	(void)fd;
	(void)what;
	while (!ibv_get_async_event(ep->hca.ctx, &e)) {
		take_news(ep, &e);
		ibv_ack_async_event(&e);
	}
	rcv_epoch_turn(ep);
}

/*
 * If the driver cannot take a device away from a process, there is no event:
 * the removal waits until this process closes the device.
 */
static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct rcv_epoch *ep = arg;

	(void)fd;
	(void)what;
	if (!rcv_hca_is_gone(&ep->hca))
		return;
	note(ep, RCLINK_DOWN_REASON_DEVICE_REMOVED, NULL);
	rcv_epoch_turn(ep);
}

static int listen_to(struct rcv_epoch *ep, char *err)
{
	const struct timeval often = { .tv_sec = LOOK_S };
	int fd = ep->hca.ctx->async_fd;
	int flags = fcntl(fd, F_GETFL);

	ep->completion = event_new(ep->base, ep->cq.channel->fd,
				   EV_READ | EV_PERSIST, on_completion, ep);
	ep->pool_completion = event_new(ep->base, ep->pool_cq.channel->fd,
					EV_READ | EV_PERSIST,
					on_pool_completion, ep);
	ep->news = event_new(ep->base, fd, EV_READ | EV_PERSIST, on_news, ep);
	ep->look = event_new(ep->base, -1, EV_PERSIST, on_look, ep);
	ep->timer = evtimer_new(ep->base, on_timer, ep);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ||
	    !ep->completion || !ep->pool_completion || !ep->news ||
	    !ep->look || !ep->timer || event_add(ep->completion, NULL) ||
	    event_add(ep->pool_completion, NULL) ||
	    event_add(ep->news, NULL) || event_add(ep->look, &often) ||
	    rcv_cq_arm(&ep->cq))
		return rcl_fail(err, -ENOMEM,
				"cannot wait for what the device does");
	return 0;
}

struct rcv_epoch *rcv_epoch_new(struct event_base *base,
				const struct rcl_policy *policy,
				uint64_t number,
				const struct rcv_service *const *services,
				const struct rcv_epoch_ops *ops, void *ctx,
				char *err)
{
	struct rcv_epoch *ep = calloc(1, sizeof(*ep));

	if (!ep) {
		rcl_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	ep->base = base;
	ep->ops = ops;
	ep->ctx = ctx;
	ep->policy = *policy;
	ep->services = services;
	if (rcv_objects_get(ep, err) || listen_to(ep, err)) {
		rcv_epoch_free(ep);
		return NULL;
	}
	rcv_objects_describe(ep, number);
	ep->pinger.ctrl = &ep->ctrl;
	ep->pinger.pd = ep->pd;
	ep->pinger.buffer = ep->buffer;
	ep->pinger.local = &ep->local;
	ep->pinger.remote = &ep->remote;
	return ep;
}

int rcv_epoch_connect(struct rcv_epoch *ep, uint32_t role,
		      const struct rcl_endpoint *remote, uint64_t *agreed,
		      char *err)
{
	const char *why;
	int ret;

	ret = rcl_endpoint_check(&ep->local, remote,
				 ep->policy.v[RCL_P_LOOPBACK], &why);
	if (ret)
		return rcl_fail(err, ret, "%s", why);
	ep->role = role;
	ep->remote = *remote;
	ret = rcv_objects_to_rtr(ep, err);
	*agreed = ep->local.epoch > remote->epoch ? ep->local.epoch :
						    remote->epoch;
	ep->local.epoch = *agreed;
	return ret;
}

int rcv_epoch_activate(struct rcv_epoch *ep,
		       const uint8_t key[RCLINK_KEY_LEN], char *err)
{
	struct rcl_msg hello = {
		.type = RCL_MSG_HELLO,
		.cookie = RCL_MSG_VERSION,
	};
	int ret;

	ret = rcv_objects_to_rts(ep, err);
	if (ret)
		return ret;
	ret = rcv_ctrl_start(&ep->ctrl, key, ep->role, ep->local.epoch);
	if (ret == -EOPNOTSUPP)
		return rcl_fail(err, ret,
				"OpenSSL refuses ChaCha20-Poly1305, without which there is no link; is it in FIPS mode?");
	if (!ret)
		ret = rcv_ctrl_send(&ep->ctrl, &hello);
	if (ret)
		return rcl_fail(err, ret, "cannot send the hello: %s",
				strerror(-ret));
	rcv_epoch_kick(ep);
	return 0;
}

void rcv_epoch_ping(struct rcv_epoch *ep, const struct rcv_ping *ping)
{
	rcv_ping_start(&ep->pinger, ping);
	rcv_epoch_kick(ep);
}

/*
 * The peer may be up before this end is. But if it has not even acknowledged
 * the hello, which was the first message, this one does not arrive either.
 */
static void say_goodbye(struct rcv_epoch *ep)
{
	struct rcl_msg bye = {
		.type = RCL_MSG_BYE,
		.cookie = ep->again ? RCL_MSG_AGAIN : 0,
	};
	bool waits = !ep->left && ep->ctrl.retired;
	uint64_t limit = now_ms() + (waits ? BYE_MS : 0);

	if (!ep->ctrl.started || ep->why[0] || rcv_ctrl_send(&ep->ctrl, &bye))
		return;
	while (ep->ctrl.retired != ep->ctrl.sent && !ep->failure.reason &&
	       now_ms() < limit)
		poll_some(ep, &ep->cq, completed);
}

void rcv_epoch_free(struct rcv_epoch *ep)
{
	if (!ep)
		return;
	rcv_lease_end_all(ep, "the link was taken down");
	say_goodbye(ep);
	if (ep->completion)
		event_free(ep->completion);
	if (ep->pool_completion)
		event_free(ep->pool_completion);
	if (ep->news)
		event_free(ep->news);
	if (ep->look)
		event_free(ep->look);
	if (ep->timer)
		event_free(ep->timer);
	rcv_objects_put(ep);
	free(ep);
}
