// SPDX-License-Identifier: GPL-2.0
/*
 * A link that is to be dialled is in one of these, and want() leads from the
 * last back to the first: timer (back-off), queue (others are being dialled),
 * dial, up. A link that answers, or that the module refused, leaves it
 * meanwhile.
 */
#include "links_core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "backoff.h"
#include "call.h"
#include "kernel.h"
#include "link.h"
#include "listener.h"
#include "log.h"
#include "peers.h"
#include "process.h"
#include "tls.h"
#include "trust.h"

#define TIMEOUT_MS	30000	/* of one exchange */
#define DIALS_MAX	16	/* at once; more would only be slower */
#define DIALS_AGAIN	12	/* of them, of links that failed before */
#define ANSWERS_MAX	32	/* at once, of peers that proved who they are */
#define ROTATE_NS	1000000000ULL	/* between two exchanges */
#define STUCK_NS	2000000000ULL	/* without a word of the peer */
#define NS_PER_MS	1000000

/* A peer that is refused dials again, but not for ever in a second. */
static const struct rch_rate answers = { 1000000000, 3 };

static struct rcd_link *find(const struct rcd_links *all, const char *name)
{
	struct rcd_link *link;

	LIST_FOREACH(link, &all->list, node)
		if (!strcmp(link->conf.name, name))
			return link;
	return NULL;
}

/* NULL: it is not loaded. */
static struct rcl_nl *module(const struct rcd_links *all)
{
	return rch_hub_requests(all->hub);
}

static void unqueue(struct rcd_link *link)
{
	if (link->queued)
		TAILQ_REMOVE(&link->all->turns, link, turn);
	link->queued = false;
}

/* All links of a host do not rotate at once: a tenth sooner or later. */
static void rotate_later(struct rcd_link *link)
{
	uint64_t ms = link->conf.rotate * 1000ULL;
	struct timeval tv;

	if (!ms || !link->conf.host[0] ||
	    event_pending(link->timer, EV_TIMEOUT, NULL))
		return;
	ms = ms * 9 / 10 + arc4random_uniform(ms / 5 + 1);
	tv = rcl_timeval(ms * NS_PER_MS);
	event_add(link->timer, &tv);
}

/* What is missing to have it up, or with new keys, do it in a while. */
static void want(struct rcd_link *link)
{
	struct timeval tv;

	if (link->up) {
		rotate_later(link);
		return;
	}
	if (link->all->stopping || !module(link->all) || link->dial ||
	    link->answering || link->queued ||
	    event_pending(link->timer, EV_TIMEOUT, NULL) ||
	    (!link->conf.host[0] && !link->broken))
		return;
	tv = rcl_timeval(rcd_backoff(link->failures, rcl_now(), link->dialled,
				     arc4random()));
	event_add(link->timer, &tv);
}

static void set_up(struct rcd_link *link)
{
	if (!link->up) {
		unqueue(link);
		event_del(link->timer);
		link->up = true;
		link->up_since = rcl_now();
		link->all->ops->changed(link->all->ctx);
	}
	want(link);
}

static void set_down(struct rcd_link *link, const char *reason)
{
	if (link->up) {
		rcd_log(LOG_NOTICE, "%s: down: %s", link->conf.name, reason);
		link->up = false;
		event_del(link->timer);
		link->failures = rcd_backoff_fell(link->failures, rcl_now() -
						  link->up_since);
		link->all->ops->changed(link->all->ctx);
	}
	want(link);
}

static void failed(struct rcd_link *link, const char *err)
{
	if (link->up) {
		rcd_log(LOG_WARNING, "%s: not rotated: %s", link->conf.name,
			err);
		rotate_later(link);
		return;
	}
	link->failures++;
	rcd_log(LOG_WARNING, "%s: not up: %s", link->conf.name, err);
	want(link);
}

static void on_dialled(void *ctx, int result, const char *err);

static void on_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct rcd_link *link = ctx;

	(void)detail;
	link->reached |= step == RCX_STEP_TLS;
}

static const struct rch_job_ops dial_ops = {
	.step = on_step,
	.done = on_dialled,
};

static void dial(struct rcd_link *link)
{
	const struct rcd_link_conf *conf = &link->conf;
	struct rcd_links *all = link->all;
	char err[RCL_ERR_LEN];
	struct rcx_tls *tls;

	link->dialled = rcl_now();
	link->reached = false;
	tls = rcd_trust_dial(all->trust, conf, err);
	if (tls)
		link->dial = rch_job_dial(all->hub, tls, conf->host, conf->port,
					  conf->name, conf->wanted, TIMEOUT_MS,
					  &dial_ops, link, err);
	rcx_tls_free(tls);
	if (!link->dial) {
		failed(link, err);
		return;
	}
	all->dials++;
	if (link->up)
		rch_job_rotate(link->dial);
}

/*
 * As many at once as there may be. Many peers that are not there keep no other
 * link waiting: those that did not fail are at the head.
 */
static void dial_next(struct rcd_links *all)
{
	struct rcd_link *link;

	while (!all->stopping && module(all)) {
		link = TAILQ_FIRST(&all->turns);
		if (!link || all->dials >= (link->failures ? DIALS_AGAIN :
							     DIALS_MAX))
			return;
		unqueue(link);
		dial(link);
	}
}

static void log_up(const char *name, uint64_t epoch, uint64_t ns,
		   const char *how)
{
	rcd_log(LOG_NOTICE, "%s: up, epoch %llu, %s, %llu ms", name,
		(unsigned long long)epoch, how,
		(unsigned long long)(ns / NS_PER_MS));
}

static void on_dialled(void *ctx, int result, const char *err)
{
	struct rcd_link *link = ctx;
	struct rcd_links *all = link->all;
	const struct rch_job *job = link->dial;

	if (!result)
		log_up(link->conf.name, rch_job_epoch(job), rch_job_ns(job),
		       "dialled");
	link->dial = NULL;
	all->dials--;
	link->tally.dialled[!result ? RCD_UP :
			    link->yields || all->stopping ? RCD_GIVEN_UP :
							    RCD_FAILED]++;
	/* Up or down, the events have said it: that may be a second ago. */
	if (!result || link->yields || all->stopping)
		want(link);
	else
		failed(link, err);
	link->yields = false;
	dial_next(all);
	all->ops->changed(all->ctx);
}

/* End the dial, for a reason that is no failure. */
static void yield(struct rcd_link *link, const char *reason)
{
	if (!link->dial)
		return;
	link->yields = true;
	rch_job_cancel(link->dial, reason);
}

/* The link as the module has it, NULL for not at all. */
static void adopt(struct rcd_link *link, const struct rcl_link_info *info)
{
	const char *name = link->conf.name;
	struct rcl_nl *nl = module(link->all);
	char err[RCL_ERR_LEN];
	bool ends;

	if (info && link->stale) {
		if (rcl_call_delete(nl, name, err))
			rcd_log(LOG_WARNING, "%s: %s", name, err);
		else
			info = NULL;
	}
	link->stale &= !!info;
	link->broken = rcd_kernel_apply(nl, &link->conf, info, &ends, err);
	if (link->broken) {
		link->failures++;
		rcd_log(LOG_ERR, "%s:%u: [Link %s]: %s", link->conf.place.file,
			link->conf.place.line, name, err);
	}
	if (info && info->state == RCLINK_LINK_STATE_UP) {
		if (!link->up)
			rcd_log(LOG_NOTICE, "%s: is up, epoch %llu", name,
				(unsigned long long)info->epoch);
		set_up(link);
		if (ends)
			rcl_call_disconnect(nl, name, err);
		return;
	}
	set_down(link, info ? info->reason_text : "it is gone");
}

static void look(struct rcd_link *link)
{
	struct rcl_link_info *info = NULL;
	char err[RCL_ERR_LEN];
	size_t num = 0;
	int ret;

	ret = rcl_call_links(module(link->all), link->conf.name, &info, &num,
			     err);
	if (ret && ret != -ENOENT) {
		link->failures++;
		rcd_log(LOG_WARNING, "%s: %s", link->conf.name, err);
		want(link);
		return;
	}
	adopt(link, num ? info : NULL);
	free(info);
}

static void line_up(struct rcd_link *link)
{
	link->queued = true;
	if (link->failures)
		TAILQ_INSERT_TAIL(&link->all->turns, link, turn);
	else
		TAILQ_INSERT_HEAD(&link->all->turns, link, turn);
	dial_next(link->all);
}

/* Another epoch, while this one is up; at most one exchange a second. */
static void rotate(struct rcd_link *link)
{
	const struct timeval soon = { .tv_sec = 1 };

	if (!link->up || !link->conf.host[0] || link->dial || link->queued)
		return;
	if (link->answering || rcl_now() - link->dialled < ROTATE_NS) {
		event_add(link->timer, &soon);
		return;
	}
	event_del(link->timer);
	line_up(link);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct rcd_link *link = arg;

	(void)fd;
	(void)what;
	if (link->broken)
		look(link);
	else if (link->up)
		rotate(link);
	else
		line_up(link);
}

static void on_event(void *ctx, const struct rcl_link_info *info)
{
	struct rcd_link *link = find(ctx, info->name);

	if (!link)
		return;
	if (info->event_kind == RCLINK_EVENT_KIND_DELETED) {
		link->broken = true;
		set_down(link, "it was deleted");
	} else if (info->event_kind == RCLINK_EVENT_KIND_ROTATE) {
		rotate(link);
	} else if (info->event_kind == RCLINK_EVENT_KIND_STANDBY_DOWN) {
		/* The link is up; whoever began the exchange hears of it. */
	} else if (info->state == RCLINK_LINK_STATE_UP) {
		set_up(link);
	} else if (info->state == RCLINK_LINK_STATE_DOWN) {
		set_down(link, info->reason_text);
	}
}

/*
 * What kept links from being up may be over: they wait as after one failure,
 * and who called in vain calls again.
 */
static void on_device(void *ctx)
{
	struct rcd_links *all = ctx;
	struct rcd_link *link;

	LIST_FOREACH(link, &all->list, node) {
		if (!link->up && link->failures > 1) {
			link->failures = 1;
			event_del(link->timer);
			want(link);
		}
		if (!link->reached && rcl_now() - link->dialled > STUCK_NS)
			yield(link, "a port of this host has changed");
	}
	all->ops->device(all->ctx);
}

static void on_group(void *ctx, const struct rcl_group_info *info)
{
	const struct rcd_links *all = ctx;

	all->ops->group(all->ctx, info);
}

static void on_list(void *ctx, const struct rcl_link_info *infos, size_t num,
		    bool lost)
{
	struct rcd_links *all = ctx;
	struct rcd_link *link;
	size_t i;

	if (lost)
		rcd_log(LOG_NOTICE,
			"events were lost, so all links are looked at");

	LIST_FOREACH(link, &all->list, node) {
		for (i = 0; i < num; i++)
			if (!strcmp(infos[i].name, link->conf.name))
				break;
		adopt(link, i < num ? &infos[i] : NULL);
	}
	/* One of a device may have been among them. */
	if (lost)
		on_device(all);
	all->ops->looked(all->ctx);
	all->ops->changed(all->ctx);
}

static void on_unloaded(void *ctx)
{
	struct rcd_links *all = ctx;
	struct rcd_link *link;

	rcd_log(LOG_NOTICE,
		"the rclink module was unloaded, and the links with it; they come back when it is loaded");
	LIST_FOREACH(link, &all->list, node) {
		event_del(link->timer);
		unqueue(link);
		set_down(link, "the module was unloaded");
		link->failures = 0;
	}
}

static const struct rch_watch watch = {
	.event = on_event,
	.group = on_group,
	.device = on_device,
	.list = on_list,
	.unloaded = on_unloaded,
};

static void forget(struct rcd_link *link)
{
	yield(link, "the link is no longer configured");
	unqueue(link);
	LIST_REMOVE(link, node);
	event_free(link->timer);
	free(link);
}

static void change(struct rcd_link *link, const struct rcd_link_conf *conf)
{
	const struct rcd_link_conf old = link->conf;
	char ignored[RCL_ERR_LEN];

	link->conf = *conf;
	if (rcd_link_same(&old, conf))
		return;
	rcd_log(LOG_NOTICE, "%s: its configuration changed", conf->name);
	link->failures = 0;
	link->stale |= rcd_kernel_replaces(&old.policy, &conf->policy);
	yield(link, "the configuration of the link changed");
	event_del(link->timer);
	unqueue(link);
	/* Whoever it was must not be there a moment longer. */
	if (strcmp(rcd_link_identity(&old), rcd_link_identity(conf)) &&
	    module(link->all))
		rcl_call_disconnect(module(link->all), conf->name, ignored);
}

static int add(struct rcd_links *all, const struct rcd_link_conf *conf)
{
	struct rcd_link *link = calloc(1, sizeof(*link));

	if (link)
		link->timer = evtimer_new(all->base, on_timer, link);
	if (!link || !link->timer) {
		free(link);
		return -ENOMEM;
	}
	link->all = all;
	link->conf = *conf;
	LIST_INSERT_HEAD(&all->list, link, node);
	return 0;
}

static void remove_missing(struct rcd_links *all, const struct rcd_conf *conf)
{
	struct rcd_link *link, *next;
	char err[RCL_ERR_LEN];
	size_t i;

	for (link = LIST_FIRST(&all->list); link; link = next) {
		next = LIST_NEXT(link, node);
		for (i = 0; i < conf->num; i++)
			if (!strcmp(conf->link[i].name, link->conf.name))
				break;
		if (i < conf->num)
			continue;
		rcd_log(LOG_NOTICE, "%s: no longer configured, deleted",
			link->conf.name);
		if (module(all) &&
		    rcl_call_delete(module(all), link->conf.name, err))
			rcd_log(LOG_WARNING, "%s: %s", link->conf.name, err);
		forget(link);
	}
}

static struct rch_peers *peers_of(const struct rcd_conf *conf, char *err)
{
	char text[RCLINK_NAME_MAX + RCLINK_PEER_MAX + 8];
	struct rch_peers *peers = rch_peers_new();
	const struct rcd_link_conf *link;
	size_t i;

	if (!peers) {
		rcl_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	for (i = 0; i < conf->num; i++) {
		link = &conf->link[i];
		snprintf(text, sizeof(text), "%s=%s%s", link->name,
			 link->dns[0] ? "dns:" : "", rcd_link_identity(link));
		if (rch_peers_add(peers, text, err)) {
			rch_peers_free(peers);
			return NULL;
		}
	}
	return peers;
}

int rcd_links_set(struct rcd_links *all, const struct rcd_conf *conf,
		  const struct rcd_trust *trust, char *err)
{
	struct rch_peers *peers = peers_of(conf, err);
	struct rcd_link *link;
	size_t i;

	if (!peers)
		return -ENOMEM;
	rch_peers_free(all->peers);
	all->peers = peers;
	remove_missing(all, conf);
	for (i = 0; i < conf->num; i++) {
		link = find(all, conf->link[i].name);
		if (link)
			change(link, &conf->link[i]);
		else if (add(all, &conf->link[i]))
			return rcl_fail(err, -ENOMEM, "out of memory");
	}
	all->trust = trust;
	rch_hub_watch(all->hub, &watch, all);
	return 0;
}

bool rcd_links_know(const struct rcd_links *all, const char *identity,
		    const char *name)
{
	return rch_peers_know(all->peers, identity, name);
}

int rcd_links_admit(struct rcd_links *all, const struct rcx_ids *ids,
		    const char *wanted, char *name, char *err)
{
	struct rcd_link *link;
	int as;

	as = rch_peers_admit(all->peers, ids, wanted, name, err);
	if (as < 0)
		return as;
	if (!module(all))
		return rcl_fail(err, -ENODEV,
				"the rclink module is not loaded there; try again later");
	link = find(all, name);
	if (!link)
		return rcl_fail(err, -ENOENT, "link %s is being set up", name);
	if (link->answering || !rch_bucket_take(&link->answers, &answers,
						rcl_now()))
		return rcl_fail(err, -EBUSY,
				"too many exchanges for link %s; try again in a second",
				name);
	if (all->answers == ANSWERS_MAX)
		return rcl_fail(err, -EBUSY,
				"too many exchanges are under way here; try again later");
	if (link->dial && link->reached &&
	    rcd_trust_goes_first(all->trust, ids->id[0]))
		return rcl_fail(err, -EALREADY,
				"both ends dial at once, and the other one goes on");
	yield(link, "both ends dial at once, and the other one goes on");
	/* Its rotation is not put off by a peer that only begins one. */
	if (!link->up)
		event_del(link->timer);
	unqueue(link);
	link->answering = true;
	all->answers++;
	return as;
}

void rcd_links_answered(struct rcd_links *all, const struct rch_call *call,
			int result, const char *err)
{
	struct rcd_link *link = find(all, call->link);

	if (!*call->link) {
		all->refused++;
		rcd_log_stranger("refused %s: %s", call->from, err);
		return;
	}
	all->answers--;
	if (link) {
		link->answering = false;
		link->tally.answered[result ? RCD_FAILED : RCD_UP]++;
	}
	/* It has just been rotated, if it was up before. */
	if (link && !result)
		event_del(link->timer);
	if (!result)
		log_up(call->link, call->epoch, call->ns, call->from);
	else
		rcd_log(LOG_WARNING, "%s: not up, from %s: %s", call->link,
			call->from, err);
	if (link)
		want(link);
}

void rcd_links_stop(struct rcd_links *all)
{
	struct rcd_link *link, *next;

	all->stopping = true;
	for (link = LIST_FIRST(&all->list); link; link = next) {
		next = LIST_NEXT(link, node);
		yield(link, "the daemon was stopped");
	}
}

struct rcd_links *rcd_links_new(struct event_base *base,
				const struct rcd_links_ops *ops, void *ctx,
				char *err)
{
	struct rcd_links *all = calloc(1, sizeof(*all));

	if (!all) {
		rcl_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	LIST_INIT(&all->list);
	TAILQ_INIT(&all->turns);
	all->base = base;
	all->ops = ops;
	all->ctx = ctx;
	all->hub = rch_hub_new(base, err);
	if (all->hub)
		return all;
	free(all);
	return NULL;
}

void rcd_links_free(struct rcd_links *all)
{
	all->stopping = true;
	while (!LIST_EMPTY(&all->list))
		forget(LIST_FIRST(&all->list));
	rch_hub_free(all->hub);
	rch_peers_free(all->peers);
	free(all);
}
