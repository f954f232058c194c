// SPDX-License-Identifier: GPL-2.0
/*
 * A group that the module refuses, because its device is not there yet or for
 * any other reason, is tried again with back-off. A group that the module has
 * rejoins by itself after it failed; one that somebody deletes is made again.
 *
 * A silent subnet manager costs the module 10 s, so requests that change a
 * group are made in a thread (ask.h), one per group at a time. Whatever comes
 * up meanwhile is found by another look when the request is over.
 */
#include "groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <event2/event.h>

#include "ask.h"
#include "backoff.h"
#include "conf.h"
#include "group_setting.h"
#include "job.h"
#include "log.h"
#include "process.h"

#define CHANGE_LEN	512	/* of the text about it */

struct rcd_group {
	LIST_ENTRY(rcd_group) node;
	struct rcd_groups *all;
	struct rcd_group_conf conf;
	uint32_t id;			/* in the module; 0: not known */
	bool ours;			/* made or taken over */
	bool stale;			/* to be made anew */
	bool news;			/* read, but the module not told yet */
	bool rekey;			/* it must get another key */
	bool gone;			/* no longer configured */
	struct rch_ask *ask;		/* the request under way, or NULL */
	bool again;			/* look again when ask is over */
	bool lost;			/* deleted while ask was under way */
	unsigned int failures;		/* in a row */
	uint64_t tried;			/* ns; 0: never */
	struct event *timer;
};

struct rcd_groups {
	struct event_base *base;
	const struct rch_hub *hub;
	struct rch_asks *asks;
	LIST_HEAD(, rcd_group) list;
};

/* What a thread asks of the module. */
struct wish {
	enum { SET, MAKE, MAKE_ANEW, DELETE } what;
	bool was_ours;			/* it is made again then */
	struct rcl_group_info want;
	struct rcl_group_change change;
	uint32_t id;			/* of what was made; 0: not known */
};

static struct rcd_group *find(const struct rcd_groups *all, const char *name)
{
	struct rcd_group *group;

	LIST_FOREACH(group, &all->list, node)
		if (!strcmp(group->conf.want.name, name))
			return group;
	return NULL;
}

/* NULL: it is not loaded. */
static struct rcl_nl *module(const struct rcd_groups *all)
{
	return rch_hub_requests(all->hub);
}

static void try_later(struct rcd_group *group)
{
	const struct timeval tv =
		rcl_timeval(rcd_backoff(group->failures, rcl_now(),
					group->tried, arc4random()));

	event_add(group->timer, &tv);
}

static void failed(struct rcd_group *group, const char *err)
{
	const struct rcd_place *place = &group->conf.place;

	rcd_log(LOG_ERR, "%s:%u: [Group %s]: %s", place->file, place->line,
		group->conf.want.name, err);
	group->failures++;
	try_later(group);
}

static bool has_index(const struct rcl_group_info *want)
{
	return want->has_gid_index && want->gid_index != RCLINK_GID_INDEX_AUTO;
}

/*
 * Leaves out what can be changed: the links, and who may use the group. What
 * was not configured may be whatever the module has chosen.
 */
static bool is_as_wanted(const struct rcl_group_info *want,
			 const struct rcl_group_info *info)
{
	return !memcmp(want->mgid, info->mgid, sizeof(want->mgid)) &&
	       (!want->mlid || want->mlid == info->mlid) &&
	       !strcmp(want->from, info->from) &&
	       (!want->device[0] || !strcmp(want->device, info->device)) &&
	       (!want->port || want->port == info->port) &&
	       (!has_index(want) || want->gid_index == info->gid_index) &&
	       (!want->has_qkey || want->qkey == info->qkey);
}

/* The module reports what it has chosen, not that it was free to choose. */
static bool chooses_else(const struct rcl_group_info *old,
			 const struct rcl_group_info *new)
{
	return !old->device[0] != !new->device[0] ||
	       !old->port != !new->port || !old->mlid != !new->mlid ||
	       has_index(old) != has_index(new) ||
	       (old->has_qkey && !new->has_qkey);
}

/* Access that is not configured is for root alone. */
static void find_access(const struct rcl_policy *want,
			const struct rcl_policy *has,
			struct rcl_policy *change)
{
	static const struct {
		int field;
		uint32_t without;
	} access[] = {
		{ RCL_P_OWNER, 0 }, { RCL_P_GROUP, 0 }, { RCL_P_MODE, 0600 },
	};
	size_t i;

	for (i = 0; i < sizeof(access) / sizeof(access[0]); i++) {
		int field = access[i].field;
		uint32_t value = want->given & 1u << field ? want->v[field] :
				 access[i].without;

		if (value == has->v[field])
			continue;
		change->given |= 1u << field;
		change->v[field] = value;
	}
}

static void find_change(const struct rcl_group_info *want,
			const struct rcl_group_info *info,
			struct rcl_group_change *change)
{
	size_t i;

	memset(change, 0, sizeof(*change));
	for (i = 0; i < want->nlinks; i++)
		if (!rcl_group_lists(info, want->link[i]))
			strcpy(change->on[change->non++], want->link[i]);
	for (i = 0; i < info->nlinks; i++)
		if (!rcl_group_lists(want, info->link[i]))
			strcpy(change->off[change->noff++], info->link[i]);
	find_access(&want->access, &info->access, &change->access);
}

static bool is_change(const struct rcl_group_change *change)
{
	return change->non || change->noff || change->access.given ||
	       change->rekey;
}

static void log_change(const char *name, const struct rcl_group_change *change)
{
	char text[CHANGE_LEN] = "";
	size_t len = 0;
	size_t i;

	for (i = 0; i < change->non && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, " +%s",
				change->on[i]);
	for (i = 0; i < change->noff && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, " -%s",
				change->off[i]);
	if (change->access.given && len < sizeof(text))
		len += snprintf(text + len, sizeof(text) - len,
				" who may use it");
	if (change->rekey && len < sizeof(text))
		snprintf(text + len, sizeof(text) - len, " its key");
	rcd_log(LOG_NOTICE, "group %s: changed:%s", name, text);
}

static uint32_t id_of(struct rcl_nl *nl, const char *name)
{
	struct rcl_group_info *info;
	char ignored[RCL_ERR_LEN];
	uint32_t id = 0;
	size_t num;

	if (rcl_call_groups(nl, name, &info, &num, ignored))
		return 0;
	if (num)
		id = info->id;
	free(info);
	return id;
}

static int ask_module(struct rcl_nl *nl, void *what, char *err)
{
	struct wish *wish = what;
	const char *name = wish->want.name;
	int ret = 0;

	if (wish->what == SET)
		return rcl_call_group_set(nl, name, &wish->change, err);
	if (wish->what != MAKE)
		ret = rcl_call_group_del(nl, name, err);
	if (ret && ret != -ENOENT)
		return ret;
	if (wish->what == DELETE)
		return 0;
	ret = rcl_call_group_add(nl, &wish->want, err);
	if (!ret)
		wish->id = id_of(nl, name);
	return ret;
}

static void on_asked(void *ctx, struct rcl_nl *nl, int ret, const void *what,
		     const char *err);

static int ask_for(struct rcd_group *group, struct wish *wish, char *err)
{
	const struct rch_request request = {
		.link = group->conf.want.name,
		.must = wish->what == DELETE || wish->change.rekey,
		.ask = ask_module,
		.what = wish,
		.size = sizeof(*wish),
		.done = on_asked,
		.ctx = group,
	};
	struct rcl_nl *nl = rch_hub_open(group->all->hub, err);

	wish->want = group->conf.want;
	group->again = false;
	group->lost = false;
	if (nl)
		group->ask = rch_ask_start(group->all->asks, nl, &request, err);
	if (group->ask)
		return 0;
	rcl_nl_close(nl);
	return -EAGAIN;
}

static int take_over(struct rcd_group *group, const struct rcl_group_info *info,
		     char *err)
{
	struct wish wish = { .what = SET };
	int ret;

	if (!group->ours)
		rcd_log(LOG_NOTICE, "group %s: is there, taken over",
			group->conf.want.name);
	group->ours = true;
	/* If somebody has deleted and remade it unnoticed, it is another. */
	group->news |= group->id != info->id;
	group->id = info->id;
	/* What others have changed stands until there is news. */
	if (group->news)
		find_change(&group->conf.want, info, &wish.change);
	wish.change.rekey = group->rekey;
	ret = is_change(&wish.change) ? ask_for(group, &wish, err) : 0;
	if (ret)
		return ret;
	group->news = false;
	group->rekey = false;
	return 0;
}

static int make(struct rcd_group *group, bool anew, char *err)
{
	struct wish wish = {
		.what = anew ? MAKE_ANEW : MAKE,
		.was_ours = group->ours,
	};
	int ret;

	ret = ask_for(group, &wish, err);
	if (ret)
		return ret;
	group->ours = false;
	group->stale = false;
	group->news = false;
	group->rekey = false;
	return 0;
}

static void is_made(struct rcd_group *group, const struct wish *wish)
{
	group->ours = true;
	group->id = wish->id;
	rcd_log(LOG_NOTICE, "group %s: made%s", wish->want.name,
		wish->what == MAKE_ANEW ?
		" anew, as it was not as configured" :
		wish->was_ours ? " again, as it was gone" : "");
}

static void forget(struct rcd_group *group)
{
	if (group->ask)
		rch_ask_leave(group->ask);
	LIST_REMOVE(group, node);
	event_free(group->timer);
	free(group);
}

/* Delete it, if it is the daemon's, and forget it. */
static void part(struct rcd_group *group)
{
	const char *name = group->conf.want.name;
	struct wish wish = { .what = DELETE };
	struct rcl_nl *nl = module(group->all);
	char err[RCL_ERR_LEN];

	if (group->ours && nl) {
		if (!ask_for(group, &wish, err))
			return;
		/* Without a thread the loop has to wait. */
		if (ask_module(nl, &wish, err))
			rcd_log(LOG_WARNING, "group %s: %s", name, err);
	}
	forget(group);
}

/* info is the group as the module has it, or NULL if it has none. */
static void adopt(struct rcd_group *group, const struct rcl_group_info *info)
{
	char err[RCL_ERR_LEN];
	int ret;

	event_del(group->timer);
	group->tried = rcl_now();
	if (info && !group->stale && is_as_wanted(&group->conf.want, info))
		ret = take_over(group, info, err);
	else
		ret = make(group, info, err);
	if (ret)
		failed(group, err);
	else if (!group->ask)
		group->failures = 0;
}

static void look(struct rcd_group *group)
{
	struct rcl_nl *nl = module(group->all);
	struct rcl_group_info *info = NULL;
	char err[RCL_ERR_LEN];
	size_t num = 0;
	int ret;

	/* When the module is loaded again, all are looked at. */
	if (!nl)
		return;
	ret = rcl_call_groups(nl, group->conf.want.name, &info, &num, err);
	if (ret && ret != -ENOENT) {
		failed(group, err);
		return;
	}
	adopt(group, num ? info : NULL);
	free(info);
}

static void log_done(struct rcd_group *group, const struct wish *wish)
{
	if (wish->what == SET)
		log_change(wish->want.name, &wish->change);
	else if (wish->what != DELETE)
		is_made(group, wish);
}

static void on_asked(void *ctx, struct rcl_nl *nl, int ret, const void *what,
		     const char *err)
{
	const struct wish *wish = what;
	struct rcd_group *group = ctx;

	rcl_nl_close(nl);
	group->ask = NULL;
	group->stale |= ret && wish->what == MAKE_ANEW;
	group->news |= !!ret;
	group->rekey |= ret && wish->change.rekey;
	group->ours &= wish->what != DELETE;
	if (!ret)
		log_done(group, wish);
	else if (wish->what == DELETE)
		rcd_log(LOG_WARNING, "group %s: %s", wish->want.name, err);
	if (group->gone) {
		part(group);
		return;
	}
	/* A module that is being unloaded has no groups any more. */
	if (ret && ret != -ESHUTDOWN && module(group->all))
		failed(group, err);
	else
		group->failures = 0;
	if (group->again)
		look(group);
	else if (group->lost && !ret)
		try_later(group);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct rcd_group *group = arg;

	(void)fd;
	(void)what;
	look(group);
}

void rcd_groups_look(struct rcd_groups *all)
{
	struct rcl_group_info *infos;
	struct rcd_group *group;
	char err[RCL_ERR_LEN];
	size_t i, num;
	int ret;

	if (LIST_EMPTY(&all->list))
		return;
	ret = rcl_call_groups(module(all), NULL, &infos, &num, err);
	LIST_FOREACH(group, &all->list, node) {
		group->again = !!group->ask;
		if (group->ask)
			continue;
		if (ret) {
			failed(group, err);
			continue;
		}
		for (i = 0; i < num; i++)
			if (!strcmp(infos[i].name, group->conf.want.name))
				break;
		adopt(group, i < num ? &infos[i] : NULL);
	}
	if (!ret)
		free(infos);
}

/* By somebody else, as far as is known; the next look will tell. */
static void deleted(struct rcd_group *group)
{
	if (module(group->all) && !group->ask)
		try_later(group);
}

void rcd_groups_heard(struct rcd_groups *all,
		      const struct rcl_group_info *event)
{
	struct rcd_group *group = find(all, event->name);

	if (group && event->event_kind == RCLINK_EVENT_KIND_DELETED) {
		group->lost = true;
		group->news = true;
	}
	if (!group || !group->ours || group->gone)
		return;
	if (event->event_kind == RCLINK_EVENT_KIND_DELETED)
		deleted(group);
	else if (event->event_kind != RCLINK_EVENT_KIND_CHANGED)
		return;
	else if (event->state == RCLINK_GROUP_STATE_DOWN)
		rcd_log(LOG_NOTICE, "group %s: down: %s", event->name,
			event->reason_text);
	else
		rcd_log(LOG_NOTICE, "group %s: joined again", event->name);
}

static void rekey_one(const struct rcd_groups *all, const char *name)
{
	const struct rcl_group_change change = { .rekey = true };
	char err[RCL_ERR_LEN];
	int ret = rcl_call_group_set(module(all), name, &change, err);

	if (!ret)
		log_change(name, &change);
	else if (ret != -ENOENT)
		rcd_log(LOG_ERR, "%s: %s: say `rclink group set %s rekey`",
			name, err, name);
}

/* For groups made by hand the loop asks the module itself: they are few. */
static void rekey_others(const struct rcd_groups *all, const char *link)
{
	struct rcl_group_info *infos;
	char err[RCL_ERR_LEN];
	size_t i, num;

	if (rcl_call_groups(module(all), NULL, &infos, &num, err)) {
		rcd_log(LOG_ERR, "%s: %s: rekey the groups that list it", link,
			err);
		return;
	}
	for (i = 0; i < num; i++)
		if (!find(all, infos[i].name) &&
		    rcl_group_lists(&infos[i], link))
			rekey_one(all, infos[i].name);
	free(infos);
}

void rcd_groups_other(struct rcd_groups *all, const char *link)
{
	struct rcd_group *group;

	LIST_FOREACH(group, &all->list, node) {
		group->rekey |= rcl_group_lists(&group->conf.want, link);
		group->stale |= !strcmp(group->conf.want.from, link);
		if (!group->rekey && !group->stale)
			continue;
		group->again = !!group->ask;
		if (!group->ask)
			look(group);
	}
	rekey_others(all, link);
}

void rcd_groups_hurry(struct rcd_groups *all)
{
	struct rcd_group *group;

	LIST_FOREACH(group, &all->list, node) {
		if (group->failures <= 1)
			continue;
		group->failures = 1;
		if (!group->ask)
			try_later(group);
	}
}

static void remove_missing(struct rcd_groups *all, const struct rcd_conf *conf)
{
	struct rcd_group *group, *next;
	const char *name;

	for (group = LIST_FIRST(&all->list); group; group = next) {
		next = LIST_NEXT(group, node);
		name = group->conf.want.name;
		if (group->gone || rcd_conf_group(conf, name))
			continue;
		rcd_log(LOG_NOTICE, "group %s: no longer configured%s", name,
			group->ours ? ", deleted" : "");
		group->gone = true;
		event_del(group->timer);
		if (!group->ask)
			part(group);
	}
}

static void change(struct rcd_group *group, const struct rcd_group_conf *conf)
{
	group->stale |= chooses_else(&group->conf.want, &conf->want);
	group->conf = *conf;
	group->news = true;
	group->gone = false;
	group->failures = 0;
}

static int add(struct rcd_groups *all, const struct rcd_group_conf *conf)
{
	struct rcd_group *group = calloc(1, sizeof(*group));

	if (group)
		group->timer = evtimer_new(all->base, on_timer, group);
	if (!group || !group->timer) {
		free(group);
		return -ENOMEM;
	}
	group->all = all;
	group->conf = *conf;
	group->news = true;
	LIST_INSERT_HEAD(&all->list, group, node);
	return 0;
}

int rcd_groups_set(struct rcd_groups *all, const struct rcd_conf *conf,
		   char *err)
{
	struct rcd_group *group;
	size_t i;

	for (i = 0; i < conf->ngroups; i++) {
		group = find(all, conf->group[i].want.name);
		if (group)
			change(group, &conf->group[i]);
		else if (add(all, &conf->group[i]))
			return rcl_fail(err, -ENOMEM, "out of memory");
	}
	remove_missing(all, conf);
	return 0;
}

struct rcd_groups *rcd_groups_new(struct event_base *base,
				  const struct rch_hub *hub, char *err)
{
	struct rcd_groups *all = calloc(1, sizeof(*all));

	if (all)
		all->asks = rch_asks_new(base);
	if (!all || !all->asks) {
		rcl_fail(err, -ENOMEM, "out of memory");
		free(all);
		return NULL;
	}
	LIST_INIT(&all->list);
	all->base = base;
	all->hub = hub;
	return all;
}

/* Delete a gone group whose request is under way; do the rekey it owes. */
static void end(struct rcd_group *group)
{
	struct wish wish = { .what = group->gone ? DELETE : SET,
			     .change.rekey = group->rekey };
	char ignored[RCL_ERR_LEN];

	if (group->rekey || (group->gone && group->ask)) {
		if (group->ask)
			rch_ask_leave(group->ask);
		group->ask = NULL;
		ask_for(group, &wish, ignored);
	}
	forget(group);
}

void rcd_groups_free(struct rcd_groups *all)
{
	struct rcd_group *group;

	if (!all)
		return;
	while ((group = LIST_FIRST(&all->list)))
		end(group);
	rch_asks_free(all->asks);
	free(all);
}
