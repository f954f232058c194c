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
#include "verbs_cmd.h"
#include "verbs_dial.h"

#define NS_PER_MS	1000000
#define NS_PER_S	1000000000ULL
#define COUNT		5
#define INTERVAL_NS	200000000ULL
#define SIZE		64
#define ATOMIC_SIZE	8

static const char connect_help[] =
"usage: rclink --verbs connect NAME HOST[:PORT] --pin PIN [OPTIONS] [WORD VALUE]...\n"
"       rclink --verbs connect NAME HOST[:PORT] --ca FILE --name DNSNAME ...\n\n"
"Do one exchange with the rclink that listens at HOST, and keep the link until\n"
"interrupted, or until the peer ends it. The peer's module or process can ping it.\n\n"
VERBS_DIAL_HELP;

static const struct option connect_options[] = { CLI_OPT_END };

static void print_up(const struct verbs_dial *d)
{
	printf("%s: up, epoch %llu, peer %s, %.0f ms\n", d->link,
	       (unsigned long long)verbs_dial_epoch(d)->local.epoch,
	       rcv_join_peer(d->join),
	       (double)rcv_join_ns(d->join) / NS_PER_MS);
}

int verbs_connect(int argc, char **argv)
{
	struct verbs_dial d;
	int status;

	verbs_dial_init(&d, argv[0]);
	while (verbs_dial_getopt(&d, argc, argv, connect_options,
				 connect_help) != -1)
		;
	verbs_dial_words(&d, argc, argv, false);
	status = verbs_dial_up(&d);
	if (!status) {
		print_up(&d);
		verbs_dial_run(&d);
		if (!d.interrupted)
			status = cli_fail("connect %s: the link went down: %s",
					  d.link, d.why);
	}
	verbs_dial_end(&d);
	return status;
}

static const char ping_help[] =
"usage: rclink --verbs ping NAME HOST[:PORT] --pin PIN [OPTIONS] [WORD VALUE]...\n\n"
"Do one exchange, then round trips as `rclink ping` does, and say goodbye.\n\n"
"  -c, --count N     round trips (5)\n"
"  -i, --interval S  seconds between them (0.2); 0 is back to back\n"
"  -s, --size N      bytes (64; atomics take 8)\n"
"  -o, --op OP       send, write, read, cas or fadd (send)\n"
"  -q, --quiet       only the summary\n"
"  -j, --json        one object with all times, in nanoseconds\n"
VERBS_DIAL_HELP;

static const struct option ping_options[] = {
	{ "count", required_argument, NULL, 'c' },
	{ "interval", required_argument, NULL, 'i' },
	{ "size", required_argument, NULL, 's' },
	{ "op", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	CLI_OPT_JSON, CLI_OPT_END
};

struct pinger {
	struct verbs_dial dial;
	struct rcv_ping request;
	struct event *timer;
	uint32_t count;
	uint64_t interval;	/* ns */
	bool sized, quiet, json;
	uint64_t *rtt;
	uint32_t ok;
	bool failed;
	char why[RCL_ERR_LEN];
};

static void on_ping(void *ctx, int error, const char *why, uint64_t rtt)
{
	struct pinger *p = ctx;
	struct timeval tv = {
		.tv_sec = p->interval / NS_PER_S,
		.tv_usec = p->interval % NS_PER_S / 1000,
	};

	if (error) {
		p->failed = true;
		snprintf(p->why, sizeof(p->why), "%s", why);
		event_base_loopbreak(p->dial.base);
		return;
	}
	p->rtt[p->ok++] = rtt;
	if (!p->quiet && !p->json)
		ping_report_line(p->dial.link, p->request.op, p->request.size,
				 p->ok, rtt);
	if (p->ok == p->count)
		event_base_loopbreak(p->dial.base);
	else
		event_add(p->timer, &tv);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct pinger *p = arg;

	(void)fd;
	(void)what;
	if (!p->dial.down)
		rcv_epoch_ping(verbs_dial_epoch(&p->dial), &p->request);
}

static int run_pings(struct pinger *p)
{
	const struct ping_report report = {
		.link = p->dial.link,
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
	ping_report_print(&whole, p->json);
	if (p->failed)
		return cli_fail("ping %s: %s", p->dial.link, p->why);
	return CLI_OK;
}

static void parse_ping(int argc, char **argv, struct pinger *p)
{
	const char *cmd = argv[0];
	int c;

	while ((c = verbs_dial_getopt(&p->dial, argc, argv, ping_options,
				      ping_help)) != -1) {
		if (c == 'c') {
			p->count = cli_number(cmd, "-c", optarg, 1, 10000000);
		} else if (c == 'i') {
			p->interval = cli_seconds(cmd, "-i", optarg);
		} else if (c == 's') {
			p->request.size = cli_number(cmd, "-s", optarg, 0,
						     UINT32_MAX);
			p->sized = true;
		} else if (c == 'o' && !rcl_word_value(RCL_WORDS_PING_OP,
						       optarg,
						       &p->request.op)) {
			cli_usage(cmd, "there is no op '%s'", optarg);
		}
		p->quiet |= c == 'q';
		p->json |= c == 'j';
	}
	if (!p->sized && p->request.op >= RCLINK_PING_OP_CAS)
		p->request.size = ATOMIC_SIZE;
	verbs_dial_words(&p->dial, argc, argv, false);
}

int verbs_ping(int argc, char **argv)
{
	struct pinger p = {
		.request = {
			.op = RCLINK_PING_OP_SEND,
			.size = SIZE,
			.done = on_ping,
		},
		.count = COUNT,
		.interval = INTERVAL_NS,
	};
	int status;

	p.request.ctx = &p;
	verbs_dial_init(&p.dial, argv[0]);
	parse_ping(argc, argv, &p);
	p.rtt = calloc(p.count, sizeof(*p.rtt));
	if (!p.rtt)
		return cli_fail("ping: out of memory");
	status = verbs_dial_up(&p.dial);
	if (!status)
		status = run_pings(&p);
	verbs_dial_end(&p.dial);
	free(p.rtt);
	return status;
}
