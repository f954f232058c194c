// SPDX-License-Identifier: GPL-2.0
#include "links_end.h"

#include <errno.h>
#include <stdio.h>

#include "ask.h"
#include "call.h"
#include "links_core.h"

#define ENDS_MAX	32	/* at once: each has a thread and two files */

/* What a thread asks of the module. */
struct end {
	enum { REPLACE, MAKE_ANEW, DELETE } what;
	char name[RCLINK_NAME_MAX + 1];
	uint64_t epoch;
	struct rcl_policy policy;
};

static int ask_module(struct rcl_nl *nl, void *what, char *err)
{
	const struct end *end = what;
	int ret;

	if (end->what == REPLACE) {
		ret = rcl_call_replace(nl, end->name, end->epoch, err);
		/* There may be nothing to end, or no longer. */
		return ret == -ESTALE || ret == -ENOTCONN || ret == -ENOENT ?
		       0 : ret;
	}
	ret = rcl_call_delete(nl, end->name, err);
	if (ret && ret != -ENOENT)
		return ret;
	return end->what == DELETE ? 0 :
	       rcl_call_new(nl, end->name, &end->policy, err);
}

/* By now something else may have to be done. */
static void over(struct rcd_link *link, const struct end *end, int ret,
		 const char *err)
{
	link->ends = false;
	link->anew = false;
	link->stale |= ret && end->what == MAKE_ANEW;
	/* A later epoch may have come up with the old settings. */
	if (!ret && link->doomed <= end->epoch)
		link->doomed = 0;
	if (link->gone && end->what != DELETE)
		rcd_link_end(link);
	else if (!link->gone && link->other && end->what == REPLACE)
		rcd_link_end_now(link);
	else
		link->all->ended(link, ret, err);
}

static void next(struct rcd_links *all);

static void on_asked(void *ctx, struct rcl_nl *nl, int ret, const void *what,
		     const char *err)
{
	struct rcd_link *link = ctx;
	struct rcd_links *all = link->all;

	rcl_nl_close(nl);
	link->ask = NULL;
	all->asks--;
	over(link, what, ret, err);
	next(all);
}

/*
 * A peer may drive the epoch number up beyond what another one takes, so the
 * link does not outlive it.
 */
static void fill(struct rcd_link *link, struct end *end)
{
	snprintf(end->name, sizeof(end->name), "%s", link->conf.name);
	end->policy = link->conf.policy;
	end->epoch = link->epoch;
	end->what = link->gone ? DELETE :
		    link->stale || link->other ? MAKE_ANEW : REPLACE;
	link->anew = end->what == MAKE_ANEW;
	link->stale = false;
}

static int ask_here(const struct rcd_links *all, struct end *end, char *err)
{
	struct rcl_nl *nl = rch_hub_requests(all->hub);

	if (!nl)
		return rcl_fail(err, -ENODEV,
				"the rclink module is not loaded");
	return ask_module(nl, end, err);
}

/* Queued behind what is asked of the link already. */
static bool ask_apart(struct rcd_link *link, const struct end *end, char *err)
{
	const struct rch_request request = {
		.link = end->name,
		.must = true,
		.ask = ask_module,
		.what = end,
		.size = sizeof(*end),
		.done = on_asked,
		.ctx = link,
	};
	struct rcl_nl *nl = rch_hub_open(link->all->hub, err);

	if (nl)
		link->ask = rch_ask_start(rch_hub_asks(link->all->hub), nl,
					  &request, err);
	if (!link->ask)
		rcl_nl_close(nl);
	return link->ask;
}

static void begin(struct rcd_link *link)
{
	struct rcd_links *all = link->all;
	char err[RCL_ERR_LEN];
	struct end end;

	fill(link, &end);
	if (ask_apart(link, &end, err))
		all->asks++;
	else	/* Without a thread the loop has to wait. */
		over(link, &end, ask_here(all, &end, err), err);
}

static struct rcd_link *take(struct rcd_links *all)
{
	struct rcd_link *link = TAILQ_FIRST(&all->ends);

	if (link)
		TAILQ_REMOVE(&all->ends, link, end);
	return link;
}

static void next(struct rcd_links *all)
{
	struct rcd_link *link;

	while (all->asks < ENDS_MAX && (link = take(all)))
		begin(link);
}

void rcd_link_end(struct rcd_link *link)
{
	link->doomed = link->epoch;
	if (link->ends)
		return;
	link->ends = true;
	TAILQ_INSERT_TAIL(&link->all->ends, link, end);
	next(link->all);
}

bool rcd_link_end_waits(const struct rcd_link *link)
{
	return link->ends && !link->ask;
}

void rcd_link_end_now(struct rcd_link *link)
{
	if (link->ask)
		return;
	if (link->ends)
		TAILQ_REMOVE(&link->all->ends, link, end);
	link->ends = true;
	begin(link);
}

/*
 * Behind a request under way, if there is one. Who frees the requests waits for
 * all of them: for hundreds of links in a row that would be too long.
 */
static void end_last(struct rcd_link *link)
{
	char ignored[RCL_ERR_LEN];
	struct end end;

	fill(link, &end);
	if (ask_apart(link, &end, ignored))
		rch_ask_leave(link->ask);
	else
		ask_here(link->all, &end, ignored);
	link->ask = NULL;
}

/* What over() would begin when the request is over: the next end, or none. */
static void leave(struct rcd_link *link)
{
	if (!link->ask)
		return;
	rch_ask_leave(link->ask);
	link->ask = NULL;
	if (link->gone || link->stale || (link->other && !link->anew))
		end_last(link);
}

void rcd_links_end_all(struct rcd_links *all)
{
	struct rcd_link *link;

	LIST_FOREACH(link, &all->list, node)
		leave(link);
	LIST_FOREACH(link, &all->gone, node)
		leave(link);
	while ((link = take(all)))
		end_last(link);
}
