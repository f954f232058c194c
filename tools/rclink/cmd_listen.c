// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <errno.h>
#include <stdio.h>

#include <event2/event.h>

#include "job.h"
#include "listen_args.h"
#include "listen_report.h"
#include "listener.h"
#include "peers.h"
#include "process.h"
#include "session.h"
#include "signals.h"
#include "tls.h"

static const char help[] =
"usage: rclink listen --peer NAME=PIN [--peer ...] [OPTIONS]\n"
"       rclink listen --ca FILE --peer NAME=dns:HOST [--peer ...] [OPTIONS]\n\n"
"Accept exchanges and bring links up, until interrupted. A peer must prove to\n"
"be one that is listed; it gets the link listed with it, or of several the one\n"
"that it asks for. Links stay up without this process.\n\n"
LISTEN_ARGS_HELP
"  --once N          end when N links came up\n";

struct listener {
	struct listen_args args;
	uint32_t ups;
	struct event_base *base;
	struct rch_hub *hub;
	struct rcx_tls *tls;
	struct rch_listener *core;
};

static struct rcx_tls *on_tls(void *ctx, char *err)
{
	const struct listener *l = ctx;

	(void)err;
	return l->tls;
}

static bool on_know(void *ctx, const char *identity, const char *link)
{
	const struct listener *l = ctx;

	return rch_peers_know(l->args.peers, identity, link);
}

static int on_admit(void *ctx, const struct rcx_ids *ids, const char *wanted,
		    char *link, char *err)
{
	const struct listener *l = ctx;
	int as;

	as = rch_peers_admit(l->args.peers, ids, wanted, link, err);
	if (as < 0 || !rch_listener_has(l->core, link))
		return as;
	return rcl_fail(err, -EBUSY, LISTEN_BUSY, link);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
	const struct listener *l = arg;

	(void)fd;
	(void)what;
	rch_listener_stop(l->core, l->args.once && l->ups >= l->args.once ?
			  "the listener has all the links it waited for" :
			  "the listener was stopped");
}

static void on_done(void *ctx, const struct rch_call *call, int result,
		    const char *err)
{
	const struct timeval now = { 0 };
	struct listener *l = ctx;

	if (!result)
		listen_report_up(call->link, call->epoch, call->peer, call->ns);
	else
		listen_report_not_up(call->link, call->from, call->given_up,
				     err);
	l->ups += !result;
	/* Not now: the core, or the hub, may be iterating over its callers. */
	if (!cli_written() || (!result && l->ups == l->args.once))
		event_base_once(l->base, -1, EV_TIMEOUT, on_stop, l, &now);
}

static void on_stopped(void *ctx)
{
	struct listener *l = ctx;

	event_base_loopbreak(l->base);
}

static const struct rch_listener_ops ops = {
	.tls = on_tls,
	.know = on_know,
	.admit = on_admit,
	.done = on_done,
	.stopped = on_stopped,
};

static int start(struct listener *l)
{
	char err[RCL_ERR_LEN];

	l->hub = rch_hub_new(l->base, err);
	if (!l->hub)
		return cli_fail("%s", err);
	if (!cli_may_exchange(rch_hub_requests(l->hub), "listen"))
		return CLI_FAILED;
	rcl_hide_memory();
	l->tls = rcx_tls_new(RCX_RESPONDER, &l->args.tls, err);
	if (!l->tls)
		return cli_fail("listen: %s", err);
	l->core = rch_listener_new(l->base, l->hub, &ops, l, err);
	if (!l->core || rch_listener_listen(l->core, l->args.bind,
					    l->args.port, err))
		return cli_fail("listen: %s", err);
	printf("listening on %s\n", rch_listener_address(l->core));
	return cli_written() ? CLI_OK : CLI_FAILED;
}

static int serve(struct listener *l)
{
	struct signals signals = { 0 };
	int status = CLI_FAILED;

	if (!signals_catch(&signals, l->base, on_stop, l)) {
		cli_fail("listen: out of memory");
		goto out_free;
	}
	status = start(l);
	if (!status)
		event_base_dispatch(l->base);
out_free:
	signals_free(&signals);
	if (l->core)
		rch_listener_free(l->core);
	if (l->hub)
		rch_hub_free(l->hub);
	rcx_tls_free(l->tls);
	return status;
}

int cmd_listen(int argc, char **argv)
{
	struct listener l = { 0 };
	int status;

	if (listen_args_init(&l.args))
		return CLI_FAILED;
	listen_args_parse(&l.args, argc, argv, help);
	cli_operands(argc, argv, 0, 0);
	listen_args_check(&l.args, argv[0]);
	l.base = event_base_new();
	status = l.base ? serve(&l) : cli_fail("listen: out of memory");
	if (l.base)
		event_base_free(l.base);
	listen_args_free(&l.args);
	return status;
}
