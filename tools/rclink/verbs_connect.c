// SPDX-License-Identifier: GPL-2.0
/* connect and ping over libibverbs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "cli.h"
#include "epoch.h"
#include "join.h"
#include "ping_report.h"
#include "process.h"
#include "verbs_cmd.h"
#include "verbs_dial.h"

static const char connect_help[] =
"usage: rclink --verbs connect NAME HOST[:PORT] --pin PIN [OPTIONS] [WORD VALUE]...\n"
"       rclink --verbs connect NAME HOST[:PORT] --ca FILE --name DNSNAME ...\n\n"
"Do one exchange with the rclink that listens at HOST, and keep the link until\n"
"interrupted, or until the peer ends it. The peer's module or process can ping it,\n"
"and open channels, as to `rclink --verbs listen`.\n\n"
VERBS_DIAL_HELP;

static const struct option connect_options[] = {
	CLI_OPT_HELP, CLI_OPT_END
};

static void print_up(const struct verbs_dial *d)
{
	printf("%s: up, epoch %llu, peer %s, %.0f ms\n", d->args.link,
	       (unsigned long long)verbs_dial_epoch(d)->local.epoch,
	       rcv_join_peer(d->join),
	       (double)rcv_join_ns(d->join) / NS_PER_MS);
}

int verbs_connect(int argc, char **argv)
{
	struct verbs_dial d;
	int status;

	verbs_dial_init(&d, argv[0], connect_options);
	while (dial_args_getopt(&d.args, argc, argv, connect_help) != -1)
		;
	verbs_dial_words(&d, argc, argv, false);
	status = verbs_dial_up(&d);
	if (!status) {
		print_up(&d);
		verbs_dial_run(&d);
		if (!d.interrupted)
			status = cli_fail("connect %s: the link went down: %s",
					  d.args.link, d.why);
	}
	verbs_dial_end(&d);
	return status;
}

static const char ping_help[] =
"usage: rclink --verbs ping NAME HOST[:PORT] --pin PIN [OPTIONS] [WORD VALUE]...\n\n"
"Do one exchange, then round trips as `rclink ping` does, and say goodbye.\n\n"
PING_ARGS_HELP
VERBS_DIAL_HELP;

struct pinger {
	struct verbs_dial dial;
	struct ping_args args;
	struct rcv_ping request;
	struct event *timer;
	uint64_t started;		/* of the last round trip */
	uint64_t *rtt;
	uint32_t ok;
	bool failed;
	char why[RCL_ERR_LEN];
};

/* The interval counts from the start of one round trip to that of the next. */
static void schedule(struct pinger *p)
{
	uint64_t past = rcl_now() - p->started;
	uint64_t left = past < p->args.interval ? p->args.interval - past : 0;
	const struct timeval tv = rcl_timeval(left);

	event_add(p->timer, &tv);
}

static void on_ping(void *ctx, int error, const char *why, uint64_t rtt)
{
	struct pinger *p = ctx;

	if (error) {
		p->failed = true;
		snprintf(p->why, sizeof(p->why), "%s", why);
		event_base_loopbreak(p->dial.base);
		return;
	}
	p->rtt[p->ok++] = rtt;
	if (!p->args.quiet && !p->args.json)
		ping_report_line(p->dial.args.link, p->request.op,
				 p->request.size, p->ok, rtt);
	if (p->ok == p->args.count || !cli_written())
		event_base_loopbreak(p->dial.base);
	else
		schedule(p);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct pinger *p = arg;

	(void)fd;
	(void)what;
	p->started = rcl_now();
	if (!p->dial.down)
		rcv_epoch_ping(verbs_dial_epoch(&p->dial), &p->request);
}

static int run_pings(struct pinger *p)
{
	const struct ping_report report = {
		.link = p->dial.args.link,
		.op = p->request.op,
		.size = p->request.size,
		.rtt = p->rtt,
		.why = p->why,
	};
	struct ping_report whole = report;

	p->timer = evtimer_new(p->dial.base, on_timer, p);
	if (!p->timer)
		return cli_fail("ping: out of memory");
	event_active(p->timer, EV_TIMEOUT, 0);
	verbs_dial_run(&p->dial);
	event_free(p->timer);
	if (!p->failed && p->dial.down) {
		p->failed = true;
		snprintf(p->why, sizeof(p->why), "%s", p->dial.why);
	}
	whole.ok = p->ok;
	whole.failed = p->failed;
	ping_report_print(&whole, p->args.json);
	if (p->failed)
		return cli_fail("ping %s: %s", p->dial.args.link, p->why);
	return CLI_OK;
}

static void parse_ping(int argc, char **argv, struct pinger *p)
{
	const char *cmd = argv[0];
	int c;

	verbs_dial_init(&p->dial, cmd, ping_options);
	ping_args_init(&p->args);
	while ((c = dial_args_getopt(&p->dial.args, argc, argv,
				     ping_help)) != -1)
		ping_args_take(&p->args, cmd, c);
	p->request.op = p->args.op;
	p->request.size = p->args.size;
	verbs_dial_words(&p->dial, argc, argv, false);
}

int verbs_ping(int argc, char **argv)
{
	struct pinger p = { .request.done = on_ping, .request.ctx = &p };
	int status;

	parse_ping(argc, argv, &p);
	p.rtt = calloc(p.args.count, sizeof(*p.rtt));
	if (!p.rtt)
		return cli_fail("ping: out of memory");
	status = verbs_dial_up(&p.dial);
	if (!status)
		status = run_pings(&p);
	verbs_dial_end(&p.dial);
	free(p.rtt);
	return status;
}
