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
#include "link.h"
#include "nl.h"
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
	struct rcl_nl *nl;		/* while the link is prepared */
	char about[RCLINK_NAME_MAX + 1]; /* link, as soon as it is known */
	char link[RCLINK_NAME_MAX + 1];
	uint64_t epoch;			/* 0 while not prepared */
	struct rcl_endpoint local;
	bool up;
};

struct rch_hub {
	struct event_base *base;
	struct rcl_nl *events;
	struct rcl_nl *requests;	/* to ask again when events were lost */
	struct event *readable;
	struct event *again;		/* when the links could not be listed */
	const struct rch_watch *watch;	/* NULL: nobody looks */
	void *watch_ctx;
	uint64_t seq;			/* of the last event that counts */
	bool resync;
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

/* Tell the job of this link, if there is one; it may be gone afterwards. */
static void take_state(struct rch_hub *hub, const struct rcl_link_info *info)
{
	struct rch_job *job = job_of(hub, info->name);

	/* An older epoch is of no interest any more. */
	if (!job || info->epoch < job->epoch)
		return;
	if (info->event_kind == RCLINK_EVENT_KIND_DELETED) {
		rcx_session_link_down(job->session, "it was deleted");
	} else if (info->state == RCLINK_LINK_STATE_UP) {
		job->up = true;
		rcx_session_link_up(job->session);
	} else if (info->state == RCLINK_LINK_STATE_DOWN) {
		job->up = false;
		rcx_session_link_down(job->session, info->reason_text);
	}
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

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	list(arg);
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
	hub->events = rcl_nl_listen(err);
	if (hub->events)
		hub->requests = rcl_nl_open(err);
	if (!hub->requests)
		goto err_free;
	rcl_nl_notify(hub->events, on_event, hub);
	hub->readable = event_new(base, rcl_nl_fd(hub->events),
				  EV_READ | EV_PERSIST, on_readable, hub);
	hub->again = evtimer_new(base, on_again, hub);
	if (!hub->readable || !hub->again || event_add(hub->readable, NULL)) {
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
	if (hub->readable)
		event_free(hub->readable);
	if (hub->again)
		event_free(hub->again);
	rcl_nl_close(hub->requests);
	rcl_nl_close(hub->events);
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

static bool is_up(struct rcl_nl *nl, const char *link)
{
	struct rcl_link_info *infos;
	char ignored[RCL_ERR_LEN];
	size_t num;
	bool up;

	if (rcl_call_links(nl, link, &infos, &num, ignored))
		return false;
	up = num == 1 && infos[0].state == RCLINK_LINK_STATE_UP;
	free(infos);
	return up;
}

/*
 * A peer that has proven who it is and wants a new epoch has lost the old one,
 * whatever this end still believes.
 */
static int prepare(struct rch_job *job, const char *link,
		   struct rcl_endpoint *local, char *err)
{
	int ret;

	ret = rcl_call_prepare(job->nl, link, local, err);
	if (ret != -EBUSY || !job->answers || !is_up(job->nl, link))
		return ret;
	ret = rcl_call_disconnect(job->nl, link, err);
	if (ret && ret != -ENOTCONN)
		return ret;
	return rcl_call_prepare(job->nl, link, local, err);
}

static int job_prepare(void *ctx, const char *link, struct rcl_endpoint *local,
		       char *err)
{
	struct rch_job *job = ctx;
	int ret;

	job->nl = rcl_nl_open(err);
	if (!job->nl)
		return -ENOENT;
	ret = prepare(job, link, local, err);
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
	int ret;

	ret = rcl_call_connect(job->nl, &connect, agreed, err);
	if (!ret)
		job->epoch = *agreed;
	return ret;
}

static int job_activate(void *ctx, const char *link, uint64_t epoch,
			const uint8_t key[RCLINK_KEY_LEN], char *err)
{
	struct rch_job *job = ctx;

	return rcl_call_activate(job->nl, link, epoch, key, err);
}

/*
 * Closing the socket and not a disconnect: should somebody else have prepared
 * the link meanwhile, it stays theirs.
 */
static void job_abort(void *ctx, const char *link)
{
	struct rch_job *job = ctx;

	(void)link;
	rcl_nl_close(job->nl);
	job->nl = NULL;
}

static void job_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct rch_job *job = ctx;

	job->ops->step(job->ctx, step, detail);
}

/* The kernel has no part in much of an exchange; `rclink why` is to know. */
static void note_failure(struct rch_job *job, const char *err)
{
	char text[RCLINK_NOTE_MAX + 1], ignored[RCL_ERR_LEN];

	if (!job->about[0])
		return;
	snprintf(text, sizeof(text), "an exchange that %s began failed: %s",
		 job->answers ? "the peer" : "this host", err);
	rcl_call_note(job->hub->requests, job->about, text, ignored);
}

static void job_done(void *ctx, int result, const char *err)
{
	char ignored[RCL_ERR_LEN];
	struct rch_job *job = ctx;

	/* This end is up, but nobody knows of the other: not half a link. */
	if (result && job->up && job->nl)
		rcl_call_disconnect(job->nl, job->link, ignored);
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
