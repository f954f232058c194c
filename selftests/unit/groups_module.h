/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the module, of which the daemon asks groups, for the requests,
 * which end when the test says so, and for the loading of the configuration.
 */
#ifndef GROUPS_MODULE_H
#define GROUPS_MODULE_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "backoff.h"
#include "conf.h"
#include "group.h"
#include "groups.h"
#include "job.h"
#include "log.h"

#define MAX	8	/* groups, and requests */

static struct {
	bool loaded;
	bool refuses;
	struct rcl_group_info group[MAX];
	size_t num;
	uint32_t ids;			/* given so far */
	unsigned int added;
	unsigned int deleted;
	unsigned int changed;
	unsigned int rekeyed;
	bool unloading;
	unsigned int failures;		/* last passed to rcd_backoff() */
	unsigned int waits;		/* calls of rcd_backoff() */
	unsigned int errors;		/* in the log */
	char said[128];			/* the last line of the log */
} module;

/* The first request of each link or group has begun; any may end next. */
struct rch_ask {
	struct rch_request request;
	char what[sizeof(struct rcl_group_info) +
		  sizeof(struct rcl_group_change) + 64];
};

static struct {
	struct rch_ask *ask[MAX];
	size_t num;
	unsigned int sockets;		/* that are open */
	unsigned int starts;
	bool refuses;			/* there is no thread */
} asks;

struct rcl_nl *rch_hub_open(const struct rch_hub *hub, char *err)
{
	(void)hub;
	if (!module.loaded) {
		rcl_fail(err, -ENODEV, "not loaded");
		return NULL;
	}
	asks.sockets++;
	return (struct rcl_nl *)&module;
}

void rcl_nl_close(struct rcl_nl *nl)
{
	asks.sockets -= !!nl;
}

struct rch_asks *rch_asks_new(struct event_base *base)
{
	(void)base;
	return (struct rch_asks *)&asks;
}

struct rch_ask *rch_ask_start(struct rch_asks *all, struct rcl_nl *nl,
			      const struct rch_request *request, char *err)
{
	struct rch_ask *a;

	(void)all;
	(void)nl;
	if (asks.refuses) {
		rcl_fail(err, -EAGAIN, "no more threads");
		return NULL;
	}
	a = calloc(1, sizeof(*a));
	a->request = *request;
	if (request->size > sizeof(a->what) || asks.num == MAX)
		abort();
	memcpy(a->what, request->what, request->size);
	a->request.link = strdup(request->link);
	asks.ask[asks.num++] = a;
	asks.starts++;
	return a;
}

static struct rch_ask *take(size_t i)
{
	struct rch_ask *a = asks.ask[i];

	memmove(asks.ask + i, asks.ask + i + 1,
		(--asks.num - i) * sizeof(asks.ask[0]));
	return a;
}

static void release(struct rch_ask *a)
{
	free((char *)a->request.link);
	free(a);
}

static void finish(size_t i)
{
	struct rch_ask *a = take(i);
	char err[RCL_ERR_LEN];
	int ret;

	ret = a->request.ask((struct rcl_nl *)&module, a->what, err);
	if (a->request.done)
		a->request.done(a->request.ctx, (struct rcl_nl *)&module, ret,
				a->what, err);
	else
		rcl_nl_close((struct rcl_nl *)&module);
	release(a);
}

static void settle(void)
{
	while (asks.num)
		finish(0);
}

/* Drops a request that has not begun, unless it must be carried out. */
void rch_ask_leave(struct rch_ask *ask)
{
	bool begun = true;
	size_t i;

	ask->request.done = NULL;
	for (i = 0; asks.ask[i] != ask; i++)
		if (!strcmp(asks.ask[i]->request.link, ask->request.link))
			begun = false;
	if (begun || ask->request.must)
		return;
	release(take(i));
	rcl_nl_close((struct rcl_nl *)&module);
}

void rch_asks_free(struct rch_asks *all)
{
	(void)all;
	settle();
}

struct rcl_nl *rch_hub_requests(const struct rch_hub *hub)
{
	(void)hub;
	return module.loaded ? (struct rcl_nl *)&module : NULL;
}

static struct rcl_group_info *find(const char *name)
{
	size_t i;

	for (i = 0; i < module.num; i++)
		if (!strcmp(module.group[i].name, name))
			return &module.group[i];
	return NULL;
}

/* The module chooses the values that @want leaves open, and tells them. */
static struct rcl_group_info *have(const struct rcl_group_info *want)
{
	struct rcl_group_info *group = &module.group[module.num++];

	*group = *want;
	group->id = ++module.ids;
	group->has_gid_index = true;
	if (!want->has_gid_index ||
	    want->gid_index == RCLINK_GID_INDEX_AUTO)
		group->gid_index = 1;
	if (!want->device[0])
		strcpy(group->device, "rxe0");
	if (!want->port)
		group->port = 1;
	group->has_qkey = true;
	if (!want->has_qkey)
		group->qkey = 0x80000000;
	if (!(want->access.given & 1u << RCL_P_MODE))
		group->access.v[RCL_P_MODE] = 0600;
	return group;
}

int rcl_call_group_add(struct rcl_nl *nl, const struct rcl_group_info *want,
		       char *err)
{
	(void)nl;
	module.added++;
	if (module.unloading)
		return rcl_fail(err, -ESHUTDOWN, "being unloaded");
	if (module.refuses)
		return rcl_fail(err, -ENODEV, "no such device");
	if (find(want->name))
		return rcl_fail(err, -EEXIST, "there already");
	have(want);
	return 0;
}

int rcl_call_group_del(struct rcl_nl *nl, const char *name, char *err)
{
	struct rcl_group_info *group = find(name);

	(void)nl;
	module.deleted++;
	if (!group)
		return rcl_fail(err, -ENOENT, "no such group");
	*group = module.group[--module.num];
	return 0;
}

static void take_off(struct rcl_group_info *group, const char *link)
{
	size_t i;

	for (i = 0; strcmp(group->link[i], link); i++)
		;
	memcpy(group->link[i], group->link[--group->nlinks],
	       sizeof(group->link[0]));
}

int rcl_call_group_set(struct rcl_nl *nl, const char *name,
		       const struct rcl_group_change *change, char *err)
{
	struct rcl_group_info *group = find(name);
	size_t i;

	(void)nl;
	module.changed++;
	if (!group)
		return rcl_fail(err, -ENOENT, "no such group");
	if (module.refuses)
		return rcl_fail(err, -ENOMEM, "out of memory");
	module.rekeyed += change->rekey;
	for (i = 0; i < change->noff; i++)
		take_off(group, change->off[i]);
	for (i = 0; i < change->non; i++)
		strcpy(group->link[group->nlinks++], change->on[i]);
	for (i = 0; i < RCL_P_MAX; i++)
		if (change->access.given & 1u << i)
			group->access.v[i] = change->access.v[i];
	return 0;
}

int rcl_call_groups(struct rcl_nl *nl, const char *name,
		    struct rcl_group_info **infos, size_t *num, char *err)
{
	const struct rcl_group_info *from = name ? find(name) : module.group;

	(void)nl;
	if (!from)
		return rcl_fail(err, -ENOENT, "no such group");
	*num = name ? 1 : module.num;
	*infos = calloc(MAX, sizeof(**infos));
	memcpy(*infos, from, *num * sizeof(*from));
	return 0;
}

uint64_t rcd_backoff(unsigned int failures, uint64_t now, uint64_t last,
		     uint32_t random)
{
	(void)now;
	(void)last;
	(void)random;
	module.failures = failures;
	module.waits++;
	return 1000;
}

void rcd_log(int priority, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(module.said, sizeof(module.said), fmt, args);
	va_end(args);
	module.errors += priority <= LOG_WARNING;
}

static void say(void *ctx, const struct rcd_place *place, const char *text)
{
	(void)ctx;
	printf("# line %u: %s\n", place->line, text);
}

/* As at a start, or at a reload: sets the groups, then looks at them. */
static bool begin(struct rcd_groups *all, const char *text)
{
	FILE *from = fmemopen((void *)text, strlen(text), "r");
	const struct rcd_report report = { .say = say };
	char err[RCL_ERR_LEN];
	struct rcd_conf conf;
	bool ok;

	rcd_conf_init(&conf);
	ok = !rcd_conf_parse(&conf, from, "f", &report) &&
	     !rcd_conf_finish(&conf, &report) &&
	     !rcd_groups_set(all, &conf, err);
	if (ok && module.loaded)
		rcd_groups_look(all);
	rcd_conf_free(&conf);
	fclose(from);
	return ok;
}

static bool follow(struct rcd_groups *all, const char *text)
{
	bool ok = begin(all, text);

	settle();
	return ok;
}

static void look(struct rcd_groups *all)
{
	rcd_groups_look(all);
	settle();
}

#endif /* GROUPS_MODULE_H */
