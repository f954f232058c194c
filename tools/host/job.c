// SPDX-License-Identifier: GPL-2.0
#include "job_core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "ask.h"
#include "call.h"
#include "path.h"
#include "paths.h"
#include "process.h"

static int job_admit(void *ctx, const struct rcx_ids *ids, const char *wanted,
		     char *link, char *err)
{
	struct rch_job *job = ctx;
	int as;

	as = job->ops->admit(job->ctx, ids, wanted, link, err);
	if (as >= 0)
		snprintf(job->link, sizeof(job->link), "%s", link);
	return as;
}

/* What a thread asks of the module, and what it gets in return. */
struct prepare {
	char link[RCLINK_NAME_MAX + 1];
	struct rcl_path path;
	uint32_t id;		/* of the link that is meant */
	bool any;		/* no path: the module chooses */
	bool rotate;
	uint64_t last;		/* epoch that was given up or lost; 0: none */
	struct rcl_endpoint local;
};

struct connect {
	char link[RCLINK_NAME_MAX + 1];
	char peer[RCLINK_PEER_MAX + 1];
	uint64_t epoch;
	enum rcx_role role;
	struct rcl_endpoint remote;
	uint64_t agreed;
};

struct activate {
	char link[RCLINK_NAME_MAX + 1];
	uint64_t epoch;
	uint8_t key[RCLINK_KEY_LEN];
};

struct replace {
	char link[RCLINK_NAME_MAX + 1];
	uint64_t epoch;
};

/*
 * An epoch that is lost may still be up, and one that this job gave up may have
 * come up at that very moment.
 */
static int prepare(struct rcl_nl *nl, struct prepare *p, char *err)
{
	const struct rcl_path *path = p->any ? NULL : &p->path;
	int ret;

	ret = rcl_call_prepare(nl, p->link, path, p->rotate, &p->local, err);
	if (ret != -EBUSY || p->rotate || !p->last)
		return ret;
	/* If another epoch is up, it is not lost, and the module says so. */
	rcl_call_replace(nl, p->link, p->last, err);
	return rcl_call_prepare(nl, p->link, path, false, &p->local, err);
}

/* This job hears nothing of another link with the same name. */
static int check_id(struct rcl_nl *nl, const struct prepare *p, char *err)
{
	struct rcl_link_info *info;
	bool same;
	size_t num;
	int ret;

	ret = rcl_call_links(nl, p->link, &info, &num, err);
	if (ret)
		return ret;
	same = num && info->id == p->id;
	free(info);
	return same ? 0 :
	       rcl_fail(err, -ENOENT,
			"the link was deleted and made again meanwhile");
}

/* Whatever is prepared nevertheless goes with the socket. */
static int ask_prepare(struct rcl_nl *nl, void *what, char *err)
{
	struct prepare *p = what;
	int ret = prepare(nl, p, err);

	return ret ? ret : check_id(nl, p, err);
}

static int ask_connect(struct rcl_nl *nl, void *what, char *err)
{
	struct connect *c = what;
	const struct rcl_connect connect = {
		.link = c->link,
		.epoch = c->epoch,
		.peer = c->peer,
		.role = c->role,
		.remote = &c->remote,
	};

	return rcl_call_connect(nl, &connect, &c->agreed, err);
}

static int ask_activate(struct rcl_nl *nl, void *what, char *err)
{
	const struct activate *a = what;

	return rcl_call_activate(nl, a->link, a->epoch, a->key, err);
}

static int ask_replace(struct rcl_nl *nl, void *what, char *err)
{
	const struct replace *r = what;

	return rcl_call_replace(nl, r->link, r->epoch, err);
}

static void fill_prepare(const struct rch_job *job, const char *link,
			 const struct rcl_path *path, struct prepare *p)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->link, sizeof(p->link), "%s", link);
	p->id = job->id;
	p->any = !path;
	if (path)
		p->path = *path;
	p->rotate = rcx_session_rotates(job->session);
	p->last = job->last;
}

/*
 * None of the GIDs that the module shows may be used. It knows why, and its
 * record will say so.
 */
static int offer_unseen(const struct rch_job *job, const char *link,
			struct rcx_paths *paths, char *err)
{
	struct rcl_path *path = &paths->path[0];
	struct rcl_link_info *info;
	struct prepare p;
	struct rcl_nl *nl;
	size_t num;
	int ret;

	/* The module would wait for it to end, and so would the loop. */
	if (rch_asks_has(job->hub->asks, link))
		return rcl_fail(err, -EBUSY,
				"an exchange of link %s is still ending; try again in a second",
				link);
	nl = rch_hub_open(job->hub, err);
	if (!nl)
		return -ENOENT;
	fill_prepare(job, link, NULL, &p);
	ret = ask_prepare(nl, &p, err);
	if (!ret)
		ret = rcl_call_links(nl, link, &info, &num, err);
	rcl_nl_close(nl);
	if (ret)
		return ret;
	/* Prefer what is set: a link that is to rotate may use others. */
	strcpy(path->device, *info->policy.device ? info->policy.device :
						    info->used_device);
	path->port = info->policy.v[RCL_P_PORT] ? info->policy.v[RCL_P_PORT] :
						  info->used_port;
	path->link_layer = p.local.link_layer;
	path->gid_type = p.local.link_layer == RCLINK_LINK_LAYER_ROCE ?
			 RCLINK_GID_TYPE_ROCE_V2 : RCLINK_GID_TYPE_IB;
	path->gid_index = info->policy.v[RCL_P_GID_INDEX];
	path->mtu = p.local.mtu;
	memcpy(path->gid, p.local.gid, sizeof(path->gid));
	paths->num = 1;
	free(info);
	return 0;
}

/*
 * An epoch that was ended on purpose before is none of this exchange's, nor is
 * one that the peer has lost: a peer that has proven who it is and wants a new
 * epoch has lost the old one, whatever this end still believes. What comes up
 * later is the work of an exchange that crosses this one, and stays.
 */
static void begin(struct rch_job *job, const struct rcl_link_info *info)
{
	bool lost = info->state == RCLINK_LINK_STATE_UP && job->answers &&
		    !rcx_session_rotates(job->session);
	bool ended = info->state == RCLINK_LINK_STATE_DOWN &&
		     info->reason == RCLINK_DOWN_REASON_DISCONNECTED;

	job->id = info->id;
	job->since = info->epoch + (lost || ended);
	if (lost)
		job->last = info->epoch;
}

/* A link that does not exist is refused once the peer has answered. */
static void begin_dial(struct rch_job *job)
{
	struct rcl_link_info *info;
	char ignored[RCL_ERR_LEN];
	size_t num;

	if (!job->hub->requests ||
	    rcl_call_links(job->hub->requests, job->link, &info, &num,
			   ignored))
		return;
	begin(job, info);
	free(info);
}

/*
 * The peer takes an offer to mean that this end has lost the link. So the end
 * that dials makes none if the link came up by a dial of the peer, or, if the
 * job yields, is about to. What this process still gives up counts as neither.
 */
static int give_way(const struct rch_job *job, const struct rcl_link_info *info,
		    char *err)
{
	if (job->answers || rcx_session_rotates(job->session) ||
	    rch_asks_has(job->hub->asks, info->name))
		return 0;
	if (info->state == RCLINK_LINK_STATE_UP)
		return rcl_fail(err, -EISCONN, "the link came up meanwhile");
	if (job->yields && (info->state == RCLINK_LINK_STATE_PREPARED ||
			    info->state == RCLINK_LINK_STATE_CONNECTED))
		return rcl_fail(err, -EBUSY,
				"another exchange of the link is under way");
	return 0;
}

static int job_offer(void *ctx, const char *link, struct rcx_paths *paths,
		     char *err)
{
	struct rch_job *job = ctx;
	struct rcl_link_info *info;
	struct rcl_dev_info *devs = NULL;
	size_t num, ndevs = 0;
	const char *device;
	int ret;

	if (!job->hub->requests)
		return rcl_fail(err, -ENOENT, "the rclink module was unloaded");
	ret = rcl_call_links(job->hub->requests, link, &info, &num, err);
	/* The peer's user, who may not know the name, is told, too. */
	if (ret == -ENOENT)
		return rcl_fail(err, ret,
				"there is no link %s on the host that %s; `rclink add %s` there makes one",
				link, job->answers ? "answers" : "dials",
				link);
	if (ret)
		return ret;
	/* The name may belong to another link than when it was dialled. */
	if (job->answers || job->id != info->id)
		begin(job, info);
	ret = give_way(job, info, err);
	if (ret)
		goto out_free;
	device = info->policy.device;
	ret = rcl_call_devs(job->hub->requests, *device ? device : NULL, &devs,
			    &ndevs, err);
	rch_paths(info, devs, ndevs, paths);
	rcl_call_devs_free(devs, ndevs);
	/* If the device is away, the module says so. */
	if ((!ret || ret == -ENODEV) && !paths->num)
		ret = offer_unseen(job, link, paths, err);
out_free:
	free(info);
	return ret;
}

static int start(struct rch_job *job, const struct rch_request *request,
		 char *err)
{
	job->ask = rch_ask_start(job->hub->asks, job->nl, request, err);
	if (!job->ask)
		return -EAGAIN;
	job->nl = NULL;
	return RCX_LATER;
}

static void on_prepared(void *ctx, struct rcl_nl *nl, int ret,
			const void *what, const char *err)
{
	const struct prepare *p = what;
	struct rch_job *job = ctx;

	job->ask = NULL;
	if (ret) {
		rcl_nl_close(nl);
	} else {
		job->nl = nl;
		job->epoch = p->local.epoch;
		job->local = p->local;
	}
	rcx_session_prepared(job->session, ret, &p->local, err);
}

static int job_prepare(void *ctx, const char *link, const struct rcl_path *path,
		       struct rcl_endpoint *local, char *err)
{
	struct rch_job *job = ctx;
	struct prepare p;
	const struct rch_request request = {
		.link = link,
		.ask = ask_prepare,
		.what = &p,
		.size = sizeof(p),
		.done = on_prepared,
		.ctx = job,
	};
	int ret;

	(void)local;
	job->nl = rch_hub_open(job->hub, err);
	if (!job->nl)
		return -ENOENT;
	fill_prepare(job, link, path, &p);
	ret = start(job, &request, err);
	if (ret != RCX_LATER) {
		rcl_nl_close(job->nl);
		job->nl = NULL;
	}
	return ret;
}

static void on_connected(void *ctx, struct rcl_nl *nl, int ret,
			 const void *what, const char *err)
{
	const struct connect *c = what;
	struct rch_job *job = ctx;

	job->ask = NULL;
	job->nl = nl;
	if (!ret)
		job->epoch = c->agreed;
	rcx_session_connected(job->session, ret, c->agreed, err);
}

static int job_connect(void *ctx, const char *link, uint64_t local_epoch,
		       const char *identity, enum rcx_role role,
		       const struct rcl_endpoint *remote, uint64_t *agreed,
		       char *err)
{
	struct connect c = {
		.epoch = local_epoch,
		.role = role,
		.remote = *remote,
	};
	struct rch_job *job = ctx;
	const struct rch_request request = {
		.link = link,
		.ask = ask_connect,
		.what = &c,
		.size = sizeof(c),
		.done = on_connected,
		.ctx = job,
	};

	(void)agreed;
	snprintf(c.link, sizeof(c.link), "%s", link);
	snprintf(c.peer, sizeof(c.peer), "%s", identity);
	return start(job, &request, err);
}

static void on_activated(void *ctx, struct rcl_nl *nl, int ret,
			 const void *what, const char *err)
{
	struct rch_job *job = ctx;

	(void)what;
	job->ask = NULL;
	job->nl = nl;
	rcx_session_activated(job->session, ret, err);
}

static int job_activate(void *ctx, const char *link, uint64_t epoch,
			const uint8_t key[RCLINK_KEY_LEN], char *err)
{
	struct activate a = { .epoch = epoch };
	struct rch_job *job = ctx;
	const struct rch_request request = {
		.link = link,
		.ask = ask_activate,
		.what = &a,
		.size = sizeof(a),
		.done = on_activated,
		.ctx = job,
	};
	int ret;

	snprintf(a.link, sizeof(a.link), "%s", link);
	memcpy(a.key, key, sizeof(a.key));
	job->activates = true;
	ret = start(job, &request, err);
	explicit_bzero(&a, sizeof(a));
	return ret;
}

/*
 * Ends the epoch by closing the socket, not by a disconnect, unless it is up or
 * the peer may be in it: if somebody else has prepared the link meanwhile, it
 * stays theirs. The module hears of it before this process prepares the link
 * again. A request that still activates it has the job's socket and goes first.
 */
static void give_up(struct rch_job *job)
{
	struct replace r = { .epoch = job->epoch };
	const struct rch_request request = {
		.link = job->link,
		.must = true,
		.ask = ask_replace,
		.what = &r,
		.size = sizeof(r),
	};
	char ignored[RCL_ERR_LEN];

	if (!job->nl)
		job->nl = rch_hub_open(job->hub, ignored);
	if (!job->nl)
		return;
	strcpy(r.link, job->link);
	/* If there is no thread for it, the loop has to wait. */
	if (!rch_ask_start(job->hub->asks, job->nl, &request, ignored)) {
		ask_replace(job->nl, &r, ignored);
		rcl_nl_close(job->nl);
	}
	job->nl = NULL;
}

static void job_abort(void *ctx, const char *link)
{
	struct rch_job *job = ctx;

	(void)link;
	if (job->ask)
		rch_ask_leave(job->ask);
	/* An epoch that is not activated yet goes with the socket. */
	if (!job->ask || job->activates)
		give_up(job);
	job->ask = NULL;
	job->activates = false;
	job->up = false;
	if (job->epoch)
		job->last = job->epoch;
	job->epoch = 0;
}

/* Much of an exchange bypasses the kernel, but `rclink why` is to know. */
static void note(struct rch_job *job, const char *text)
{
	char ignored[RCL_ERR_LEN];

	if (job->hub->requests)
		rcl_call_note(job->hub->requests, job->link, text, ignored);
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

	if (!job->link[0])
		return;
	snprintf(text, sizeof(text), RCL_NOTE_EXCHANGE "%s began failed: %s",
		 job->answers ? "the peer" : "this host", err);
	note(job, text);
}

static void job_done(void *ctx, int result, const char *err)
{
	struct rch_job *job = ctx;

	/* This end is up, the other may not be: do not leave half a link. */
	if (result && job->up && job->nl)
		give_up(job);
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
	snprintf(job->link, sizeof(job->link), "%s", link);
	job->session = rcx_session_dial(hub->base, tls, host, port, link,
					wanted, timeout_ms, &session_ops, job,
					err);
	if (!job->session) {
		free(job);
		return NULL;
	}
	begin_dial(job);
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

void rch_job_yield(struct rch_job *job)
{
	job->yields = true;
}

void rch_job_cancel(struct rch_job *job, const char *reason)
{
	rcx_session_cancel(job->session, reason);
}

const struct rcx_ids *rch_job_ids(const struct rch_job *job)
{
	return rcx_session_ids(job->session);
}

uint64_t rch_job_epoch(const struct rch_job *job)
{
	return job->epoch;
}

bool rch_job_made(const struct rch_job *job, uint64_t epoch)
{
	return epoch && (epoch == job->epoch || epoch == job->last);
}

uint64_t rch_job_ns(const struct rch_job *job)
{
	return rcl_now() - job->start;
}

const struct rcl_endpoint *rch_job_local(const struct rch_job *job)
{
	return &job->local;
}
