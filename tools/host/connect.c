// SPDX-License-Identifier: GPL-2.0
#include "connect.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include <event2/event.h>

#include "call.h"
#include "link.h"
#include "nl.h"

struct rch_connect {
	LIST_ENTRY(rch_connect) node;
	pthread_t thread;
	int fd;				/* readable when it is over */
	struct event *over;
	rch_connected_fn *done;		/* NULL: nobody waits any more */
	void *ctx;
	/* The thread's until then. */
	struct rcl_nl *nl;
	struct rcl_connect request;
	struct rcl_endpoint remote;
	char link[RCLINK_NAME_MAX + 1];
	char peer[RCLINK_PEER_MAX + 1];
	uint64_t agreed;
	int ret;
	char err[RCL_ERR_LEN];
};

struct rch_connects {
	struct event_base *base;
	LIST_HEAD(, rch_connect) list;
};

static void *run(void *arg)
{
	struct rch_connect *c = arg;

	c->ret = rcl_call_connect(c->nl, &c->request, &c->agreed, c->err);
	eventfd_write(c->fd, 1);
	return NULL;
}

static void release(struct rch_connect *c)
{
	if (c->over)
		event_free(c->over);
	if (c->fd >= 0)
		close(c->fd);
	explicit_bzero(c, sizeof(*c));
	free(c);
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
	struct rch_connect *c = arg;

	(void)fd;
	(void)what;
	pthread_join(c->thread, NULL);
	LIST_REMOVE(c, node);
	if (c->done)
		c->done(c->ctx, c->nl, c->ret, c->agreed, c->err);
	else
		rcl_nl_close(c->nl);
	release(c);
}

/* Signals are for the loop. */
static int start_thread(struct rch_connect *c)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&c->thread, NULL, run, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static struct rch_connect *create(struct rch_connects *all,
				  const struct rcl_connect *request)
{
	struct rch_connect *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->fd >= 0)
		c->over = event_new(all->base, c->fd, EV_READ, on_over, c);
	if (!c->over || event_add(c->over, NULL)) {
		release(c);
		return NULL;
	}
	snprintf(c->link, sizeof(c->link), "%s", request->link);
	snprintf(c->peer, sizeof(c->peer), "%s", request->peer);
	c->remote = *request->remote;
	c->request = *request;
	c->request.link = c->link;
	c->request.peer = c->peer;
	c->request.remote = &c->remote;
	return c;
}

struct rch_connect *rch_connect_start(struct rch_connects *all,
				      struct rcl_nl *nl,
				      const struct rcl_connect *request,
				      rch_connected_fn *done, void *ctx,
				      char *err)
{
	struct rch_connect *c = create(all, request);

	if (!c) {
		rcl_fail(err, -ENOMEM, "out of memory or files to connect");
		return NULL;
	}
	c->nl = nl;
	c->done = done;
	c->ctx = ctx;
	if (start_thread(c)) {
		rcl_fail(err, -EAGAIN,
			 "no more threads to connect with; try again later");
		release(c);
		return NULL;
	}
	LIST_INSERT_HEAD(&all->list, c, node);
	return c;
}

void rch_connect_leave(struct rch_connect *c)
{
	c->done = NULL;
}

bool rch_connects_has(const struct rch_connects *all, const char *link)
{
	const struct rch_connect *c;

	LIST_FOREACH(c, &all->list, node)
		if (!strcmp(c->link, link))
			return true;
	return false;
}

struct rch_connects *rch_connects_new(struct event_base *base)
{
	struct rch_connects *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	LIST_INIT(&all->list);
	all->base = base;
	return all;
}

void rch_connects_free(struct rch_connects *all)
{
	struct rch_connect *c;

	if (!all)
		return;
	while (!LIST_EMPTY(&all->list)) {
		c = LIST_FIRST(&all->list);
		rch_connect_leave(c);
		on_over(c->fd, 0, c);
	}
	free(all);
}
