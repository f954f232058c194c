// SPDX-License-Identifier: GPL-2.0
/* The responder over libibverbs: one link of each name, while it is up. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/listener.h>

#include "cli.h"
#include "epoch.h"
#include "join.h"
#include "listen_args.h"
#include "listen_report.h"
#include "peers.h"
#include "process.h"
#include "signals.h"
#include "socket.h"
#include "tls.h"
#include "verbs_cmd.h"
#include "verbs_dial.h"

#define TIMEOUT_MS	20000	/* for a whole exchange */
#define CALLERS_MAX	16	/* whose exchange is under way */
#define PAUSE_US	100000	/* after accept() failed */

static const char help[] =
"usage: rclink --verbs listen --peer NAME=PIN [--peer ...] [OPTIONS] [WORD VALUE]...\n"
"       rclink --verbs listen --ca FILE --peer NAME=dns:HOST [--peer ...] ...\n\n"
"Accept exchanges, from processes and from kernels, and keep the links until\n"
"interrupted. Answers pings and heartbeats, and who connects a channel to its\n"
"services `pingpong` and `echo`.\n\n"
LISTEN_ARGS_HELP
"  --once N          end when N links came up, and went down again\n"
"  WORD VALUE        as for `rclink add`: dev, gid-index, mtu, qps ...\n";

struct listener;

struct caller {
	TAILQ_ENTRY(caller) node;	/* oldest first */
	struct listener *l;
	struct rcv_join *join;
	char from[RCL_ADDRESS_LEN];
	char link[RCLINK_NAME_MAX + 1];	/* it is admitted to, or "" */
	bool known;
	bool refused;
	bool up;
};

TAILQ_HEAD(caller_list, caller);

struct listener {
	struct listen_args args;
	struct rcl_policy policy;
	uint32_t ended;
	uint32_t ncalling;	/* callers that are not up */
	struct event_base *base;
	struct rcx_tls *tls;
	struct evconnlistener *socket;
	struct event *resume;	/* after a pause */
	struct caller_list callers;
};

static void forget(struct caller *c)
{
	TAILQ_REMOVE(&c->l->callers, c, node);
	free(c);
}

/* A link ended, which was reported: was it the last one to wait for? */
static void one_ended(struct listener *l)
{
	if (++l->ended == l->args.once || !cli_written())
		event_base_loopbreak(l->base);
}

static void on_down(void *ctx, const char *why)
{
	struct caller *c = ctx;

	printf("%s: down: %s\n", rcv_join_link(c->join), why);
	one_ended(c->l);
	rcv_join_free(c->join);
	forget(c);
}

/*
 * A peer that has proven its identity and wants a new epoch has lost the old
 * one, whatever this end still believes.
 */
static void end_older(const struct caller *newer)
{
	const char *link = rcv_join_link(newer->join);
	struct caller *c, *next;

	for (c = TAILQ_FIRST(&newer->l->callers); c; c = next) {
		next = TAILQ_NEXT(c, node);
		if (c == newer || !c->up ||
		    strcmp(rcv_join_link(c->join), link))
			continue;
		rcv_join_epoch(c->join)->again = true;
		rcv_join_epoch(c->join)->left = true;
		on_down(c, "the peer made a new epoch");
	}
}

static void on_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct caller *c = ctx;
	const struct rcx_ids *ids;
	unsigned int i;

	(void)detail;
	if (step != RCX_STEP_TLS)
		return;
	ids = rcv_join_ids(c->join);
	for (i = 0; i < ids->num; i++)
		c->known |= rch_peers_know(c->l->args.peers, ids->id[i], NULL);
}

static void on_done(void *ctx, int result, const char *err)
{
	struct caller *c = ctx;
	struct listener *l = c->l;

	l->ncalling--;
	if (result) {
		listen_report_not_up(c->link, c->from, c->known &&
				     rch_gave_up(c->refused, result), err);
		forget(c);
	} else {
		c->up = true;
		end_older(c);
		listen_report_up(c->link,
				 rcv_join_epoch(c->join)->local.epoch,
				 rcv_join_peer(c->join), rcv_join_ns(c->join));
	}
	if (!cli_written())
		event_base_loopbreak(l->base);
}

static int admit(struct caller *c, const struct rcx_ids *ids,
		 const char *wanted, char *link, char *err)
{
	struct caller *other;
	int as;

	as = rch_peers_admit(c->l->args.peers, ids, wanted, link, err);
	if (as < 0)
		return as;
	TAILQ_FOREACH(other, &c->l->callers, node)
		if (!other->up && !strcmp(other->link, link))
			return rcl_fail(err, -EBUSY, LISTEN_BUSY, link);
	strcpy(c->link, link);
	return as;
}

static int on_admit(void *ctx, const struct rcx_ids *ids, const char *wanted,
		    char *link, char *err)
{
	struct caller *c = ctx;
	int as = admit(c, ids, wanted, link, err);

	c->refused = as < 0;
	return as;
}

static const struct rcv_join_ops ops = {
	.services = verbs_services,
	.admit = on_admit,
	.step = on_step,
	.done = on_done,
	.down = on_down,
};

/* A caller that only keeps a connection open must not keep others out. */
static bool make_room(struct listener *l)
{
	struct caller *c;

	if (l->ncalling < CALLERS_MAX)
		return true;
	TAILQ_FOREACH(c, &l->callers, node)
		if (!*c->link)
			break;
	if (!c)
		return false;
	c->refused = true;
	rcv_join_cancel(c->join, "too many callers, this one had to go");
	return true;
}

static void on_call(struct evconnlistener *from, evutil_socket_t fd,
		    struct sockaddr *addr, int len, void *arg)
{
	struct listener *l = arg;
	struct sockaddr_in6 v6;
	char err[RCL_ERR_LEN];
	struct caller *c;

	(void)from;
	(void)len;
	c = make_room(l) ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		close(fd);
		return;
	}
	c->l = l;
	rcl_address_v6(addr, &v6);
	rcl_address_text(&v6, c->from);
	c->join = rcv_join_accept(l->base, l->tls, fd, TIMEOUT_MS, &l->policy,
				  &ops, c, err);
	if (!c->join) {
		cli_fail("listen: %s", err);
		free(c);
		return;
	}
	l->ncalling++;
	TAILQ_INSERT_TAIL(&l->callers, c, node);
}

/* Most likely out of file descriptors: some may be closed soon. */
static void on_call_error(struct evconnlistener *from, void *arg)
{
	const struct timeval tv = { .tv_usec = PAUSE_US };
	struct listener *l = arg;

	evconnlistener_disable(from);
	event_add(l->resume, &tv);
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;

	(void)fd;
	(void)what;
	evconnlistener_enable(l->socket);
}

static struct caller *find_calling(const struct listener *l)
{
	struct caller *c;

	TAILQ_FOREACH(c, &l->callers, node)
		if (!c->up)
			break;
	return c;
}

/* A caller that is cancelled is gone at once, or has just come up. */
static void end_all(struct listener *l)
{
	struct caller *c;

	while ((c = find_calling(l)))
		rcv_join_cancel(c->join, "the listener was stopped");
	while ((c = TAILQ_FIRST(&l->callers))) {
		rcv_join_free(c->join);
		forget(c);
	}
}

static int start(struct listener *l)
{
	char err[RCL_ERR_LEN];
	int fd;

	rcl_hide_memory();
	l->tls = rcx_tls_new(RCX_RESPONDER, &l->args.tls, err);
	if (!l->tls)
		return cli_fail("listen: %s", err);
	l->resume = evtimer_new(l->base, on_resume, l);
	if (!l->resume)
		return cli_fail("listen: out of memory");
	fd = rcl_socket_listen(l->args.bind, l->args.port, err);
	if (fd < 0)
		return cli_fail("listen: %s", err);
	l->socket = evconnlistener_new(l->base, on_call, l,
				       LEV_OPT_CLOSE_ON_FREE |
				       LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!l->socket) {
		close(fd);
		return cli_fail("listen: out of memory");
	}
	evconnlistener_set_error_cb(l->socket, on_call_error);
	printf("listening on port %u, by libibverbs\n", l->args.port);
	return cli_written() ? CLI_OK : CLI_FAILED;
}

static int serve(struct listener *l)
{
	struct signals signals = { 0 };
	int status = CLI_FAILED;

	if (!signals_catch(&signals, l->base, signals_stop, l->base)) {
		cli_fail("listen: out of memory");
		goto out_free;
	}
	status = start(l);
	if (!status) {
		event_base_dispatch(l->base);
		end_all(l);
	}
out_free:
	if (l->socket)
		evconnlistener_free(l->socket);
	if (l->resume)
		event_free(l->resume);
	rcx_tls_free(l->tls);
	signals_free(&signals);
	return status;
}

int verbs_listen(int argc, char **argv)
{
	struct listener l = { 0 };
	const char *cmd = argv[0];
	int status;

	TAILQ_INIT(&l.callers);
	if (listen_args_init(&l.args))
		return CLI_FAILED;
	listen_args_parse(&l.args, argc, argv, help);
	verbs_words(cmd, cli_operands(argc, argv, 0, argc), &l.policy);
	listen_args_check(&l.args, cmd);
	l.base = event_base_new();
	status = l.base ? serve(&l) : cli_fail("listen: out of memory");
	if (l.base)
		event_base_free(l.base);
	listen_args_free(&l.args);
	return status;
}
