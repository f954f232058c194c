// SPDX-License-Identifier: GPL-2.0
/*
 * The C library's resolver blocks, so it gets a thread of its own; it knows
 * what the host is configured for, which no DNS library does. The thread owns
 * its query; the answer changes hands as a pointer in one message over a socket
 * pair. If the reader has gone, the send fails and the thread frees the answer.
 *
 * Nothing ends a lookup that hangs, so their number is limited.
 */
#include "dial.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "fail.h"
#include "process.h"

#define CONNECT_MS	5000	/* for each address of the host, at most */
#define LOOKUPS_MAX	256

/* Lookups that run, whether or not anybody still waits for them. */
static atomic_uint lookups;

struct answer {
	int error;		/* of getaddrinfo() */
	struct addrinfo *list;
};

struct query {
	char *host;
	int fd;
	char port[6];
};

struct rcx_dial {
	rcx_dial_cb *cb;
	void *ctx;
	char *host;
	uint16_t port;
	struct event *event;	/* of fd */
	struct event_base *base;
	int fd;			/* for the query's answer, then TCP */
	bool resolved;
	struct addrinfo *list;
	struct addrinfo *next;	/* to be tried */
	uint64_t until;		/* ns; end of the lookup and of all tries */
	int error;		/* of the last one tried */
};

static const struct addrinfo hints = {
	.ai_family = AF_UNSPEC,
	.ai_socktype = SOCK_STREAM,
	.ai_flags = AI_NUMERICSERV,
};

/* For a host that is an address: nobody has to be asked. */
static const struct addrinfo no_lookup = {
	.ai_family = AF_UNSPEC,
	.ai_socktype = SOCK_STREAM,
	.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST,
};

static void free_query(struct query *q)
{
	close(q->fd);
	free(q->host);
	free(q);
}

static void give_answer(struct query *q, const struct answer *a)
{
	if (send(q->fd, a, sizeof(*a), MSG_NOSIGNAL) != sizeof(*a) && a->list)
		freeaddrinfo(a->list);
	free_query(q);
}

static void *resolve(void *arg)
{
	struct query *q = arg;
	struct answer a = { 0 };

	a.error = getaddrinfo(q->host, q->port, &hints, &a.list);
	atomic_fetch_sub(&lookups, 1);
	give_answer(q, &a);

	return NULL;
}

static bool take_answer(struct rcx_dial *d, struct answer *a)
{
	if (recv(d->fd, a, sizeof(*a), MSG_DONTWAIT) != sizeof(*a)) {
		*a = (struct answer){ .error = EAI_SYSTEM };
		return false;
	}
	d->list = a->list;
	d->next = a->list;
	return true;
}

static void close_fd(struct rcx_dial *d)
{
	if (d->event)
		event_free(d->event);
	d->event = NULL;
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

void rcx_dial_free(struct rcx_dial *d)
{
	struct answer a;

	if (!d)
		return;
	if (!d->resolved && d->fd >= 0) {
		/* From here on the thread keeps what it has not sent. */
		shutdown(d->fd, SHUT_RD);
		take_answer(d, &a);
	}
	close_fd(d);
	if (d->list)
		freeaddrinfo(d->list);
	free(d->host);
	free(d);
}

static void give_up(struct rcx_dial *d)
{
	char err[RCL_ERR_LEN];

	close_fd(d);
	rcl_fail(err, 0,
		 "cannot connect to %s port %u: %s; check that `rclink listen` or rclinkd runs there, and that no firewall is between",
		 d->host, d->port, strerror(d->error));
	d->cb(d->ctx, -1, err);
}

static void on_connect(evutil_socket_t fd, short what, void *arg);

static struct timeval left(const struct rcx_dial *d, unsigned int shares,
			   uint64_t most)
{
	const uint64_t now = rcl_now();
	uint64_t ns = d->until > now ? (d->until - now) / shares : 0;

	return rcl_timeval(ns < most ? ns : most);
}

/* Many addresses that do not answer still leave time for the last one. */
static struct timeval limit_of(const struct rcx_dial *d,
			       const struct addrinfo *ai)
{
	unsigned int num = 0;

	for (; ai; ai = ai->ai_next)
		num++;

	return left(d, num, CONNECT_MS * NS_PER_MS);
}

/* Start with the next address that does not fail at once. */
static void try_next(struct rcx_dial *d)
{
	struct addrinfo *ai;
	struct timeval limit;

	while (d->next) {
		ai = d->next;
		d->next = ai->ai_next;
		close_fd(d);
		d->fd = socket(ai->ai_family,
			       ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
			       ai->ai_protocol);
		if (d->fd < 0 ||
		    (connect(d->fd, ai->ai_addr, ai->ai_addrlen) &&
		     errno != EINPROGRESS)) {
			d->error = errno;
			continue;
		}
		limit = limit_of(d, ai);
		d->event = event_new(d->base, d->fd, EV_WRITE, on_connect, d);
		if (d->event && !event_add(d->event, &limit))
			return;
		d->error = ENOMEM;
	}
	give_up(d);
}

static bool is_connected(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) > 0;
}

/*
 * When both have come, libevent reports only the timeout: if this process did
 * not get to run for a while, nobody else is to blame.
 */
static void on_connect(evutil_socket_t fd, short what, void *arg)
{
	struct rcx_dial *d = arg;
	socklen_t len = sizeof(d->error);

	if (what & EV_TIMEOUT && !is_connected(fd))
		d->error = ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &d->error, &len))
		d->error = errno;
	if (d->error) {
		try_next(d);
		return;
	}
	event_free(d->event);
	d->event = NULL;
	d->fd = -1;
	d->cb(d->ctx, fd, "");
}

static void on_answer(evutil_socket_t fd, short what, void *arg)
{
	struct rcx_dial *d = arg;
	char err[RCL_ERR_LEN];
	struct answer a;

	(void)fd;
	/* As in on_connect(). */
	if (!take_answer(d, &a) && what & EV_TIMEOUT) {
		rcl_fail(err, 0,
			 "timed out looking up the address of %s; check the name servers of this host, or give an IP address",
			 d->host);
		d->cb(d->ctx, -1, err);
		return;
	}
	d->resolved = true;
	close_fd(d);
	if (!a.error) {
		try_next(d);
		return;
	}
	rcl_fail(err, 0,
		 "cannot find the address of %s: %s; check the name, or give an IP address",
		 d->host,
		 gai_strerror(a.error));
	d->cb(d->ctx, -1, err);
}

static struct query *new_query(struct rcx_dial *d)
{
	struct query *q = calloc(1, sizeof(*q));
	int fds[2];

	if (!q)
		return NULL;
	q->host = strdup(d->host);
	snprintf(q->port, sizeof(q->port), "%u", d->port);
	if (!q->host ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		free(q->host);
		free(q);
		return NULL;
	}
	d->fd = fds[0];
	q->fd = fds[1];

	return q;
}

static int start_thread(struct query *q)
{
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(&thread, &attr, resolve, q);
	pthread_attr_destroy(&attr);

	return -ret;
}

static int start_lookup(struct query *q, char *err)
{
	int ret = 0;

	if (atomic_fetch_add(&lookups, 1) >= LOOKUPS_MAX)
		ret = rcl_fail(err, -EBUSY,
			       "cannot find the address of %s: %d lookups of names are under way and get no answer; check the name servers of this host, or give an IP address",
			       q->host, LOOKUPS_MAX);
	else if (start_thread(q))
		ret = rcl_fail(err, -EAGAIN,
			       "cannot find the address of %s: no thread is left for that; raise the limit of processes",
			       q->host);
	if (ret)
		atomic_fetch_sub(&lookups, 1);

	return ret;
}

static int start_query(struct rcx_dial *d, char *err)
{
	struct query *q = new_query(d);
	struct answer a = { 0 };
	int ret;

	if (!q)
		return rcl_fail(err, -ENOMEM,
				"no memory or no file is left to connect to %s",
				d->host);
	if (!getaddrinfo(q->host, q->port, &no_lookup, &a.list)) {
		give_answer(q, &a);
		return 0;
	}
	ret = start_lookup(q, err);
	if (ret)
		free_query(q);

	return ret;
}

struct rcx_dial *rcx_dial_start(struct event_base *base, const char *host,
				uint16_t port, int timeout_ms,
				rcx_dial_cb *cb, void *ctx,
				char *err)
{
	struct rcx_dial *d = calloc(1, sizeof(*d));
	struct timeval limit;

	rcl_fail(err, -ENOMEM, "out of memory to connect to %s", host);
	if (!d)
		return NULL;
	d->base = base;
	d->cb = cb;
	d->ctx = ctx;
	d->port = port;
	/* The rest is for TLS, and what comes after it. */
	d->until = rcl_now() + timeout_ms * NS_PER_MS / 3 * 2;
	d->fd = -1;
	d->host = strdup(host);
	if (!d->host || start_query(d, err))
		goto err_free;
	d->event = event_new(base, d->fd, EV_READ, on_answer, d);
	limit = left(d, 1, UINT64_MAX);
	if (!d->event || event_add(d->event, &limit))
		goto err_free;

	return d;

err_free:
	rcx_dial_free(d);
	return NULL;
}
