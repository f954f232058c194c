// SPDX-License-Identifier: GPL-2.0
/*
 * The module's events, and the module itself: it may be unloaded, and loaded
 * again. Jobs hear of their own links, a watcher of all links and of groups.
 */
#include "job_core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "ask.h"
#include "call.h"
#include "group.h"

#define AGAIN_US	200000

/* An earlier link of that name may take its time to end. */
static bool is_of(const struct rch_job *job, const struct rcl_link_info *info)
{
	return !strcmp(job->link, info->name) && job->id == info->id;
}

/* An older epoch is of no interest any more. */
static struct rch_job *job_of(struct rch_hub *hub,
			      const struct rcl_link_info *info)
{
	struct rch_job *job;

	LIST_FOREACH(job, &hub->jobs, node)
		if (is_of(job, info) && job->epoch && info->epoch >= job->epoch)
			return job;
	return NULL;
}

/*
 * Whoever ended the link on purpose does not want it back, however far its
 * exchanges are: one may have given up an epoch and not have another one yet.
 * The end of one may end others, too.
 */
static void end_jobs(struct rch_hub *hub, const struct rcl_link_info *info)
{
	struct rch_job *job;

	LIST_FOREACH(job, &hub->jobs, node)
		job->ends = is_of(job, info) && info->epoch >= job->since;
	job = LIST_FIRST(&hub->jobs);
	while (job) {
		if (!job->ends) {
			job = LIST_NEXT(job, node);
			continue;
		}
		job->ends = false;
		job->up = false;
		rcx_session_cancel(job->session, "the link was disconnected");
		job = LIST_FIRST(&hub->jobs);
	}
}

/* Tell the jobs of this link; they may be gone afterwards. */
static void take_state(struct rch_hub *hub, const struct rcl_link_info *info)
{
	bool deleted = info->event_kind == RCLINK_EVENT_KIND_DELETED;
	bool down = info->state == RCLINK_LINK_STATE_DOWN;
	struct rch_job *job = job_of(hub, info);

	if (job)
		job->up = info->state == RCLINK_LINK_STATE_UP;
	if (job && deleted)
		rcx_session_cancel(job->session, "the link was deleted");
	else if (down && info->reason == RCLINK_DOWN_REASON_DISCONNECTED)
		end_jobs(hub, info);
	else if (job && job->up)
		rcx_session_link_up(job->session);
	else if (job && down)
		rcx_session_link_down(job->session, info->reason_text);
}

static bool is_new(struct rch_hub *hub, uint64_t seq)
{
	/* A list included this event already. */
	if (seq <= hub->seq)
		return false;
	if (hub->seq && seq != hub->seq + 1)
		hub->resync = true;
	hub->seq = seq;
	return true;
}

static int on_link_event(const struct nlmsghdr *hdr, struct rch_hub *hub)
{
	struct rcl_link_info info;

	/* No list includes the end of an epoch that was never up. */
	if (rcl_link_get(hdr, &info) ||
	    (!is_new(hub, info.event_seq) &&
	     info.event_kind != RCLINK_EVENT_KIND_STANDBY_DOWN))
		return 0;
	take_state(hub, &info);
	if (hub->watch)
		hub->watch->event(hub->watch_ctx, &info);
	return 0;
}

static int on_group_event(const struct nlmsghdr *hdr, struct rch_hub *hub)
{
	struct rcl_group_info info;

	if (!rcl_group_get(hdr, &info) && is_new(hub, info.event_seq) &&
	    hub->watch)
		hub->watch->group(hub->watch_ctx, &info);
	return 0;
}

/* No list includes what a device event tells. */
static int on_dev_event(const struct nlmsghdr *hdr, struct rch_hub *hub)
{
	struct rcl_dev_info info;

	if (rcl_dev_get(hdr, &info))
		return 0;
	is_new(hub, info.event_seq);
	if (hub->watch)
		hub->watch->device(hub->watch_ctx);
	rcl_dev_info_free(&info);
	return 0;
}

static int on_event(const struct nlmsghdr *hdr, void *arg)
{
	if (rcl_is_link_event(hdr))
		return on_link_event(hdr, arg);
	if (rcl_is_dev_event(hdr))
		return on_dev_event(hdr, arg);
	return rcl_is_group_event(hdr) ? on_group_event(hdr, arg) : 0;
}

/* Events were lost, or there were none yet: look at the links themselves. */
static void list(struct rch_hub *hub)
{
	const struct timeval soon = { .tv_usec = AGAIN_US };
	struct rcl_link_info *infos;
	bool lost = hub->resync;
	char err[RCL_ERR_LEN];
	size_t i, num;

	if (!hub->requests)
		return;
	if (rcl_call_links(hub->requests, NULL, &infos, &num, err)) {
		event_add(hub->again, &soon);
		return;
	}
	hub->resync = false;
	/* Each says which events its state includes; the first, the fewest. */
	if (num && infos[0].event_seq > hub->seq)
		hub->seq = infos[0].event_seq;
	for (i = 0; i < num; i++)
		take_state(hub, &infos[i]);
	if (hub->watch)
		hub->watch->list(hub->watch_ctx, infos, num, lost);
	free(infos);
}

static void close_module(struct rch_hub *hub)
{
	if (hub->readable)
		event_free(hub->readable);
	hub->readable = NULL;
	rcl_nl_close(hub->requests);
	hub->requests = NULL;
	rcl_nl_close(hub->events);
	hub->events = NULL;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct rch_hub *hub = arg;
	char err[RCL_ERR_LEN];

	(void)fd;
	(void)what;
	while (rcl_nl_receive(hub->events, err) == -ENOBUFS)
		hub->resync = true;
	if (hub->resync)
		list(hub);
}

static int open_module(struct rch_hub *hub, char *err)
{
	hub->events = rcl_nl_listen(err);
	if (hub->events)
		hub->requests = rcl_nl_open(err);
	if (!hub->requests)
		goto err_close;
	/* libnl sets 32 KiB; not all that is lost shows in a list later. */
	rcl_nl_make_room(hub->events);
	rcl_nl_notify(hub->events, on_event, hub);
	hub->readable = event_new(hub->base, rcl_nl_fd(hub->events),
				  EV_READ | EV_PERSIST, on_readable, hub);
	if (hub->readable && !event_add(hub->readable, NULL))
		return 0;
	rcl_fail(err, -ENOMEM, "out of memory");
err_close:
	close_module(hub);
	return -ENOENT;
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval soon = { .tv_usec = AGAIN_US };
	struct rch_hub *hub = arg;
	char err[RCL_ERR_LEN];

	(void)fd;
	(void)what;
	if (!hub->requests && open_module(hub, err))
		event_add(hub->again, &soon);
	else
		list(hub);
}

/* Nothing that the module had is left, even if it is loaded again by now. */
static void lose_module(struct rch_hub *hub)
{
	struct rch_job *job, *next;

	event_del(hub->again);
	/* Its unloading was told before; now it is loaded again. */
	if (!hub->requests)
		return;
	close_module(hub);
	hub->seq = 0;
	hub->resync = false;
	for (job = LIST_FIRST(&hub->jobs); job; job = next) {
		next = LIST_NEXT(job, node);
		if (job->epoch)
			rcx_session_link_down(job->session,
					      "the rclink module was unloaded");
	}
	if (hub->watch)
		hub->watch->unloaded(hub->watch_ctx);
}

/* Is the opened module there? One loaded anew has another family number. */
static bool is_there(struct rch_hub *hub)
{
	struct rcl_link_info *infos;
	char err[RCL_ERR_LEN];
	size_t num;

	if (!hub->requests ||
	    rcl_call_links(hub->requests, NULL, &infos, &num, err))
		return false;
	free(infos);
	return true;
}

static int on_family(const struct nlmsghdr *hdr, void *arg)
{
	enum rcl_nl_news news = rcl_nl_news(hdr);
	struct rch_hub *hub = arg;

	if (news != RCL_NL_NO_NEWS)
		hub->said = news;
	return 0;
}

static void on_news(evutil_socket_t fd, short what, void *arg)
{
	struct rch_hub *hub = arg;
	enum rcl_nl_news news;
	char err[RCL_ERR_LEN];

	/* What was lost may have been anything, about any family. */
	while (rcl_nl_receive(hub->families, err) == -ENOBUFS)
		hub->said = RCL_NL_LOADED;
	news = hub->said;
	hub->said = RCL_NL_NO_NEWS;
	if (news == RCL_NL_NO_NEWS ||
	    (news == RCL_NL_LOADED && is_there(hub)))
		return;
	lose_module(hub);
	/* To open it is to load it, which may not be what the news were. */
	if (news == RCL_NL_LOADED && rcl_nl_is_loaded())
		on_again(fd, what, hub);
}

struct rcl_nl *rch_hub_requests(const struct rch_hub *hub)
{
	return hub->requests;
}

struct rcl_nl *rch_hub_open(const struct rch_hub *hub, char *err)
{
	if (hub->requests)
		return rcl_nl_open(err);
	rcl_fail(err, -ENODEV, "the rclink module is not loaded");
	return NULL;
}

struct rch_asks *rch_hub_asks(const struct rch_hub *hub)
{
	return hub->asks;
}

void rch_hub_watch(struct rch_hub *hub, const struct rch_watch *watch,
		   void *ctx)
{
	hub->watch = watch;
	hub->watch_ctx = ctx;
	list(hub);
}

struct rch_hub *rch_hub_new(struct event_base *base, char *err)
{
	struct rch_hub *hub;

	hub = calloc(1, sizeof(*hub));
	if (!hub) {
		rcl_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	LIST_INIT(&hub->jobs);
	hub->base = base;
	/* Listen before looking for the module, so that nothing is missed. */
	hub->families = rcl_nl_listen_families(err);
	if (!hub->families || open_module(hub, err))
		goto err_free;
	rcl_nl_notify(hub->families, on_family, hub);
	hub->news = event_new(base, rcl_nl_fd(hub->families),
			      EV_READ | EV_PERSIST, on_news, hub);
	hub->again = evtimer_new(base, on_again, hub);
	hub->asks = rch_asks_new(base);
	if (!hub->news || !hub->again || !hub->asks ||
	    event_add(hub->news, NULL)) {
		rcl_fail(err, -ENOMEM, "out of memory");
		goto err_free;
	}
	return hub;

err_free:
	rch_hub_free(hub);
	return NULL;
}

void rch_hub_free(struct rch_hub *hub)
{
	close_module(hub);
	if (hub->news)
		event_free(hub->news);
	if (hub->again)
		event_free(hub->again);
	rch_asks_free(hub->asks);
	rcl_nl_close(hub->families);
	free(hub);
}
