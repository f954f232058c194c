// SPDX-License-Identifier: GPL-2.0
/*
 * Many exchanges at once in one thread. A caller that has not proved to be one
 * of the peers costs one of a limited number of slots, of which one source
 * address gets only some. When these or all are taken, an unproven one makes
 * room, so that silent ones cannot keep others out: the oldest if it had its
 * time, else one by lot. By lot, because always the oldest would be the one
 * that is nearest to its proof when too many honest ones come at once.
 */
#include "cli.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/listener.h>

#include "job.h"
#include "peers.h"
#include "process.h"
#include "session.h"
#include "tls.h"

#define CALLERS_MAX	256
#define SOURCE_MAX	128	/* of them from one address */
#define PATIENCE_NS	1000000000ULL	/* in which to prove oneself */
#define BACKLOG		128
#define TIMEOUT_MS	30000	/* of one exchange */
#define NS_PER_MS	1000000
#define ADDR_LEN	56	/* "[v6]:port" */

static const char help[] =
"usage: rclink listen --peer NAME=PIN [--peer ...] [OPTIONS]\n"
"       rclink listen --ca FILE --peer NAME=dns:HOST [--peer ...] [OPTIONS]\n\n"
"Accept exchanges and bring links up, until interrupted. A peer must prove to\n"
"be one that is listed; it gets the link listed with it, or of several the one\n"
"that it asks for. Links stay up without this process.\n\n"
"  --peer NAME=PIN   admit the peer with this public key to link NAME\n"
"  --port P          TCP port (7185)\n"
"  --bind ADDR       local address (all of them)\n"
"  --key FILE        this host's identity (" CLI_KEY_FILE ")\n"
"  --cert FILE       its certificate chain, if that is not in the key file\n"
"  --ca FILE         trust what this CA signed, for the names in --peer\n"
"  --crl FILE        with --ca: what the CA revoked\n"
"  --once N          end when N links came up\n";

enum { PEER = 256, PORT, BIND, KEY, CERT, CA, CRL, ONCE };

static const struct option options[] = {
	{ "peer", required_argument, NULL, PEER },
	{ "port", required_argument, NULL, PORT },
	{ "bind", required_argument, NULL, BIND },
	{ "key", required_argument, NULL, KEY },
	{ "cert", required_argument, NULL, CERT },
	{ "ca", required_argument, NULL, CA },
	{ "crl", required_argument, NULL, CRL },
	{ "once", required_argument, NULL, ONCE },
	CLI_OPT_HELP, CLI_OPT_END
};

struct caller {
	TAILQ_ENTRY(caller) node;	/* oldest first */
	struct listener *listener;
	struct rch_job *job;
	struct sockaddr_in6 from;	/* IPv4 as mapped */
	bool proven;
	char peer[RCLINK_PEER_MAX + 1];
	uint64_t up_ns;
};

TAILQ_HEAD(caller_list, caller);

struct listener {
	struct rcx_tls_config config;
	struct rch_peers *peers;
	const char *bind;
	uint16_t port;
	uint32_t once;			/* links to come up, 0 for no end */
	uint32_t ups;
	bool stopping;
	struct event_base *base;
	struct rch_hub *hub;
	struct rcx_tls *tls;
	struct evconnlistener *socket;
	unsigned int num;
	struct caller_list callers;
};

static const char *address_text(const struct sockaddr_in6 *addr,
				char buf[ADDR_LEN])
{
	char ip[INET6_ADDRSTRLEN];
	uint16_t port = ntohs(addr->sin6_port);

	if (IN6_IS_ADDR_V4MAPPED(&addr->sin6_addr)) {
		inet_ntop(AF_INET, &addr->sin6_addr.s6_addr[12], ip,
			  sizeof(ip));
		snprintf(buf, ADDR_LEN, "%s:%u", ip, port);
	} else {
		inet_ntop(AF_INET6, &addr->sin6_addr, ip, sizeof(ip));
		snprintf(buf, ADDR_LEN, "[%s]:%u", ip, port);
	}
	return buf;
}

/* One IPv4 address, or the 2^64 IPv6 addresses that one host may well have. */
static bool same_source(const struct sockaddr_in6 *a,
			const struct sockaddr_in6 *b)
{
	bool v4 = IN6_IS_ADDR_V4MAPPED(&a->sin6_addr);

	return !memcmp(&a->sin6_addr, &b->sin6_addr, v4 ? 16 : 8);
}

static void stop(struct listener *l, const char *reason)
{
	struct caller *caller, *next;

	l->stopping = true;
	evconnlistener_disable(l->socket);
	for (caller = TAILQ_FIRST(&l->callers); caller; caller = next) {
		next = TAILQ_NEXT(caller, node);
		rch_job_cancel(caller->job, reason);
	}
	if (TAILQ_EMPTY(&l->callers))
		event_base_loopbreak(l->base);
}

static int on_admit(void *ctx, const char *identity, const char *wanted,
		    char *link, char *err)
{
	struct caller *caller = ctx;
	int ret;

	ret = rch_peers_admit(caller->listener->peers, identity, wanted, link,
			      err);
	if (ret)
		return ret;
	/* It may have more than one name. */
	caller->proven = true;
	snprintf(caller->peer, sizeof(caller->peer), "%s", identity);
	return 0;
}

static void on_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct caller *caller = ctx;

	/* With a pin anybody can prove to be somebody, but not one of these. */
	if (step == RCX_STEP_TLS)
		caller->proven = rch_peers_know(caller->listener->peers,
						detail);
	else if (step == RCX_STEP_DONE)
		caller->up_ns = rch_job_ns(caller->job);
}

static void print_result(const struct caller *caller, int result,
			 const char *err)
{
	const char *link = rch_job_link(caller->job);
	char addr[ADDR_LEN];

	address_text(&caller->from, addr);
	if (!result)
		printf("%s: up, epoch %llu, peer %s, %.0f ms\n", link,
		       (unsigned long long)rch_job_epoch(caller->job),
		       caller->peer, (double)caller->up_ns / NS_PER_MS);
	else if (*link)
		printf("%s: not up, from %s: %s\n", link, addr, err);
	else
		printf("refused %s: %s\n", addr, err);
}

static void on_done(void *ctx, int result, const char *err)
{
	struct caller *caller = ctx;
	struct listener *l = caller->listener;

	print_result(caller, result, err);
	TAILQ_REMOVE(&l->callers, caller, node);
	l->num--;
	free(caller);
	if (!result)
		l->ups++;
	if (l->stopping && TAILQ_EMPTY(&l->callers))
		event_base_loopbreak(l->base);
	else if (l->once && l->ups == l->once && !l->stopping)
		stop(l, "the listener has all the links it waited for");
}

static const struct rch_job_ops ops = {
	.admit = on_admit,
	.step = on_step,
	.done = on_done,
};

/* The unproven caller that has to go, from this address or from any. */
static struct caller *choose(struct listener *l,
			     const struct sockaddr_in6 *from)
{
	struct caller *caller, *chosen = NULL;
	unsigned int seen = 0;

	TAILQ_FOREACH(caller, &l->callers, node) {
		if (caller->proven ||
		    (from && !same_source(&caller->from, from)))
			continue;
		if (!seen && rch_job_ns(caller->job) >= PATIENCE_NS)
			return caller;
		/* Each of those seen with the same chance. */
		if (!arc4random_uniform(++seen))
			chosen = caller;
	}
	return chosen;
}

/* Whether there is room for one more from this address. */
static bool make_room(struct listener *l, const struct sockaddr_in6 *from)
{
	struct caller *caller;
	unsigned int same = 0;

	TAILQ_FOREACH(caller, &l->callers, node)
		same += same_source(&caller->from, from);
	if (same < SOURCE_MAX && l->num < CALLERS_MAX)
		return true;
	caller = choose(l, same < SOURCE_MAX ? NULL : from);
	if (!caller)
		return false;
	rch_job_cancel(caller->job, "too many callers, this one had to go");
	return true;
}

static void take(struct listener *l, int fd, const struct sockaddr_in6 *from)
{
	struct caller *caller;
	char err[RCL_ERR_LEN];
	char addr[ADDR_LEN];

	caller = calloc(1, sizeof(*caller));
	if (!caller) {
		close(fd);
		return;
	}
	caller->listener = l;
	caller->from = *from;
	caller->job = rch_job_accept(l->hub, l->tls, fd, TIMEOUT_MS, &ops,
				     caller, err);
	if (!caller->job) {
		printf("refused %s: %s\n", address_text(from, addr), err);
		free(caller);
		return;
	}
	TAILQ_INSERT_TAIL(&l->callers, caller, node);
	l->num++;
}

/* An IPv4 address becomes a mapped one. */
static void to_v6(const struct sockaddr *addr, struct sockaddr_in6 *v6)
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

static void on_accept(struct evconnlistener *socket, evutil_socket_t fd,
		      struct sockaddr *addr, int len, void *arg)
{
	struct listener *l = arg;
	struct sockaddr_in6 from;
	char text[ADDR_LEN];

	(void)socket;
	(void)len;
	to_v6(addr, &from);
	if (make_room(l, &from)) {
		take(l, fd, &from);
		return;
	}
	printf("refused %s: too many callers\n", address_text(&from, text));
	close(fd);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	stop(arg, "the listener was stopped");
}

static int bind_socket(const struct addrinfo *ai, char *err)
{
	int fd, ret, on = 1, off = 0;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    0);
	if (fd < 0)
		return rcl_fail(err, -errno, "cannot open a socket: %s",
				strerror(errno));
	/* One socket for both families; of no effect on one for IPv4. */
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, BACKLOG)) {
		ret = rcl_fail(err, -errno,
			       "cannot listen: %s; choose another --port or --bind",
			       strerror(errno));
		close(fd);
		return ret;
	}
	return fd;
}

static int open_socket(const struct listener *l, int family, char *err)
{
	const struct addrinfo hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
	};
	struct addrinfo *ai;
	char port[8];
	int ret;

	snprintf(port, sizeof(port), "%u", l->port);
	if (getaddrinfo(l->bind, port, &hints, &ai))
		return rcl_fail(err, -EINVAL, "'%s' is not an IP address",
				l->bind ? l->bind : "");
	ret = bind_socket(ai, err);
	freeaddrinfo(ai);
	/* A kernel that was told not to know IPv6. */
	if (ret == -EAFNOSUPPORT && family == AF_INET6)
		return open_socket(l, AF_INET, err);
	return ret;
}

static int start(struct listener *l)
{
	struct sockaddr_storage bound;
	socklen_t len = sizeof(bound);
	struct sockaddr_in6 v6;
	char err[RCL_ERR_LEN];
	char addr[ADDR_LEN];
	int fd;

	l->hub = rch_hub_new(l->base, err);
	if (!l->hub)
		return cli_fail("%s", err);
	rcl_hide_memory();
	l->tls = rcx_tls_new(RCX_RESPONDER, &l->config, err);
	if (!l->tls)
		return cli_fail("listen: %s", err);
	fd = open_socket(l, l->bind ? AF_UNSPEC : AF_INET6, err);
	if (fd < 0)
		return cli_fail("listen: %s", err);
	l->socket = evconnlistener_new(l->base, on_accept, l,
				       LEV_OPT_CLOSE_ON_FREE |
				       LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!l->socket) {
		close(fd);
		return cli_fail("listen: out of memory");
	}
	getsockname(fd, (struct sockaddr *)&bound, &len);
	to_v6((struct sockaddr *)&bound, &v6);
	printf("listening on %s\n", address_text(&v6, addr));
	return CLI_OK;
}

static int serve(struct listener *l)
{
	struct event *sigint, *sigterm;
	int status = CLI_FAILED;

	sigint = evsignal_new(l->base, SIGINT, on_signal, l);
	sigterm = evsignal_new(l->base, SIGTERM, on_signal, l);
	if (!sigint || !sigterm || event_add(sigint, NULL) ||
	    event_add(sigterm, NULL)) {
		cli_fail("listen: out of memory");
		goto out_free;
	}
	status = start(l);
	if (!status)
		event_base_dispatch(l->base);
out_free:
	if (sigint)
		event_free(sigint);
	if (sigterm)
		event_free(sigterm);
	if (l->socket)
		evconnlistener_free(l->socket);
	if (l->hub)
		rch_hub_free(l->hub);
	rcx_tls_free(l->tls);
	return status;
}

static void parse(int argc, char **argv, struct listener *l)
{
	char err[RCL_ERR_LEN];
	int c;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		if (c == PEER && rch_peers_add(l->peers, optarg, err))
			cli_usage(argv[0], "--peer %s: %s", optarg, err);
		else if (c == PORT)
			l->port = cli_number(argv[0], "--port", optarg, 1,
					     UINT16_MAX);
		else if (c == BIND)
			l->bind = optarg;
		else if (c == KEY)
			l->config.key_file = optarg;
		else if (c == CERT)
			l->config.cert_file = optarg;
		else if (c == CA)
			l->config.ca_file = optarg;
		else if (c == CRL)
			l->config.crl_file = optarg;
		else if (c == ONCE)
			l->once = cli_number(argv[0], "--once", optarg, 1,
					     UINT32_MAX);
	}
	cli_operands(argc, argv, 0, 0);
	if (l->config.crl_file && !l->config.ca_file)
		cli_usage(argv[0], "--crl needs --ca");
	if (rch_peers_check(l->peers, l->config.ca_file, err))
		cli_usage(argv[0], "%s", err);
}

int cmd_listen(int argc, char **argv)
{
	struct listener l = {
		.config.key_file = CLI_KEY_FILE,
		.port = RCX_DEFAULT_PORT,
	};
	int status;

	TAILQ_INIT(&l.callers);
	l.peers = rch_peers_new();
	l.base = event_base_new();
	if (!l.peers || !l.base)
		return cli_fail("listen: out of memory");
	parse(argc, argv, &l);
	status = serve(&l);
	event_base_free(l.base);
	rch_peers_free(l.peers);
	return status;
}
