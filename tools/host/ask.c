// SPDX-License-Identifier: GPL-2.0
#include "ask.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include <event2/event.h>

#include "link.h"
#include "nl.h"

struct rch_ask {
	TAILQ_ENTRY(rch_ask) node;	/* oldest first */
	struct rch_asks *all;
	bool begun;			/* there is a thread */
	bool must;
	pthread_t thread;
	int fd;				/* readable when it is over */
	struct event *over;
	char link[RCLINK_NAME_MAX + 1];
	rch_asked_fn *done;
	void *ctx;
	/* The thread owns these while it runs. */
	struct rcl_nl *nl;
	rch_ask_fn *ask;
	void *what;
	size_t size;
	int ret;
	char err[RCL_ERR_LEN];
};

TAILQ_HEAD(rch_ask_list, rch_ask);

struct rch_asks {
	struct event_base *base;
	struct rch_ask_list list;
};

static void *run(void *arg)
{
	struct rch_ask *a = arg;

	a->ret = a->ask(a->nl, a->what, a->err);
	eventfd_write(a->fd, 1);
	return NULL;
}

static void release(struct rch_ask *a)
{
	if (a->over)
		event_free(a->over);
	if (a->fd >= 0)
		close(a->fd);
	if (a->what)
		explicit_bzero(a->what, a->size);
	free(a->what);
	explicit_bzero(a, sizeof(*a));
	free(a);
}

/* The socket goes to done(), or is closed. */
static void finish(struct rch_ask *a)
{
	TAILQ_REMOVE(&a->all->list, a, node);
	if (a->done)
		a->done(a->ctx, a->nl, a->ret, a->what, a->err);
	else
		rcl_nl_close(a->nl);
	release(a);
}

/* Signals are for the loop, not for the thread. */
static int begin(struct rch_ask *a, char *err)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&a->thread, NULL, run, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret)
		return rcl_fail(err, -EAGAIN,
				"no more threads to ask the module; try again later");
	a->begun = true;
	return 0;
}

static struct rch_ask *first_of(const struct rch_asks *all, const char *link)
{
	struct rch_ask *a;

	TAILQ_FOREACH(a, &all->list, node)
		if (!strcmp(a->link, link))
			return a;
	return NULL;
}

/*
 * Nothing is under way for this link: begin the next request, if there is one.
 * If there is no thread for one that must be done, the loop does it, and waits.
 */
static void go_on(struct rch_asks *all, const char *link)
{
	struct rch_ask *a;
	int ret;

	while ((a = first_of(all, link)) && !a->begun) {
		ret = begin(a, a->err);
		/* a->ret belongs to the thread from here on. */
		if (!ret)
			return;
		a->ret = a->must ? a->ask(a->nl, a->what, a->err) : ret;
		finish(a);
	}
}

static void on_over(evutil_socket_t fd, short what, void *arg)
{
	struct rch_ask *a = arg;
	struct rch_asks *all = a->all;
	char link[sizeof(a->link)];

	(void)fd;
	(void)what;
	strcpy(link, a->link);
	pthread_join(a->thread, NULL);
	finish(a);
	go_on(all, link);
}

static struct rch_ask *create(struct rch_asks *all,
			      const struct rch_request *request)
{
	struct rch_ask *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->all = all;
	a->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	a->size = request->size;
	a->what = malloc(a->size);
	if (a->what)
		memcpy(a->what, request->what, a->size);
	if (a->fd >= 0)
		a->over = event_new(all->base, a->fd, EV_READ, on_over, a);
	if (!a->what || !a->over || event_add(a->over, NULL)) {
		release(a);
		return NULL;
	}
	snprintf(a->link, sizeof(a->link), "%s", request->link);
	a->must = request->must;
	a->ask = request->ask;
	a->done = request->done;
	a->ctx = request->ctx;
	return a;
}

struct rch_ask *rch_ask_start(struct rch_asks *all, struct rcl_nl *nl,
			      const struct rch_request *request, char *err)
{
	bool waits = rch_asks_has(all, request->link);
	struct rch_ask *a = create(all, request);

	if (!a) {
		rcl_fail(err, -ENOMEM,
			 "out of memory or files to ask the module");
		return NULL;
	}
	a->nl = nl;
	if (!waits && begin(a, err)) {
		release(a);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&all->list, a, node);
	return a;
}

void rch_ask_leave(struct rch_ask *a)
{
	a->done = NULL;
	if (!a->begun && !a->must)
		finish(a);
}

bool rch_asks_has(const struct rch_asks *all, const char *link)
{
	return first_of(all, link);
}

struct rch_asks *rch_asks_new(struct event_base *base)
{
	struct rch_asks *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	TAILQ_INIT(&all->list);
	all->base = base;
	return all;
}

void rch_asks_free(struct rch_asks *all)
{
	struct rch_ask *a, *next;

	if (!all)
		return;
	for (a = TAILQ_FIRST(&all->list); a; a = next) {
		next = TAILQ_NEXT(a, node);
		rch_ask_leave(a);
	}
	while ((a = TAILQ_FIRST(&all->list))) {
		if (a->begun)
			pthread_join(a->thread, NULL);
		else
			a->ask(a->nl, a->what, a->err);
		finish(a);
	}
	free(all);
}
