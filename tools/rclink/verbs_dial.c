// SPDX-License-Identifier: GPL-2.0
#include "verbs_dial.h"

#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "echo.h"
#include "epoch.h"
#include "join.h"
#include "pong.h"
#include "process.h"
#include "setting.h"

void verbs_dial_init(struct verbs_dial *d, const char *cmd,
		     const struct option *own)
{
	memset(d, 0, sizeof(*d));
	d->cmd = cmd;
	dial_args_init(&d->args, own);
}

/* Settings for channels that others open, and for later epochs. */
static bool is_of_module(const char *word)
{
	return !strcmp(word, "owner") || !strcmp(word, "group") ||
	       !strcmp(word, "mode") || !strcmp(word, "recover");
}

void verbs_words(const char *cmd, char **words, struct rcl_policy *policy)
{
	char err[RCL_ERR_LEN];

	for (; words[0]; words += 2) {
		if (!words[1])
			cli_usage(cmd, "'%s' needs a value", words[0]);
		if (is_of_module(words[0]))
			cli_usage(cmd,
				  "only links of the module have '%s'; leave it out",
				  words[0]);
		if (rcl_setting_parse(policy, words[0], words[1], err))
			cli_usage(cmd, "%s", err);
	}
	if (rcv_policy_complete(policy, err))
		cli_usage(cmd, "%s", err);
}

const char *verbs_dial_words(struct verbs_dial *d, int argc, char **argv,
			     bool kind)
{
	char **words = dial_args_operands(&d->args, argc, argv, 2 + kind, argc);

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

	/* A caller polling the epoch is on the stack: free it at the end. */
	d->down = true;
	snprintf(d->why, sizeof(d->why), "%s", why);
	event_base_loopbreak(d->base);
}

const struct rcv_service *const verbs_services[] = {
	&rcv_pong_service, &rcv_echo_service, NULL
};

static const struct rcv_join_ops ops = {
	.services = verbs_services,
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
	const struct dial_args *a = &d->args;
	char err[RCL_ERR_LEN];

	rcl_hide_memory();
	d->ctx = rcx_tls_new(RCX_INITIATOR, &a->tls, err);
	if (!d->ctx)
		return cli_fail("%s %s: %s", d->cmd, a->link, err);
	d->base = event_base_new();
	if (!d->base)
		return cli_fail("%s: out of memory", d->cmd);
	if (!signals_catch(&d->signals, d->base, on_signal, d))
		return cli_fail("%s: out of memory", d->cmd);
	d->join = rcv_join_dial(d->base, d->ctx, a->host, a->port, a->link,
				a->wanted, a->timeout_ms, &d->policy, &ops, d,
				err);
	if (!d->join)
		return cli_fail("%s %s: %s", d->cmd, a->link, err);
	return CLI_OK;
}

int verbs_dial_up(struct verbs_dial *d)
{
	int status = prepare(d);

	if (status)
		return status;
	event_base_dispatch(d->base);
	if (!d->join)
		return cli_fail("%s %s: %s", d->cmd, d->args.link, d->why);
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
	signals_free(&d->signals);
	if (d->base)
		event_base_free(d->base);
	rcx_tls_free(d->ctx);
}
