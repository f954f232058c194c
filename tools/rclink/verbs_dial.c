// SPDX-License-Identifier: GPL-2.0
#include "verbs_dial.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "epoch.h"
#include "join.h"
#include "process.h"
#include "setting.h"

#define TIMEOUT_S	20
#define NS_PER_MS	1000000

void verbs_dial_init(struct verbs_dial *d, const char *cmd)
{
	memset(d, 0, sizeof(*d));
	d->cmd = cmd;
	d->tls.key_file = CLI_KEY_FILE;
	d->port = RCX_DEFAULT_PORT;
	d->timeout_ms = TIMEOUT_S * 1000;
}

enum { PIN = 512, CA, NAME, CRL, KEY, CERT, PEER_LINK, TIMEOUT };

static const struct option common[] = {
	{ "pin", required_argument, NULL, PIN },
	{ "ca", required_argument, NULL, CA },
	{ "name", required_argument, NULL, NAME },
	{ "crl", required_argument, NULL, CRL },
	{ "key", required_argument, NULL, KEY },
	{ "cert", required_argument, NULL, CERT },
	{ "peer-link", required_argument, NULL, PEER_LINK },
	{ "timeout", required_argument, NULL, TIMEOUT },
	CLI_OPT_HELP, CLI_OPT_END
};

static void take_option(struct verbs_dial *d, int c)
{
	if (c == PIN)
		d->tls.pin = optarg;
	else if (c == CA)
		d->tls.ca_file = optarg;
	else if (c == NAME)
		d->tls.name = optarg;
	else if (c == CRL)
		d->tls.crl_file = optarg;
	else if (c == KEY)
		d->tls.key_file = optarg;
	else if (c == CERT)
		d->tls.cert_file = optarg;
	else if (c == PEER_LINK)
		d->wanted = optarg;
	else if (c == TIMEOUT)
		d->timeout_ms = cli_number(d->cmd, "--timeout", optarg, 1,
					   3600) * 1000;
}

/* No command has as many as there is room for. */
static void join_options(struct verbs_dial *d, const struct option *own)
{
	struct option *to = d->options;
	const struct option *from;

	for (; own->name; own++)
		*to++ = *own;
	for (from = common; from->name; from++)
		*to++ = *from;
	*to = *from;
}

int verbs_dial_getopt(struct verbs_dial *d, int argc, char **argv,
		      const struct option *own, const char *help)
{
	int c;

	if (!d->options[0].name)
		join_options(d, own);
	while ((c = cli_getopt(argc, argv, d->options, help)) >= PIN)
		take_option(d, c);
	return c;
}

void verbs_words(const char *cmd, char **words, struct rcl_policy *policy)
{
	char err[RCL_ERR_LEN];

	for (; words[0]; words += 2) {
		if (!words[1])
			cli_usage(cmd, "'%s' needs a value", words[0]);
		if (rcl_setting_parse(policy, words[0], words[1], err))
			cli_usage(cmd, "%s", err);
	}
	if (rcv_policy_complete(policy, err))
		cli_usage(cmd, "%s", err);
}

const char *verbs_dial_words(struct verbs_dial *d, int argc, char **argv,
			     bool kind)
{
	char **words = cli_operands(argc, argv, 2 + kind, argc);

	if (!d->tls.pin == !d->tls.ca_file)
		cli_usage(d->cmd, "give either --pin or --ca");
	if (!d->tls.ca_file != !d->tls.name)
		cli_usage(d->cmd, "--ca and --name belong together");
	if (d->tls.crl_file && !d->tls.ca_file)
		cli_usage(d->cmd, "--crl needs --ca");
	d->link = words[0];
	if (!d->wanted)
		d->wanted = d->link;
	if (!rcl_parse_host(words[1], d->host, &d->port))
		cli_usage(d->cmd, "'%s' is not HOST or HOST:PORT", words[1]);
	verbs_words(d->cmd, words + 2 + kind, &d->policy);
	return words[2];
}

static void on_done(void *ctx, int result, const char *err)
{
	struct verbs_dial *d = ctx;

	d->up = !result;
	if (result) {
		d->join = NULL;
		snprintf(d->why, sizeof(d->why), "%s", err);
	}
	event_base_loopbreak(d->base);
}

static void on_down(void *ctx, const char *why)
{
	struct verbs_dial *d = ctx;

	/* Who polls its epoch is on the stack: it is freed at the end. */
	d->down = true;
	snprintf(d->why, sizeof(d->why), "%s", why);
	event_base_loopbreak(d->base);
}

static const struct rcv_join_ops ops = {
	.done = on_done,
	.down = on_down,
};

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct verbs_dial *d = arg;

	(void)fd;
	(void)what;
	d->interrupted = true;
	if (d->up || !d->join)
		event_base_loopbreak(d->base);
	else
		rcv_join_cancel(d->join, "interrupted");
}

static int prepare(struct verbs_dial *d)
{
	char err[RCL_ERR_LEN];

	rcl_hide_memory();
	d->ctx = rcx_tls_new(RCX_INITIATOR, &d->tls, err);
	if (!d->ctx)
		return cli_fail("%s %s: %s", d->cmd, d->link, err);
	d->base = event_base_new();
	if (!d->base)
		return cli_fail("%s: out of memory", d->cmd);
	d->sigint = evsignal_new(d->base, SIGINT, on_signal, d);
	d->sigterm = evsignal_new(d->base, SIGTERM, on_signal, d);
	if (!d->sigint || !d->sigterm)
		return cli_fail("%s: out of memory", d->cmd);
	d->join = rcv_join_dial(d->base, d->ctx, d->host, d->port, d->link,
				d->wanted, d->timeout_ms, &d->policy, &ops, d,
				err);
	if (!d->join)
		return cli_fail("%s %s: %s", d->cmd, d->link, err);
	event_add(d->sigint, NULL);
	event_add(d->sigterm, NULL);
	return CLI_OK;
}

int verbs_dial_up(struct verbs_dial *d)
{
	int status = prepare(d);

	if (status)
		return status;
	event_base_dispatch(d->base);
	if (!d->join)
		return cli_fail("%s %s: %s", d->cmd, d->link, d->why);
	return CLI_OK;
}

struct rcv_epoch *verbs_dial_epoch(const struct verbs_dial *d)
{
	return rcv_join_epoch(d->join);
}

void verbs_dial_run(struct verbs_dial *d)
{
	if (!d->down && !d->interrupted)
		event_base_dispatch(d->base);
}

void verbs_dial_end(struct verbs_dial *d)
{
	if (d->join)
		rcv_join_free(d->join);
	d->join = NULL;
	if (d->sigint)
		event_free(d->sigint);
	if (d->sigterm)
		event_free(d->sigterm);
	if (d->base)
		event_base_free(d->base);
	rcx_tls_free(d->ctx);
}
