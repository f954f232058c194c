// SPDX-License-Identifier: GPL-2.0
#include "job.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include <event2/event.h>

#include "call.h"
#include "connect.h"
#include "link.h"
#include "nl.h"
#include "path.h"
#include "paths.h"
#include "process.h"

#define AGAIN_US	200000

struct rch_job {
	LIST_ENTRY(rch_job) node;
	struct rch_hub *hub;
	struct rcx_session *session;
	const struct rch_job_ops *ops;
	void *ctx;
	uint64_t start;			/* ns */
	bool answers;			/* the peer has dialled */
	struct rcl_nl *nl;		/* while the link is prepared ... */
	struct rch_connect *connect;	/* ... which has it meanwhile */
	char about[RCLINK_NAME_MAX + 1]; /* link, as soon as it is known */
	char link[RCLINK_NAME_MAX + 1];
	uint64_t epoch;			/* 0 while not prepared */
	uint64_t last;			/* that was given up; 0: none */
	struct rcl_endpoint local;
	bool up;
};

struct rch_hub {
	struct event_base *base;
	struct rcl_nl *families;
	struct rcl_nl *events;
	struct rcl_nl *requests;	/* NULL: the module is not loaded */
	struct rch_connects *connects;
	struct event *news;		/* of families */
	struct event *readable;		/* of events */
	struct event *again;		/* when the module could not be asked */
	const struct rch_watch *watch;	/* NULL: nobody looks */
	void *watch_ctx;
	uint64_t seq;			/* of the last event that counts */
	bool resync;
	enum rcl_nl_news said;		/* the last, until it is dealt with */
	LIST_HEAD(, rch_job) jobs;
};

static struct rch_job *job_of(struct rch_hub *hub, const char *link)
{
	struct rch_job *job;

	LIST_FOREACH(job, &hub->jobs, node)
		if (job->epoch && !strcmp(job->link, link))
			return job;
	return NULL;
}

/*
 * Tell the job of this link, if there is one; it may be gone afterwards. Who
 * ended the link by intention does not want it back over another path.
 */
static void take_state(struct rch_hub *hub, const struct rcl_link_info *info)
{
	struct rch_job *job = job_of(hub, info->name);
	bool down = info->state == RCLINK_LINK_STATE_DOWN;

	/* An older epoch is of no interest any more. */
	if (!job || info->epoch < job->epoch)
		return;
	job->up = info->state == RCLINK_LINK_STATE_UP;
	if (info->event_kind == RCLINK_EVENT_KIND_DELETED)
		rcx_session_cancel(job->session, "the link was deleted");
	else if (job->up)
		rcx_session_link_up(job->session);
	else if (down && info->reason == RCLINK_DOWN_REASON_DISCONNECTED)
		rcx_session_cancel(job->session, "the link was disconnected");
	else if (down)
		rcx_session_link_down(job->session, info->reason_text);
}

static int on_event(const struct nlmsghdr *hdr, void *arg)
{
	struct rch_hub *hub = arg;
	struct rcl_link_info info;

	if (!rcl_is_link_event(hdr) || rcl_link_get(hdr, &info))
		return 0;
	/* A list was newer. */
	if (info.event_seq <= hub->seq)
		return 0;
	if (hub->seq && info.event_seq != hub->seq + 1)
		hub->resync = true;
	hub->seq = info.event_seq;
	take_state(hub, &info);
	if (hub->watch)
		hub->watch->event(hub->watch_ctx, &info);
	return 0;
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
	/* Each says which events its state includes, the first the least. */
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

/* Nothing that the module had is left, whether it is there again or not. */
static void lose_module(struct rch_hub *hub)
{
	struct rch_job *job, *next;

	event_del(hub->again);
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

	/* What was lost may have been anything. */
	while (rcl_nl_receive(hub->families, err) == -ENOBUFS)
		hub->said = RCL_NL_LOADED;
	news = hub->said;
	hub->said = RCL_NL_NO_NEWS;
	if (news == RCL_NL_NO_NEWS)
		return;
	lose_module(hub);
	if (news == RCL_NL_LOADED)
		on_again(fd, what, hub);
}

struct rcl_nl *rch_hub_requests(const struct rch_hub *hub)
{
	return hub->requests;
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
	/* Before the module is looked for, so that nothing is missed. */
	hub->families = rcl_nl_listen_families(err);
	if (!hub->families || open_module(hub, err))
		goto err_free;
	rcl_nl_notify(hub->families, on_family, hub);
	hub->news = event_new(base, rcl_nl_fd(hub->families),
			      EV_READ | EV_PERSIST, on_news, hub);
	hub->again = evtimer_new(base, on_again, hub);
	hub->connects = rch_connects_new(base);
	if (!hub->news || !hub->again || !hub->connects ||
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
	rch_connects_free(hub->connects);
	rcl_nl_close(hub->families);
	free(hub);
}

static int job_admit(void *ctx, const char *identity, const char *wanted,
		     char *link, char *err)
{
	struct rch_job *job = ctx;
	int ret;

	ret = job->ops->admit(job->ctx, identity, wanted, link, err);
	if (!ret)
		snprintf(job->about, sizeof(job->about), "%s", link);
	return ret;
}

/* In this epoch, or in any with 0. */
static bool is_up(struct rcl_nl *nl, const char *link, uint64_t epoch)
{
	struct rcl_link_info *infos;
	char ignored[RCL_ERR_LEN];
	size_t num;
	bool up;

	if (rcl_call_links(nl, link, &infos, &num, ignored))
		return false;
	up = num == 1 && infos[0].state == RCLINK_LINK_STATE_UP &&
	     (!epoch || infos[0].epoch == epoch);
	free(infos);
	return up;
}

/*
 * A peer that has proven who it is and wants a new epoch has lost the old one,
 * whatever this end still believes. And an epoch that this job gave up may have
 * come up just then.
 */
static bool is_lost(const struct rch_job *job, struct rcl_nl *nl,
		    const char *link)
{
	if (job->answers)
		return is_up(nl, link, 0);
	return job->last && is_up(nl, link, job->last);
}

static int prepare(const struct rch_job *job, struct rcl_nl *nl,
		   const char *link, const struct rcl_path *path,
		   struct rcl_endpoint *local, char *err)
{
	bool rotate = rcx_session_rotates(job->session);
	int ret;

	/* It would wait for that, and so would the loop. */
	if (rch_connects_has(job->hub->connects, link))
		return rcl_fail(err, -EBUSY,
				"an exchange of link %s is still ending; try again in a second",
				link);
	ret = rcl_call_prepare(nl, link, path, rotate, local, err);
	if (ret != -EBUSY || rotate || !is_lost(job, nl, link))
		return ret;
	ret = rcl_call_replace(nl, link, err);
	if (ret && ret != -ENOTCONN)
		return ret;
	return rcl_call_prepare(nl, link, path, false, local, err);
}

/*
 * None of the GIDs that are shown may be used. The module knows why, and its
 * record will; or it uses one beyond those, which the operator has set.
 */
static int offer_unseen(const struct rch_job *job, const char *link,
			struct rcx_paths *paths, char *err)
{
	struct rcl_path *path = &paths->path[0];
	struct rcl_link_info *info;
	struct rcl_endpoint local;
	struct rcl_nl *nl;
	size_t num;
	int ret;

	nl = rcl_nl_open(err);
	if (!nl)
		return -ENOENT;
	ret = prepare(job, nl, link, NULL, &local, err);
	if (!ret)
		ret = rcl_call_links(nl, link, &info, &num, err);
	rcl_nl_close(nl);
	if (ret)
		return ret;
	strcpy(path->device, info->policy.device);
	path->port = info->policy.v[RCL_P_PORT];
	path->link_layer = local.link_layer;
	path->gid_type = local.link_layer == RCLINK_LINK_LAYER_ROCE ?
			 RCLINK_GID_TYPE_ROCE_V2 : RCLINK_GID_TYPE_IB;
	path->gid_index = info->policy.v[RCL_P_GID_INDEX];
	path->mtu = local.mtu;
	memcpy(path->gid, local.gid, sizeof(path->gid));
	paths->num = 1;
	free(info);
	return 0;
}

static int job_offer(void *ctx, const char *link, struct rcx_paths *paths,
		     char *err)
{
	struct rch_job *job = ctx;
	struct rcl_link_info *info;
	struct rcl_dev_info *devs;
	size_t num, ndevs;
	int ret;

	if (!job->hub->requests)
		return rcl_fail(err, -ENOENT, "the rclink module was unloaded");
	ret = rcl_call_links(job->hub->requests, link, &info, &num, err);
	if (ret)
		return ret;
	ret = rcl_call_devs(job->hub->requests, NULL, &devs, &ndevs, err);
	if (!ret) {
		rch_paths(info, devs, ndevs, paths);
		rcl_call_devs_free(devs, ndevs);
	}
	free(info);
	if (ret || paths->num)
		return ret;
	return offer_unseen(job, link, paths, err);
}

static int job_prepare(void *ctx, const char *link, const struct rcl_path *path,
		       struct rcl_endpoint *local, char *err)
{
	struct rch_job *job = ctx;
	int ret;

	job->nl = rcl_nl_open(err);
	if (!job->nl)
		return -ENOENT;
	ret = prepare(job, job->nl, link, path, local, err);
	if (ret) {
		rcl_nl_close(job->nl);
		job->nl = NULL;
		return ret;
	}
	strcpy(job->link, link);
	job->epoch = local->epoch;
	job->local = *local;
	return 0;
}

static void on_connected(void *ctx, struct rcl_nl *nl, int ret,
			 uint64_t agreed, const char *err)
{
	struct rch_job *job = ctx;

	job->connect = NULL;
	job->nl = nl;
	if (!ret)
		job->epoch = agreed;
	rcx_session_connected(job->session, ret, agreed, err);
}

static int job_connect(void *ctx, const char *link, uint64_t local_epoch,
		       const char *identity, enum rcx_role role,
		       const struct rcl_endpoint *remote, uint64_t *agreed,
		       char *err)
{
	const struct rcl_connect connect = {
		.link = link,
		.epoch = local_epoch,
		.peer = identity,
		.role = role,
		.remote = remote,
	};
	struct rch_job *job = ctx;

	(void)agreed;
	job->connect = rch_connect_start(job->hub->connects, job->nl, &connect,
					 on_connected, job, err);
	if (!job->connect)
		return -EAGAIN;
	job->nl = NULL;
	return RCX_LATER;
}

static int job_activate(void *ctx, const char *link, uint64_t epoch,
			const uint8_t key[RCLINK_KEY_LEN], char *err)
{
	struct rch_job *job = ctx;

	return rcl_call_activate(job->nl, link, epoch, key, err);
}

/*
 * Closing the socket and not a disconnect, unless this epoch is up: should
 * somebody else have prepared the link meanwhile, it stays theirs. The module
 * has heard of it when this returns: whoever prepares next comes after.
 */
static void job_abort(void *ctx, const char *link)
{
	char ignored[RCL_ERR_LEN];
	struct rch_job *job = ctx;

	if (job->connect)
		rch_connect_leave(job->connect);
	/* The event that says so may not have been read yet. */
	else if (is_up(job->nl, link, job->epoch))
		rcl_call_replace(job->nl, link, ignored);
	job->connect = NULL;
	rcl_nl_close(job->nl);
	job->nl = NULL;
	job->up = false;
	job->last = job->epoch;
	job->epoch = 0;
}

/* The kernel has no part in much of an exchange; `rclink why` is to know. */
static void note(struct rch_job *job, const char *text)
{
	char ignored[RCL_ERR_LEN];

	if (job->hub->requests)
		rcl_call_note(job->hub->requests, job->about, text, ignored);
}

static void job_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct rch_job *job = ctx;

	if (step == RCX_STEP_FAILED)
		note(job, detail);
	job->ops->step(job->ctx, step, detail);
}

static void note_failure(struct rch_job *job, const char *err)
{
	char text[RCL_ERR_LEN + 64];

	if (!job->about[0])
		return;
	snprintf(text, sizeof(text), "an exchange that %s began failed: %s",
		 job->answers ? "the peer" : "this host", err);
	note(job, text);
}

static void job_done(void *ctx, int result, const char *err)
{
	char ignored[RCL_ERR_LEN];
	struct rch_job *job = ctx;

	/* This end is up, but nobody knows of the other: not half a link. */
	if (result && job->up && job->nl)
		rcl_call_replace(job->nl, job->link, ignored);
	if (result)
		note_failure(job, err);
	job->ops->done(job->ctx, result, err);
	LIST_REMOVE(job, node);
	rcl_nl_close(job->nl);
	explicit_bzero(job, sizeof(*job));
	free(job);
}

static const struct rcx_ops session_ops = {
	.admit = job_admit,
	.offer = job_offer,
	.prepare = job_prepare,
	.connect = job_connect,
	.activate = job_activate,
	.abort = job_abort,
	.step = job_step,
	.done = job_done,
};

static struct rch_job *job_new(struct rch_hub *hub,
			       const struct rch_job_ops *ops, void *ctx,
			       char *err)
{
	struct rch_job *job;

	job = calloc(1, sizeof(*job));
	if (!job) {
		rcl_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	job->hub = hub;
	job->ops = ops;
	job->ctx = ctx;
	job->start = rcl_now();
	return job;
}

struct rch_job *rch_job_dial(struct rch_hub *hub, struct rcx_tls *tls,
			     const char *host, uint16_t port, const char *link,
			     const char *wanted, int timeout_ms,
			     const struct rch_job_ops *ops, void *ctx,
			     char *err)
{
	struct rch_job *job;

	job = job_new(hub, ops, ctx, err);
	if (!job)
		return NULL;
	snprintf(job->about, sizeof(job->about), "%s", link);
	job->session = rcx_session_dial(hub->base, tls, host, port, link,
					wanted, timeout_ms, &session_ops, job,
					err);
	if (!job->session) {
		free(job);
		return NULL;
	}
	LIST_INSERT_HEAD(&hub->jobs, job, node);
	return job;
}

struct rch_job *rch_job_accept(struct rch_hub *hub, struct rcx_tls *tls, int fd,
			       int timeout_ms, const struct rch_job_ops *ops,
			       void *ctx, char *err)
{
	struct rch_job *job;

	job = job_new(hub, ops, ctx, err);
	if (!job) {
		close(fd);
		return NULL;
	}
	job->answers = true;
	job->session = rcx_session_accept(hub->base, tls, fd, timeout_ms,
					  &session_ops, job, err);
	if (!job->session) {
		free(job);
		return NULL;
	}
	LIST_INSERT_HEAD(&hub->jobs, job, node);
	return job;
}

void rch_job_rotate(struct rch_job *job)
{
	rcx_session_rotate(job->session);
}

void rch_job_cancel(struct rch_job *job, const char *reason)
{
	rcx_session_cancel(job->session, reason);
}

const char *rch_job_link(const struct rch_job *job)
{
	return job->link;
}

uint64_t rch_job_epoch(const struct rch_job *job)
{
	return job->epoch;
}

uint64_t rch_job_ns(const struct rch_job *job)
{
	return rcl_now() - job->start;
}

const struct rcl_endpoint *rch_job_local(const struct rch_job *job)
{
	return &job->local;
}
