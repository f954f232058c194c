// SPDX-License-Identifier: GPL-2.0
#include "socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fail.h"

#define BACKLOG	128

const char *rcl_address_text(const struct sockaddr_in6 *addr,
			     char buf[RCL_ADDRESS_LEN])
{
	char ip[INET6_ADDRSTRLEN];
	uint16_t port = ntohs(addr->sin6_port);

	if (IN6_IS_ADDR_V4MAPPED(&addr->sin6_addr)) {
		inet_ntop(AF_INET, &addr->sin6_addr.s6_addr[12], ip,
			  sizeof(ip));
		snprintf(buf, RCL_ADDRESS_LEN, "%s:%u", ip, port);
	} else {
		inet_ntop(AF_INET6, &addr->sin6_addr, ip, sizeof(ip));
		snprintf(buf, RCL_ADDRESS_LEN, "[%s]:%u", ip, port);
	}
	return buf;
}

void rcl_address_v6(const struct sockaddr *addr, struct sockaddr_in6 *v6)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;

	memset(v6, 0, sizeof(*v6));
	if (addr->sa_family == AF_INET6) {
		memcpy(v6, addr, sizeof(*v6));
		return;
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = v4->sin_port;
	v6->sin6_addr.s6_addr[10] = 0xff;
	v6->sin6_addr.s6_addr[11] = 0xff;
	memcpy(&v6->sin6_addr.s6_addr[12], &v4->sin_addr, 4);
}

static int bind_socket(const struct addrinfo *ai, uint16_t port, char *err)
{
	int fd, ret, on = 1, off = 0;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	if (fd < 0)
		return rcl_fail(err, -errno, "cannot open a socket: %s",
				strerror(errno));
	/* One socket for both families; this has no effect on one for IPv4. */
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, BACKLOG)) {
		ret = rcl_fail(err, -errno,
			       "cannot listen on port %u: %s; %schoose another port or address",
			       port, strerror(errno), errno == EADDRINUSE ?
			       "end what listens there, see `ss -ltnp`, or " :
			       "");
		close(fd);
		return ret;
	}
	return fd;
}

static int open_family(const char *bind, uint16_t port, int family, char *err)
{
	const struct addrinfo hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
	};
	struct addrinfo *ai;
	char text[8];
	int ret;

	snprintf(text, sizeof(text), "%u", port);
	if (getaddrinfo(bind, text, &hints, &ai))
		return rcl_fail(err, -EINVAL,
				"'%s' is not an IP address; give one of this host's, see `ip address`, or none for all",
				bind ? bind : "");
	ret = bind_socket(ai, port, err);
	freeaddrinfo(ai);
	/* The kernel has IPv6 disabled. */
	if (ret == -EAFNOSUPPORT && family == AF_INET6)
		return open_family(bind, port, AF_INET, err);
	return ret;
}

int rcl_socket_listen(const char *bind, uint16_t port, char *err)
{
	return open_family(bind, port, bind ? AF_UNSPEC : AF_INET6, err);
}
