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

static int set_limits(int fd)
{
	const struct timeval limit = { .tv_sec = LIMIT_S };

	return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

/* A connect() that was interrupted goes on by itself. */
static int wait_for_connect(int fd)
{
	struct pollfd fds = { .fd = fd, .events = POLLOUT };
	int ret, error = ETIMEDOUT;
	socklen_t len = sizeof(error);

	do
		ret = poll(&fds, 1, LIMIT_S * 1000);
	while (ret < 0 && errno == EINTR);
	if (ret < 0 ||
	    (ret && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len)))
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
		if (fd < 0 || set_limits(fd) ||
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
	if (fd >= 0 && !set_limits(fd))
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
	size_t done = 0;
	ssize_t n;

	do {
		n = recv(fd, (uint8_t *)buf + done, len - done, MSG_WAITALL);
		if (n > 0)
			done += n;
	} while (done < len && (n > 0 || (n < 0 && errno == EINTR)));
	if (done == len)
		return 0;
	if (n < 0)
		return rcl_fail(err, -errno,
				"the peer does not say its address: %s; see what it says",
				errno == EAGAIN ? "timed out" :
						  strerror(errno));
	return rcl_fail(err, -ECONNRESET,
			"the peer broke off its exchange; see what it says");
}
