// SPDX-License-Identifier: GPL-2.0
#include "links_core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "kernel.h"
#include "link.h"
#include "links_end.h"
#include "links_keep.h"
#include "listener.h"
#include "log.h"
#include "peers.h"
#include "process.h"
#include "trust.h"

#define ANSWERS_MAX	32	/* at once, to peers that proved who they are */
#define ANSWERS_EACH	24	/* to one of them; it dials 16 at once */
#define STUCK_NS	2000000000ULL	/* without a word from the peer */

/* A refused peer may dial again, but not endlessly within a second. */
static const struct rch_rate answers = { 1000000000, 3 };

static struct rcd_link *find(const struct rcd_link_list *list, const char *name)
{
	struct rcd_link *link;

	LIST_FOREACH(link, list, node)
		if (!strcmp(link->conf.name, name))
			return link;
	return NULL;
}

/* A name is free at once; its old link's end may be yet to come. */
static void take_id(struct rcd_link *link, uint32_t id)
{
	const bool other = link->id && link->id != id;

	link->id = id;
	if (!other)
		return;
	link->broken = true;
	rcd_link_down(link, "it was deleted and made again");
}

static void on_event(void *ctx, const struct rcl_link_info *info)
{
	const struct rcd_links *all = ctx;
	struct rcd_link *link = find(&all->list, info->name);

	if (!link)
		return;
	if (info->event_kind == RCLINK_EVENT_KIND_CREATED)
		take_id(link, info->id);
	/* An earlier link of that name may take its time to end. */
	if (info->id != link->id)
		return;
	if (info->event_kind == RCLINK_EVENT_KIND_DELETED) {
		link->id = 0;
		link->broken = true;
		rcd_link_down(link, "it was deleted");
	} else if (info->event_kind == RCLINK_EVENT_KIND_ROTATE) {
		/* It may be late: a later epoch already is the one wanted. */
		if (info->epoch >= link->epoch)
			rcd_link_rotate(link);
	} else if (info->event_kind == RCLINK_EVENT_KIND_STANDBY_DOWN) {
		/* The link is up; whoever began the exchange is told. */
	} else if (info->state == RCLINK_LINK_STATE_UP) {
		rcd_link_up(link, info->epoch);
	} else if (info->state == RCLINK_LINK_STATE_DOWN) {
		rcd_link_down(link, info->reason_text);
	}
}

/*
 * What kept links from coming up may be over: they wait as after one failure,
 * and a dial that got no answer is started again.
 */
static void on_device(void *ctx)
{
	struct rcd_links *all = ctx;
	struct rcd_link *link;

	LIST_FOREACH(link, &all->list, node) {
		if (!link->up && link->failures > 1) {
			link->failures = 1;
			event_del(link->timer);
			rcd_link_want(link);
		}
		if (link->up && link->refusals > 1) {
			link->refusals = 1;
			event_del(link->mend);
			rcd_link_want(link);
		}
		if (!link->reached && rcl_now() - link->begun > STUCK_NS)
			rcd_link_yield(link, "a port of this host has changed");
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
		link->id = i < num ? infos[i].id : 0;
		rcd_link_adopt(link, i < num ? &infos[i] : NULL);
	}
	/* A device's event may have been among them. */
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
		rcd_link_rest(link);
		link->id = 0;
		rcd_link_down(link, "the module was unloaded");
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

static bool is_another(const struct rcd_link_conf *a,
		       const struct rcd_link_conf *b)
{
	return strcmp(rcd_link_identity(a), rcd_link_identity(b));
}

static void change(struct rcd_link *link, const struct rcd_link_conf *conf)
{
	const struct rcd_link_conf old = link->conf;

	link->conf = *conf;
	if (rcd_link_same(&old, conf))
		return;
	rcd_log(LOG_NOTICE, "%s: its configuration changed", conf->name);
	/* What the module refused, the epoch never had. */
	if (link->up && !link->broken &&
	    rcd_kernel_ends(&old.policy, &conf->policy))
		link->former = link->epoch;
	link->failures = 0;
	link->outdated = link->answering;
	rcd_link_yield(link, "the configuration of the link changed");
	rcd_link_rest(link);
	if (is_another(&old, conf) && rcd_links_module(link->all)) {
		link->other = true;
		rcd_link_end_now(link);
	}
}

/* The link may be on its way out. */
static void revive(struct rcd_link *link, const struct rcd_link_conf *conf)
{
	const bool other = is_another(&link->conf, conf);

	LIST_REMOVE(link, node);
	LIST_INSERT_HEAD(&link->all->list, link, node);
	link->conf = *conf;
	link->gone = false;
	link->stale = true;
	link->failures = 0;
	link->other |= other;
	if (other)
		rcd_link_end_now(link);
}

static int set(struct rcd_links *all, const struct rcd_link_conf *conf)
{
	struct rcd_link *link = find(&all->list, conf->name);

	if (link) {
		change(link, conf);
		return 0;
	}
	link = find(&all->gone, conf->name);
	if (!link)
		return rcd_link_new(all, conf) ? 0 : -ENOMEM;
	revive(link, conf);
	return 0;
}

/* Delete the link, then forget it, unless it is wanted again. */
static void part(struct rcd_link *link)
{
	rcd_log(LOG_NOTICE, "%s: no longer configured, deleted",
		link->conf.name);
	rcd_link_yield(link, "the link is no longer configured");
	rcd_link_rest(link);
	link->up = false;
	link->answering = false;
	link->gone = true;
	LIST_REMOVE(link, node);
	LIST_INSERT_HEAD(&link->all->gone, link, node);
	rcd_link_end(link);
}

static void remove_missing(struct rcd_links *all, const struct rcd_conf *conf)
{
	struct rcd_link *link, *next;

	for (link = LIST_FIRST(&all->list); link; link = next) {
		next = LIST_NEXT(link, node);
		if (!rcd_conf_link(conf, link->conf.name))
			part(link);
	}
}

static struct rch_peers *peers_of(const struct rcd_conf *conf, char *err)
{
	struct rch_peers *peers = rch_peers_new();
	const struct rcd_link_conf *link;
	size_t i;

	if (!peers) {
		rcl_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	for (i = 0; i < conf->num; i++) {
		link = &conf->link[i];
		if (rch_peers_put(peers, link->name, rcd_link_identity(link),
				  link->dns[0], err)) {
			rch_peers_free(peers);
			return NULL;
		}
	}
	return peers;
}

/*
 * Whom the dials under way trust has changed. All are marked first: when one
 * ends, another may begin, with what is there now.
 */
static void dial_anew(struct rcd_links *all)
{
	struct rcd_link *link;

	LIST_FOREACH(link, &all->list, node)
		link->yields = link->dial;
	LIST_FOREACH(link, &all->list, node)
		if (link->yields)
			rcd_link_yield(link, "the keys changed meanwhile");
}

int rcd_links_set(struct rcd_links *all, const struct rcd_conf *conf,
		  struct rcd_trust *trust, char *err)
{
	const bool changed = all->trust && !rcd_trust_same(all->trust, trust);
	struct rch_peers *peers = peers_of(conf, err);
	size_t i;

	if (!peers)
		return -ENOMEM;
	rch_peers_free(all->peers);
	all->peers = peers;
	for (i = 0; i < conf->num; i++) {
		if (set(all, &conf->link[i]))
			return rcl_fail(err, -ENOMEM, "out of memory");
	}
	/* Links that changed must not wait for these. */
	remove_missing(all, conf);
	all->trust = trust;
	if (changed)
		dial_anew(all);
	rch_hub_watch(all->hub, &watch, all);
	return 0;
}

bool rcd_links_know(const struct rcd_links *all, const char *identity,
		    const char *name)
{
	const struct rcd_link *link = name ? find(&all->list, name) : NULL;

	return !(link && link->outdated) &&
	       rch_peers_know(all->peers, identity, name);
}

/* Whoever stalls all of its exchanges must not keep other peers out. */
static int find_room(const struct rcd_links *all, const struct rcd_link *next,
		     char *err)
{
	const struct rcd_link *link;
	unsigned int each = 0;

	if (rcd_links_count(all).answers >= ANSWERS_MAX)
		return rcl_fail(err, -EBUSY,
				"too many exchanges are under way here; try again later");
	LIST_FOREACH(link, &all->list, node)
		each += link->answering && !is_another(&link->conf,
						       &next->conf);
	if (each >= ANSWERS_EACH)
		return rcl_fail(err, -EBUSY,
				"too many exchanges are under way here with this peer; try again later");
	return 0;
}

int rcd_links_admit(struct rcd_links *all, const struct rcx_ids *ids,
		    const char *wanted, char *name, char *err)
{
	struct rcd_link *link;
	int as;

	as = rch_peers_admit(all->peers, ids, wanted, name, err);
	if (as < 0)
		return as;
	if (!rcd_links_module(all))
		return rcl_fail(err, -ENODEV,
				"the rclink module is not loaded there; try again later");
	link = find(&all->list, name);
	if (!link || link->stale || link->anew || rcd_link_end_waits(link))
		return rcl_fail(err, -ENOENT, "link %s is being set up", name);
	if (link->answering || !rch_bucket_take(&link->answers, &answers,
						rcl_now()))
		return rcl_fail(err, -EBUSY,
				"too many exchanges for link %s; try again in a second",
				name);
	if (find_room(all, link, err))
		return -EBUSY;
	if (link->dial && link->reached &&
	    rcd_trust_goes_first(all->trust, ids->id[0]))
		return rcl_fail(err, -EALREADY,
				"both ends dial at once, and the other one goes on");
	rcd_link_yield(link,
		       "both ends dial at once, and the other one goes on");
	/*
	 * A peer that only begins an exchange does not cancel the rotation of
	 * a link, but each exchange delays it by a second.
	 */
	rcd_link_unqueue(link);
	if (!link->up)
		rcd_link_rest(link);
	link->answering = true;
	link->superseded = false;
	link->outdated = false;
	link->begun = rcl_now();
	return as;
}

/* The caller was admitted to no link. */
static void turned_away(struct rcd_links *all, const struct rch_call *call,
			const char *err)
{
	if (call->given_up) {
		rcd_log_stranger(LOG_INFO, "given up, from %s: %s", call->from,
				 err);
		return;
	}
	all->refused++;
	rcd_log_stranger(LOG_WARNING, "refused %s: %s", call->from, err);
}

void rcd_links_answered(struct rcd_links *all, const struct rch_call *call,
			int result, const char *err)
{
	struct rcd_link *link = find(&all->list, call->link);

	if (!*call->link) {
		turned_away(all, call, err);
		return;
	}
	if (result)
		rcd_log(LOG_WARNING, "%s: not up, from %s: %s", call->link,
			call->from, err);
	if (!link)
		return;
	link->answering = false;
	link->tally.answered[!result ? RCD_UP :
			     result == -ECANCELED ? RCD_GIVEN_UP :
						    RCD_FAILED]++;
	if (!result)
		rcd_link_exchanged(link, call->epoch, call->ns, call->from);
	/*
	 * It came up with the old settings, because nobody looked meanwhile.
	 * Or it did not, and nothing brings back the peer that it had before.
	 */
	if (link->outdated && (!result || link->other))
		rcd_link_end(link);
	rcd_link_want(link);
}

void rcd_links_stop(struct rcd_links *all)
{
	struct rcd_link *link, *next;

	all->stopping = true;
	for (link = LIST_FIRST(&all->list); link; link = next) {
		next = LIST_NEXT(link, node);
		rcd_link_yield(link, "the daemon was stopped");
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
	LIST_INIT(&all->gone);
	TAILQ_INIT(&all->turns);
	TAILQ_INIT(&all->ends);
	all->ended = rcd_link_ended;
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
	rcd_links_end_all(all);
	while (!LIST_EMPTY(&all->list))
		rcd_link_free(LIST_FIRST(&all->list));
	while (!LIST_EMPTY(&all->gone))
		rcd_link_free(LIST_FIRST(&all->gone));
	rch_hub_free(all->hub);
	rch_peers_free(all->peers);
	free(all);
}
