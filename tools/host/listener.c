// SPDX-License-Identifier: GPL-2.0
#include "listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/listener.h>

#include "bucket.h"
#include "job.h"
#include "peers.h"
#include "process.h"
#include "session.h"
#include "socket.h"
#include "sources.h"

#define CALLERS_MAX	256
#define SOURCE_MAX	128	/* of them from one address */
#define PROVEN_MAX	16	/* of one peer, by its key alone */
#define PATIENCE_NS	1000000000ULL	/* in which to prove oneself */
#define TIMEOUT_MS	30000	/* of one exchange */
#define PAUSE_NS	100000000ULL	/* after accept() failed */
#define SOON_NS		10000000ULL	/* the same, if a caller had to go */
#define CHANGED		"the keys changed meanwhile; come again"

/*
 * What mad callers take of a processor: a TLS handshake is a millisecond, and
 * to be turned away before that next to nothing, so that one address does not
 * take the handshakes of all. Exchanges that are admitted do not count there.
 */
static const struct rch_rate accepts = { 500000, 2048 };
static const struct rch_rate handshakes = { 4000000, 512 };

struct caller {
	TAILQ_ENTRY(caller) node;	/* oldest first */
	struct rch_listener *listener;
	struct rch_job *job;
	const struct rcx_tls *tls;	/* the job's, with which it was met */
	struct sockaddr_in6 from;	/* IPv4 as mapped */
	bool proven;
	bool refused;			/* by this host */
	char link[RCLINK_NAME_MAX + 1];
	char peer[RCLINK_PEER_MAX + 1];
	uint64_t up_ns;
};

TAILQ_HEAD(caller_list, caller);

struct rch_listener {
	struct event_base *base;
	struct rch_hub *hub;
	const struct rch_listener_ops *ops;
	void *ctx;
	struct evconnlistener *socket;	/* NULL: it listens nowhere */
	struct event *resume;		/* after a pause */
	struct rch_bucket accepted;
	struct rch_bucket heard;	/* by a handshake */
	struct rch_sources sources;
	bool stopping;
	bool stopped;			/* and the owner told so */
	unsigned int num;
	struct caller_list callers;
	char address[RCL_ADDRESS_LEN];
};

/* How many other callers have proved to be this peer. */
static unsigned int count_proven(const struct rch_listener *l,
				 const char *identity)
{
	const struct caller *caller;
	unsigned int num = 0;

	TAILQ_FOREACH(caller, &l->callers, node)
		num += caller->proven && !strcmp(caller->peer, identity);
	return num;
}

/*
 * The TLS context that callers are met with now. A certificate is judged only
 * in the handshake, so callers that an earlier context admitted have to go.
 */
static struct rcx_tls *answer(struct rch_listener *l, char *err)
{
	struct rcx_tls *tls = l->ops->tls(l->ctx, err);
	struct caller *caller, *next;

	for (caller = TAILQ_FIRST(&l->callers); caller; caller = next) {
		next = TAILQ_NEXT(caller, node);
		if (tls && *caller->link && caller->tls != tls)
			rch_job_cancel(caller->job, CHANGED);
	}
	return tls;
}

static int admit(struct caller *caller, const struct rcx_ids *ids,
		 const char *wanted, char *link, char *err)
{
	struct rch_listener *l = caller->listener;
	const struct rcx_tls *tls = answer(l, err);
	int as;

	if (!tls)
		return -EIO;
	if (tls != caller->tls)
		return rcl_fail(err, -EBUSY, CHANGED);
	as = l->ops->admit(l->ctx, ids, wanted, link, err);
	if (as < 0)
		return as;
	rch_sources_give_back(&l->sources, &caller->from);
	caller->proven = true;
	snprintf(caller->peer, sizeof(caller->peer), "%s", ids->id[as]);
	snprintf(caller->link, sizeof(caller->link), "%s", link);
	return as;
}

static int on_admit(void *ctx, const struct rcx_ids *ids, const char *wanted,
		    char *link, char *err)
{
	struct caller *caller = ctx;
	int as = admit(caller, ids, wanted, link, err);

	caller->refused = as < 0;
	return as;
}

/*
 * With a pin, anybody can prove to be somebody, but not one of the peers. Of a
 * certificate's names, any one may be known.
 */
static void recognize(struct caller *caller)
{
	const struct rcx_ids *ids = rch_job_ids(caller->job);
	struct rch_listener *l = caller->listener;
	const char *id;
	unsigned int i;

	for (i = 0; i < ids->num; i++) {
		id = ids->id[i];
		if (!l->ops->know(l->ctx, id, NULL))
			continue;
		caller->proven = count_proven(l, id) < PROVEN_MAX;
		snprintf(caller->peer, sizeof(caller->peer), "%s", id);
		return;
	}
}

static void on_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct caller *caller = ctx;

	(void)detail;
	if (step == RCX_STEP_TLS)
		recognize(caller);
	else if (step == RCX_STEP_DONE)
		caller->up_ns = rch_job_ns(caller->job);
}

static void tell_stopped(struct rch_listener *l)
{
	if (!l->stopping || l->stopped || l->num)
		return;
	l->stopped = true;
	l->ops->stopped(l->ctx);
}

static void refuse(struct rch_listener *l, const struct sockaddr_in6 *from,
		   int result, const char *err)
{
	char addr[RCL_ADDRESS_LEN];
	const struct rch_call call = {
		.from = rcl_address_text(from, addr),
		.link = "",
		.peer = "",
	};

	l->ops->done(l->ctx, &call, result, err);
}

static void on_done(void *ctx, int result, const char *err)
{
	struct caller *caller = ctx;
	struct rch_listener *l = caller->listener;
	char addr[RCL_ADDRESS_LEN];
	const struct rch_call call = {
		.from = rcl_address_text(&caller->from, addr),
		.link = caller->link,
		.peer = caller->peer,
		.proven = caller->proven,
		.given_up = !*caller->link && caller->proven &&
			    rch_gave_up(caller->refused, result),
		.epoch = rch_job_epoch(caller->job),
		.ns = caller->up_ns,
	};

	TAILQ_REMOVE(&l->callers, caller, node);
	l->num--;
	l->ops->done(l->ctx, &call, result, err);
	free(caller);
	tell_stopped(l);
}

static const struct rch_job_ops job_ops = {
	.admit = on_admit,
	.step = on_step,
	.done = on_done,
};

/* The unproven caller that has to go, from this address or from any. */
static struct caller *choose(struct rch_listener *l,
			     const struct sockaddr_in6 *from)
{
	struct caller *caller, *chosen = NULL;
	unsigned int seen = 0;

	TAILQ_FOREACH(caller, &l->callers, node) {
		if (caller->proven ||
		    (from && !rch_same_network(&caller->from, from)))
			continue;
		if (!seen && rch_job_ns(caller->job) >= PATIENCE_NS)
			return caller;
		/* Each one seen has the same chance. */
		if (!arc4random_uniform(++seen))
			chosen = caller;
	}
	return chosen;
}

/* Whether there is room for one more from this address. */
static bool make_room(struct rch_listener *l, const struct sockaddr_in6 *from)
{
	struct caller *caller;
	unsigned int same = 0;

	TAILQ_FOREACH(caller, &l->callers, node)
		same += rch_same_network(&caller->from, from);
	if (same < SOURCE_MAX && l->num < CALLERS_MAX)
		return true;
	caller = choose(l, same < SOURCE_MAX ? NULL : from);
	if (!caller)
		return false;
	rch_job_cancel(caller->job, "too many callers, this one had to go");
	return true;
}

static void take(struct rch_listener *l, int fd,
		 const struct sockaddr_in6 *from)
{
	struct caller *caller;
	char err[RCL_ERR_LEN];
	struct rcx_tls *tls;

	tls = answer(l, err);
	if (!tls) {
		close(fd);
		refuse(l, from, -EIO, err);
		return;
	}
	caller = calloc(1, sizeof(*caller));
	if (!caller) {
		close(fd);
		return;
	}
	caller->listener = l;
	caller->tls = tls;
	caller->from = *from;
	caller->job = rch_job_accept(l->hub, tls, fd, TIMEOUT_MS, &job_ops,
				     caller, err);
	if (!caller->job) {
		refuse(l, from, -ENOMEM, err);
		free(caller);
		return;
	}
	TAILQ_INSERT_TAIL(&l->callers, caller, node);
	l->num++;
}

/* Callers wait in the kernel's queue meanwhile. */
static void pause_accept(struct rch_listener *l, uint64_t ns)
{
	const struct timeval tv = rcl_timeval(ns + NS_PER_US);

	evconnlistener_disable(l->socket);
	event_add(l->resume, &tv);
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
	struct rch_listener *l = arg;

	(void)fd;
	(void)what;
	evconnlistener_enable(l->socket);
}

/* Why this caller is not even heard, or NULL. */
static const char *turn_away(struct rch_listener *l,
			     const struct sockaddr_in6 *from, uint64_t now)
{
	const char *why = rch_sources_take(&l->sources, from, now);

	if (why)
		return why;
	if (!make_room(l, from))
		return "too many callers";
	rch_bucket_take(&l->heard, &handshakes, now);
	return NULL;
}

static void keep_to_rate(struct rch_listener *l, uint64_t now)
{
	uint64_t accept = rch_bucket_wait(&l->accepted, &accepts, now);
	uint64_t hear = rch_bucket_wait(&l->heard, &handshakes, now);

	if (accept || hear)
		pause_accept(l, accept > hear ? accept : hear);
}

static void on_accept(struct evconnlistener *socket, evutil_socket_t fd,
		      struct sockaddr *addr, int len, void *arg)
{
	struct rch_listener *l = arg;
	struct sockaddr_in6 from;
	uint64_t now = rcl_now();
	const char *why;

	(void)socket;
	(void)len;
	rcl_address_v6(addr, &from);
	rch_bucket_take(&l->accepted, &accepts, now);
	why = turn_away(l, &from, now);
	keep_to_rate(l, now);
	if (!why) {
		take(l, fd, &from);
		return;
	}
	close(fd);
	refuse(l, &from, -EBUSY, why);
}

/*
 * If no file descriptor is left for another caller, one has to go, as if there
 * were CALLERS_MAX of them. What it held is free after the pause.
 */
static void on_accept_error(struct evconnlistener *socket, void *arg)
{
	struct rch_listener *l = arg;
	int error = EVUTIL_SOCKET_ERROR();
	struct caller *caller = NULL;

	(void)socket;
	if (error == EMFILE || error == ENFILE)
		caller = choose(l, NULL);
	pause_accept(l, caller ? SOON_NS : PAUSE_NS);
	if (caller)
		rch_job_cancel(caller->job,
			       "no file is left for more callers, this one had to go; raise the limit of open files");
}

void rch_listener_close(struct rch_listener *l)
{
	event_del(l->resume);
	if (l->socket)
		evconnlistener_free(l->socket);
	l->socket = NULL;
}

int rch_listener_listen(struct rch_listener *l, const char *bind,
			uint16_t port, char *err)
{
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	struct sockaddr_in6 v6;
	int fd;

	/* Close first: the new address may include the old one. */
	rch_listener_close(l);
	fd = rcl_socket_listen(bind, port, err);
	if (fd < 0)
		return fd;
	l->socket = evconnlistener_new(l->base, on_accept, l,
				       LEV_OPT_CLOSE_ON_FREE |
				       LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!l->socket) {
		close(fd);
		return rcl_fail(err, -ENOMEM, "out of memory");
	}
	evconnlistener_set_error_cb(l->socket, on_accept_error);
	getsockname(fd, (struct sockaddr *)&bound, &len);
	rcl_address_v6((struct sockaddr *)&bound, &v6);
	rcl_address_text(&v6, l->address);
	return 0;
}

struct rch_listener *rch_listener_new(struct event_base *base,
				      struct rch_hub *hub,
				      const struct rch_listener_ops *ops,
				      void *ctx, char *err)
{
	struct rch_listener *l = calloc(1, sizeof(*l));

	if (l)
		l->resume = evtimer_new(base, on_resume, l);
	if (!l || !l->resume) {
		free(l);
		rcl_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	TAILQ_INIT(&l->callers);
	l->base = base;
	l->hub = hub;
	l->ops = ops;
	l->ctx = ctx;
	return l;
}

const char *rch_listener_address(const struct rch_listener *l)
{
	return l->address;
}

bool rch_listener_has(const struct rch_listener *l, const char *link)
{
	const struct caller *caller;

	TAILQ_FOREACH(caller, &l->callers, node)
		if (!strcmp(caller->link, link))
			return true;
	return false;
}

void rch_listener_recheck(struct rch_listener *l)
{
	struct caller *caller, *next;
	char ignored[RCL_ERR_LEN];

	answer(l, ignored);
	for (caller = TAILQ_FIRST(&l->callers); caller; caller = next) {
		next = TAILQ_NEXT(caller, node);
		if (*caller->link &&
		    !l->ops->know(l->ctx, caller->peer, caller->link))
			rch_job_cancel(caller->job,
				       "this link is another one now, or no longer open to this peer");
	}
}

void rch_listener_stop(struct rch_listener *l, const char *reason)
{
	struct caller *caller, *next;

	if (l->stopping)
		return;
	l->stopping = true;
	rch_listener_close(l);
	for (caller = TAILQ_FIRST(&l->callers); caller; caller = next) {
		next = TAILQ_NEXT(caller, node);
		rch_job_cancel(caller->job, reason);
	}
	tell_stopped(l);
}

void rch_listener_free(struct rch_listener *l)
{
	rch_listener_close(l);
	event_free(l->resume);
	free(l);
}
