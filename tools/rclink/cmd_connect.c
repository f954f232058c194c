// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "call.h"
#include "job.h"
#include "link.h"
#include "nl.h"
#include "process.h"
#include "session.h"
#include "text.h"
#include "tls.h"

#define TIMEOUT_S	20	/* of the whole exchange */
#define NS_PER_MS	1000000

static const char help[] =
"usage: rclink connect NAME HOST[:PORT] --pin PIN [OPTIONS]\n"
"       rclink connect NAME HOST[:PORT] --ca FILE --name DNSNAME [OPTIONS]\n\n"
"Do one exchange with the rclink that listens at HOST, and bring link NAME up.\n"
"Ends when both ends are up; the link stays up without this process. An IPv6\n"
"address with a port stands in brackets. The port is 7185 if not given.\n\n"
"  --pin PIN         the peer's public key: sha256:... as `rclink pubkey` prints\n"
"  --ca FILE         trust what this CA signed ...\n"
"  --name DNSNAME    ... for exactly this name\n"
"  --crl FILE        with --ca: what the CA revoked\n"
"  --key FILE        this host's identity (" CLI_KEY_FILE ")\n"
"  --cert FILE       its certificate chain, if that is not in the key file\n"
"  --peer-link NAME2 name of the link at the peer (NAME)\n"
"  --timeout S       seconds for all of it (20)\n"
"  -v, --verbose     show the steps (the default on a terminal)\n";

enum { PIN = 256, CA, NAME, CRL, KEY, CERT, PEER_LINK, TIMEOUT };

static const struct option options[] = {
	{ "pin", required_argument, NULL, PIN },
	{ "ca", required_argument, NULL, CA },
	{ "name", required_argument, NULL, NAME },
	{ "crl", required_argument, NULL, CRL },
	{ "key", required_argument, NULL, KEY },
	{ "cert", required_argument, NULL, CERT },
	{ "peer-link", required_argument, NULL, PEER_LINK },
	{ "timeout", required_argument, NULL, TIMEOUT },
	{ "verbose", no_argument, NULL, 'v' },
	CLI_OPT_HELP, CLI_OPT_END
};

struct args {
	struct rcx_tls_config tls;
	const char *link;
	const char *wanted;	/* the link at the peer */
	char host[RCL_HOST_LEN];
	uint16_t port;
	int timeout_ms;
	bool verbose;
};

struct connector {
	const struct args *args;
	struct event_base *base;
	struct rch_job *job;
	char peer[RCLINK_PEER_MAX + 1];
	uint64_t up_ns;		/* when both ends were up */
	int status;
};

static const char *const step_names[] = {
	[RCX_STEP_TCP] = "TCP",
	[RCX_STEP_TLS] = "TLS",
	[RCX_STEP_PATHS] = "PATHS",
	[RCX_STEP_PREPARED] = "PREPARED",
	[RCX_STEP_OFFERED] = "OFFERED",
	[RCX_STEP_CONNECTED] = "CONNECTED",
	[RCX_STEP_CONFIRMED] = "CONFIRMED",
	[RCX_STEP_ACTIVATED] = "ACTIVATED",
	[RCX_STEP_UP] = "UP",
	[RCX_STEP_DONE] = "DONE",
	[RCX_STEP_FAILED] = "FAILED",
};

static const char *const step_texts[] = {
	[RCX_STEP_TCP] = "connection to the peer's rclink",
	[RCX_STEP_TLS] = "1.3, both ends proved who they are",
	[RCX_STEP_PATHS] = "both ends have the other's ports and GIDs",
	[RCX_STEP_PREPARED] = "QPs RESET -> INIT, receives posted, PSNs drawn",
	[RCX_STEP_OFFERED] = "both ends have the other's GID, QPNs, PSNs, key",
	[RCX_STEP_CONNECTED] = "QPs INIT -> RTR",
	[RCX_STEP_CONFIRMED] = "the peer's QPs are in RTR, too",
	[RCX_STEP_ACTIVATED] = "QPs RTR -> RTS, sealed hello sent",
	[RCX_STEP_UP] = "hellos answered in both directions",
	[RCX_STEP_DONE] = "the peer's end is up, too",
	[RCX_STEP_FAILED] = "given up",
};

static void print_step(const struct connector *c, enum rcx_step step,
		       const char *detail)
{
	const struct rcl_endpoint *local = rch_job_local(c->job);
	double ms = (double)rch_job_ns(c->job) / NS_PER_MS;
	char gid[RCL_GID_TEXT_LEN];

	printf("%9.1f ms  %-10s%s", ms, step_names[step], step_texts[step]);
	if (step == RCX_STEP_TCP)
		printf(": %s port %u", c->args->host, c->args->port);
	else if (step == RCX_STEP_TLS)
		printf(": peer %s", detail);
	else if (step == RCX_STEP_PATHS)
		printf(": %s to try", detail);
	else if (step == RCX_STEP_FAILED)
		printf(": %s", detail);
	else if (step == RCX_STEP_PREPARED)
		printf(": %u QPs, GID %s", local->nqps,
		       rcl_gid_text(local->gid, gid));
	else if (step == RCX_STEP_CONNECTED)
		printf(": epoch %llu",
		       (unsigned long long)rch_job_epoch(c->job));
	putchar('\n');
}

static void on_step(void *ctx, enum rcx_step step, const char *detail)
{
	struct connector *c = ctx;

	if (step == RCX_STEP_TLS)
		snprintf(c->peer, sizeof(c->peer), "%s", detail);
	if (step == RCX_STEP_DONE)
		c->up_ns = rch_job_ns(c->job);
	if (c->args->verbose)
		print_step(c, step, detail);
}

static void on_done(void *ctx, int result, const char *err)
{
	struct connector *c = ctx;

	if (result)
		c->status = cli_fail("connect %s: %s", c->args->link, err);
	else
		printf("%s: up, epoch %llu, peer %s, %.0f ms\n", c->args->link,
		       (unsigned long long)rch_job_epoch(c->job), c->peer,
		       (double)c->up_ns / NS_PER_MS);
	event_base_loopbreak(c->base);
}

static const struct rch_job_ops ops = {
	.step = on_step,
	.done = on_done,
};

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct connector *c = arg;

	(void)fd;
	(void)what;
	rch_job_cancel(c->job, "interrupted");
}

/* Before anything is asked of the peer: is there such a link, not up yet? */
static int check_link(const char *link)
{
	struct rcl_link_info *info;
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	int status = CLI_OK;
	size_t num;
	int ret;

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = rcl_call_links(nl, link, &info, &num, err);
	rcl_nl_close(nl);
	if (ret)
		return cli_refused("connect", link, ret, err);
	if (num && info->state == RCLINK_LINK_STATE_UP)
		status = cli_refused("connect", link, -EISCONN,
				     "the link is already up");
	free(info);
	return status;
}

static int exchange(struct connector *c, struct rch_hub *hub,
		    struct rcx_tls *tls)
{
	const struct args *a = c->args;
	struct event *sigint, *sigterm;
	char err[RCL_ERR_LEN];

	sigint = evsignal_new(c->base, SIGINT, on_signal, c);
	sigterm = evsignal_new(c->base, SIGTERM, on_signal, c);
	if (!sigint || !sigterm) {
		c->status = cli_fail("connect %s: out of memory", a->link);
		goto out_free;
	}
	c->job = rch_job_dial(hub, tls, a->host, a->port, a->link, a->wanted,
			      a->timeout_ms, &ops, c, err);
	if (!c->job) {
		c->status = cli_fail("connect %s: %s", a->link, err);
		goto out_free;
	}
	event_add(sigint, NULL);
	event_add(sigterm, NULL);
	event_base_dispatch(c->base);
out_free:
	if (sigint)
		event_free(sigint);
	if (sigterm)
		event_free(sigterm);
	return c->status;
}

static int run(const struct args *args)
{
	struct connector c = { .args = args };
	char err[RCL_ERR_LEN];
	struct rch_hub *hub;
	struct rcx_tls *tls;

	rcl_hide_memory();
	tls = rcx_tls_new(RCX_INITIATOR, &args->tls, err);
	if (!tls)
		return cli_fail("connect %s: %s", args->link, err);
	c.base = event_base_new();
	hub = c.base ? rch_hub_new(c.base, err) : NULL;
	if (hub) {
		exchange(&c, hub, tls);
		rch_hub_free(hub);
	} else {
		c.status = cli_fail("connect %s: %s", args->link, err);
	}
	if (c.base)
		event_base_free(c.base);
	rcx_tls_free(tls);
	return c.status;
}

static void parse(int argc, char **argv, struct args *a)
{
	int c;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		if (c == PIN)
			a->tls.pin = optarg;
		else if (c == CA)
			a->tls.ca_file = optarg;
		else if (c == NAME)
			a->tls.name = optarg;
		else if (c == CRL)
			a->tls.crl_file = optarg;
		else if (c == KEY)
			a->tls.key_file = optarg;
		else if (c == CERT)
			a->tls.cert_file = optarg;
		else if (c == PEER_LINK)
			a->wanted = optarg;
		else if (c == TIMEOUT)
			a->timeout_ms = cli_number(argv[0], "--timeout", optarg,
						   1, 3600) * 1000;
		else
			a->verbose = true;
	}
	if (!a->tls.pin == !a->tls.ca_file)
		cli_usage(argv[0], "give either --pin or --ca");
	if (!a->tls.ca_file != !a->tls.name)
		cli_usage(argv[0], "--ca and --name belong together");
	if (a->tls.crl_file && !a->tls.ca_file)
		cli_usage(argv[0], "--crl needs --ca");
}

int cmd_connect(int argc, char **argv)
{
	struct args a = {
		.tls.key_file = CLI_KEY_FILE,
		.port = RCX_DEFAULT_PORT,
		.timeout_ms = TIMEOUT_S * 1000,
		.verbose = isatty(STDOUT_FILENO),
	};
	char **words;

	parse(argc, argv, &a);
	words = cli_operands(argc, argv, 2, 2);
	a.link = words[0];
	if (!a.wanted)
		a.wanted = a.link;
	if (!rcl_parse_host(words[1], a.host, &a.port))
		cli_usage(argv[0], "'%s' is not HOST or HOST:PORT", words[1]);

	return check_link(a.link) ? CLI_FAILED : run(&a);
}
