// SPDX-License-Identifier: GPL-2.0
#include "stock_tcp.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fail.h"
#include "process.h"
#include "socket.h"

#define LIMIT_S	10	/* for each step of the peer */
#define LOOK_MS	1000	/* between checks whether to go on waiting */

static int resolve(const char *host, uint16_t port, struct addrinfo **list,
		   char *err)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICSERV,
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
	};
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, list);
	if (ret)
		return rcl_fail(err, -EHOSTUNREACH,
				"cannot find the address of %s: %s; check the name, or give an IP address",
				host, gai_strerror(ret));
	return 0;
}

/* Who reads waits by itself: the peer may send one byte after the other. */
static int set_limit(int fd)
{
	const struct timeval limit = { .tv_sec = LIMIT_S };

	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static uint64_t deadline(void)
{
	return rcl_now() + LIMIT_S * NS_PER_S;
}

/* Returns 0, or -1 with errno; that is ETIMEDOUT once it is @until. */
static int wait_until(uint64_t until, int fd, short events)
{
	struct pollfd fds = { .fd = fd, .events = events };
	uint64_t now;
	int ret;

	do {
		now = rcl_now();
		ret = poll(&fds, 1, now < until ?
			   (until - now + NS_PER_MS - 1) / NS_PER_MS : 0);
	} while (ret < 0 && errno == EINTR);
	if (!ret)
		errno = ETIMEDOUT;
	return ret > 0 ? 0 : -1;
}

/* A connect() that was interrupted goes on by itself. */
static int wait_for_connect(int fd)
{
	int error;
	socklen_t len = sizeof(error);

	if (wait_until(deadline(), fd, POLLOUT) ||
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len))
		return -1;
	errno = error;
	return error ? -1 : 0;
}

/*
 * On a socket with timeouts, a call is not restarted after Ctrl-Z and fg: it is
 * interrupted, whether or not signals are handled.
 */
static int connect_to(int fd, const struct addrinfo *ai)
{
	int ret = connect(fd, ai->ai_addr, ai->ai_addrlen);

	return ret && errno == EINTR ? wait_for_connect(fd) : ret;
}

int rcv_tcp_dial(const char *host, uint16_t port, char *err)
{
	struct addrinfo *list, *ai;
	int error = ENOENT;
	int ret, fd = -1;

	ret = resolve(host, port, &list, err);
	if (ret)
		return ret;
	for (ai = list; ai && fd < 0; ai = ai->ai_next) {
		fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC,
			    ai->ai_protocol);
		if (fd < 0 || set_limit(fd) ||
		    connect_to(fd, ai)) {
			error = errno == EINPROGRESS ? ETIMEDOUT : errno;
			if (fd >= 0)
				close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd >= 0)
		return fd;
	return rcl_fail(err, -error,
			"cannot connect to %s port %u: %s; start ibv_rc_pingpong there first",
			host, port, strerror(error));
}

/*
 * The listening socket does not block, the connection does. Returns -1 with
 * errno, or with *why.
 */
static int wait_for_call(int from, const char *(*give_up)(void *ctx),
			 void *ctx, const char **why)
{
	struct pollfd fd = { .fd = from, .events = POLLIN };
	int ret;

	while ((ret = poll(&fd, 1, LOOK_MS)) <= 0) {
		if (ret < 0 && errno != EINTR)
			return -1;
		*why = give_up(ctx);
		if (*why)
			return -1;
	}
	return accept4(from, NULL, NULL, SOCK_CLOEXEC);
}

int rcv_tcp_answer(uint16_t port, void (*listening)(uint16_t port),
		   const char *(*give_up)(void *ctx), void *ctx, char *err)
{
	const char *why = NULL;
	int ret, fd, from;

	from = rcl_socket_listen(NULL, port, err);
	if (from < 0)
		return from;
	listening(port);
	fd = wait_for_call(from, give_up, ctx, &why);
	ret = -errno;
	close(from);
	if (fd >= 0 && !set_limit(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	if (why)
		return rcl_fail(err, -ENODEV, "%s", why);
	return rcl_fail(err, ret, "cannot accept a connection: %s",
			strerror(-ret));
}

int rcv_tcp_put(int fd, const void *buf, size_t len, char *err)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = send(fd, (const uint8_t *)buf + done, len - done,
			 MSG_NOSIGNAL);
		if (n > 0)
			done += n;
	} while (done < len && (n > 0 || (n < 0 && errno == EINTR)));
	if (done == len)
		return 0;
	return rcl_fail(err, -ECONNRESET,
			"the peer does not take our address: %s; see what it says",
			strerror(errno));
}

int rcv_tcp_get(int fd, void *buf, size_t len, char *err)
{
	uint64_t until = deadline();
	size_t done = 0;
	ssize_t n;

	do {
		n = wait_until(until, fd, POLLIN);
		if (!n)
			n = recv(fd, (uint8_t *)buf + done, len - done,
				 MSG_DONTWAIT);
		if (n > 0)
			done += n;
	} while (done < len && (n > 0 || (n < 0 && errno == EAGAIN)));
	if (done == len)
		return 0;
	if (n < 0)
		return rcl_fail(err, -errno,
				"the peer does not say its address: %s; see what it says",
				errno == ETIMEDOUT ? "timed out" :
						     strerror(errno));
	return rcl_fail(err, -ECONNRESET,
			"the peer broke off its exchange; see what it says");
}
