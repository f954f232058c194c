/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the module that the daemon asks, for the requests, which end
 * when the test says so, and for what keeps links up.
 */
#ifndef END_MODULE_H
#define END_MODULE_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "ask.h"
#include "call.h"
#include "links_core.h"
#include "links_end.h"
#include "links_keep.h"
#include "log.h"
#include "process.h"
#include "trust.h"

#define LINKS	40	/* more than end at once */

static int something;
static const struct rch_watch *watch;
static void *watch_ctx;
static unsigned int downs;
static uint64_t replaced;	/* epoch; 0: none */
static int refusal;	/* what a replace returns */
static unsigned int deletes, news;	/* of l0 */
static unsigned int replaces;	/* of all links */
static bool loaded;
static bool refuses;	/* there is no thread */

/* The first request for each link is under way until the test answers it. */
struct rch_ask {
	struct rch_request request;
	char link[RCLINK_NAME_MAX + 1];
	char what[1024];
};

static struct rch_ask *asked[2 * LINKS];
static size_t num;

struct rch_ask *rch_ask_start(struct rch_asks *all, struct rcl_nl *nl,
			      const struct rch_request *request, char *err)
{
	struct rch_ask *a = calloc(1, sizeof(*a));

	(void)all;
	(void)nl;
	(void)err;
	if (refuses) {
		free(a);
		return NULL;
	}
	if (!a || num == 2 * LINKS || request->size > sizeof(a->what))
		abort();
	a->request = *request;
	strcpy(a->link, request->link);
	memcpy(a->what, request->what, request->size);
	asked[num++] = a;
	return a;
}

static struct rch_ask *take(size_t i)
{
	struct rch_ask *a = asked[i];

	memmove(asked + i, asked + i + 1, (--num - i) * sizeof(asked[0]));
	return a;
}

/* A request that has not begun is dropped, unless it must be made. */
void rch_ask_leave(struct rch_ask *a)
{
	bool begun = true;
	size_t i;

	a->request.done = NULL;
	for (i = 0; asked[i] != a; i++)
		if (!strcmp(asked[i]->link, a->link))
			begun = false;
	if (!begun && !a->request.must)
		free(take(i));
}

/* Answer the oldest request. */
static void answer(void)
{
	struct rch_ask *a = take(0);
	char err[RCL_ERR_LEN] = "";
	int ret;

	ret = a->request.ask((struct rcl_nl *)&something, a->what, err);
	if (a->request.done)
		a->request.done(a->request.ctx, NULL, ret, a->what, err);
	free(a);
}

void rcl_nl_close(struct rcl_nl *nl)
{
	(void)nl;
}

int rcl_call_replace(struct rcl_nl *nl, const char *name, uint64_t epoch,
		     char *err)
{
	(void)nl;
	(void)name;
	replaced = epoch;
	replaces++;
	return refusal ? rcl_fail(err, refusal, "refused") : 0;
}

int rcl_call_delete(struct rcl_nl *nl, const char *name, char *err)
{
	(void)nl;
	(void)err;
	deletes += !strcmp(name, "l0");
	return 0;
}

int rcl_call_new(struct rcl_nl *nl, const char *name,
		 const struct rcl_policy *policy, char *err)
{
	(void)nl;
	(void)policy;
	(void)err;
	news += !strcmp(name, "l0");
	return 0;
}

int rcl_call_set(struct rcl_nl *nl, const char *name,
		 const struct rcl_policy *policy, char *err)
{
	(void)nl;
	(void)name;
	(void)policy;
	(void)err;
	return 0;
}

int rcl_call_record(struct rcl_nl *nl, const char *name,
		    struct rcl_entry **entries, size_t *records, char *err)
{
	(void)nl;
	(void)name;
	(void)entries;
	(void)records;
	(void)err;
	return -ENOENT;
}

uint64_t rcl_since_boot(void)
{
	return rcl_now();
}

struct rch_hub *rch_hub_new(struct event_base *base, char *err)
{
	(void)base;
	(void)err;
	return (struct rch_hub *)&something;
}

void rch_hub_free(struct rch_hub *hub)
{
	(void)hub;
}

void rch_hub_watch(struct rch_hub *hub, const struct rch_watch *watches,
		   void *ctx)
{
	(void)hub;
	watch = watches;
	watch_ctx = ctx;
}

struct rcl_nl *rch_hub_requests(const struct rch_hub *hub)
{
	(void)hub;
	return loaded ? (struct rcl_nl *)&something : NULL;
}

struct rcl_nl *rch_hub_open(const struct rch_hub *hub, char *err)
{
	(void)err;
	return rch_hub_requests(hub);
}

struct rch_asks *rch_hub_asks(const struct rch_hub *hub)
{
	(void)hub;
	return (struct rch_asks *)&something;
}

uint64_t rcl_now(void)
{
	return 1000000000;
}

struct rcl_nl *rcd_links_module(const struct rcd_links *all)
{
	(void)all;
	return (struct rcl_nl *)&something;
}

struct rcd_link *rcd_link_new(struct rcd_links *all,
			      const struct rcd_link_conf *conf)
{
	struct rcd_link *link = calloc(1, sizeof(*link));

	if (!link)
		abort();
	link->all = all;
	link->conf = *conf;
	link->timer = evtimer_new(all->base, NULL, NULL);
	LIST_INSERT_HEAD(&all->list, link, node);
	return link;
}

void rcd_link_free(struct rcd_link *link)
{
	LIST_REMOVE(link, node);
	event_free(link->timer);
	free(link);
}

void rcd_link_ended(struct rcd_link *link, int ret, const char *err)
{
	(void)ret;
	(void)err;
	if (link->gone)
		rcd_link_free(link);
}

void rcd_link_want(struct rcd_link *link)
{
	(void)link;
}

void rcd_link_unqueue(struct rcd_link *link)
{
	(void)link;
}

void rcd_link_rest(struct rcd_link *link)
{
	(void)link;
}

void rcd_link_yield(struct rcd_link *link, const char *reason)
{
	(void)link;
	(void)reason;
}

void rcd_link_adopt(struct rcd_link *link, const struct rcl_link_info *info)
{
	(void)link;
	(void)info;
}

void rcd_link_up(struct rcd_link *link, uint64_t epoch)
{
	(void)link;
	(void)epoch;
}

void rcd_link_down(struct rcd_link *link, const char *reason)
{
	(void)link;
	(void)reason;
	downs++;
}

void rcd_link_rotate(struct rcd_link *link)
{
	(void)link;
}

void rcd_link_exchanged(struct rcd_link *link, uint64_t epoch, uint64_t ns,
			const char *how)
{
	(void)ns;
	(void)how;
	link->epoch = epoch;
}

bool rcd_trust_same(const struct rcd_trust *old, const struct rcd_trust *t)
{
	(void)old;
	(void)t;
	return true;
}

bool rcd_trust_goes_first(const struct rcd_trust *t, const char *first)
{
	(void)t;
	(void)first;
	return false;
}

void rcd_log(int priority, const char *fmt, ...)
{
	(void)priority;
	(void)fmt;
}

void rcd_log_stranger(int priority, const char *fmt, ...)
{
	(void)priority;
	(void)fmt;
}

#endif /* END_MODULE_H */
