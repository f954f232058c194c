// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <signal.h>
#include <stdio.h>

#include <event2/event.h>

#include "job.h"
#include "listener.h"
#include "peers.h"
#include "process.h"
#include "session.h"
#include "tls.h"

#define NS_PER_MS	1000000

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

struct listener {
	struct rcx_tls_config config;
	struct rch_peers *peers;
	const char *bind;
	uint16_t port;
	uint32_t once;			/* links to come up, 0 for no end */
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

	return rch_peers_know(l->peers, identity, link);
}

static int on_admit(void *ctx, const char *identity, const char *wanted,
		    char *link, char *err)
{
	const struct listener *l = ctx;

	return rch_peers_admit(l->peers, identity, wanted, link, err);
}

static void on_done(void *ctx, const struct rch_call *call, int result,
		    const char *err)
{
	struct listener *l = ctx;

	if (!result)
		printf("%s: up, epoch %llu, peer %s, %.0f ms\n", call->link,
		       (unsigned long long)call->epoch, call->peer,
		       (double)call->ns / NS_PER_MS);
	else if (*call->link)
		printf("%s: not up, from %s: %s\n", call->link, call->from,
		       err);
	else
		printf("refused %s: %s\n", call->from, err);
	if (result || ++l->ups != l->once)
		return;
	rch_listener_stop(l->core,
			  "the listener has all the links it waited for");
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

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	const struct listener *l = arg;

	(void)fd;
	(void)what;
	rch_listener_stop(l->core, "the listener was stopped");
}

static int start(struct listener *l)
{
	char err[RCL_ERR_LEN];

	l->hub = rch_hub_new(l->base, err);
	if (!l->hub)
		return cli_fail("%s", err);
	rcl_hide_memory();
	l->tls = rcx_tls_new(RCX_RESPONDER, &l->config, err);
	if (!l->tls)
		return cli_fail("listen: %s", err);
	l->core = rch_listener_new(l->base, l->hub, &ops, l, err);
	if (!l->core || rch_listener_listen(l->core, l->bind, l->port, err))
		return cli_fail("listen: %s", err);
	printf("listening on %s\n", rch_listener_address(l->core));
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
	if (l->core)
		rch_listener_free(l->core);
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
