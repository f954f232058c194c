// SPDX-License-Identifier: GPL-2.0
/*
 * One round trip at a time: the next begins when its interval has passed and
 * the one before is over. The kernel ends each, one way or the other. Without
 * an interval it makes many in a row, so that the link is measured and not a
 * processor that switches from and to another process each time.
 */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "call.h"
#include "link.h"
#include "nl.h"
#include "ping_report.h"
#include "process.h"
#include "signals.h"
#include "text.h"

#define SOON_NS	10000000ULL	/* nobody minds seeing nothing so long */

static const char help[] =
"usage: rclink ping NAME [OPTIONS]\n\n"
"Round trips over a link that is up: messages on the control QP, or one-sided\n"
"operations on the peer's link buffer. The data is verified at both ends.\n\n"
PING_ARGS_HELP "\n"
"Ends with status 1 when a round trip failed.\n";

struct pinger {
	struct ping_args args;
	struct rcl_ping request;	/* the last one */
	struct event_base *base;
	struct rcl_nl *nl;
	struct event *timer;
	uint64_t started;		/* when it was made */
	uint64_t *rtt;			/* of those that succeeded, ns */
	uint32_t ok;
	uint32_t failed;
	int ret;			/* of the one that failed */
	char why[RCL_ERR_LEN];
};

/* The first reason counts: later ones follow from it. */
static void fail(struct pinger *p, int ret, const char *why)
{
	if (p->failed)
		return;
	p->ret = ret;
	p->failed++;
	snprintf(p->why, sizeof(p->why), "%s", why);
	/* RC has no transient losses: whatever failed, stays so. */
	event_base_loopbreak(p->base);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct pinger *p = arg;
	char err[RCL_ERR_LEN];
	int ret;

	(void)fd;
	(void)what;
	p->started = rcl_now();
	p->request.cookie++;
	ret = rcl_call_ping(p->nl, &p->request, err);
	if (ret)
		fail(p, ret, err);
}

/* How many to ask for next, when the last ones took that long. */
static uint32_t next_count(const struct pinger *p, uint64_t past)
{
	uint32_t left = p->args.count - p->ok;
	uint32_t count = past < SOON_NS ? 2 * p->request.count :
					  (p->request.count + 1) / 2;

	if (p->args.interval)
		return 1;
	if (count > RCLINK_PING_COUNT_MAX)
		count = RCLINK_PING_COUNT_MAX;
	return count < left ? count : left;
}

static void schedule(struct pinger *p)
{
	uint64_t past = rcl_now() - p->started;
	uint64_t left = past < p->args.interval ? p->args.interval - past : 0;
	const struct timeval tv = rcl_timeval(left);

	p->request.count = next_count(p, past);
	event_add(p->timer, &tv);
}

static void take(struct pinger *p, const struct rcl_ping *result)
{
	uint32_t i;

	for (i = 0; i < result->ok && p->ok < p->args.count; i++) {
		p->rtt[p->ok++] = result->rtt[i];
		if (!p->args.quiet && !p->args.json)
			ping_report_line(result->link, result->op,
					 result->size, p->ok, result->rtt[i]);
	}
}

static int on_result(const struct nlmsghdr *hdr, void *arg)
{
	struct pinger *p = arg;
	struct rcl_ping result;

	if (!rcl_is_ping_result(hdr) || rcl_ping_get(hdr, &result) ||
	    result.cookie != p->request.cookie)
		return 0;
	take(p, &result);
	if (result.error) {
		fail(p, -(int)result.error,
		     *result.reason_text ? result.reason_text :
					   strerror(result.error));
		return 0;
	}
	if (p->ok == p->args.count || !cli_written())
		event_base_loopbreak(p->base);
	else
		schedule(p);
	return 0;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct pinger *p = arg;
	char err[RCL_ERR_LEN];
	int ret;

	(void)fd;
	(void)what;
	ret = rcl_nl_receive(p->nl, err);
	if (ret)
		fail(p, ret, err);
}

static int report(struct pinger *p)
{
	const struct ping_report report = {
		.link = p->request.link,
		.op = p->request.op,
		.size = p->request.size,
		.rtt = p->rtt,
		.ok = p->ok,
		.failed = p->failed,
		.why = p->why,
	};

	ping_report_print(&report, p->args.json);
	if (!p->failed)
		return CLI_OK;
	/* Nothing is wrong with the link. */
	if (p->ret == -EBUSY)
		return cli_fail("ping %s: %s; try again when they have ended",
				p->request.link, p->why);
	return cli_refused("ping", p->request.link, p->ret, p->why);
}

static int run(struct pinger *p)
{
	struct signals signals = { 0 };
	struct event *readable;
	int status;

	p->timer = evtimer_new(p->base, on_timer, p);
	readable = event_new(p->base, rcl_nl_fd(p->nl), EV_READ | EV_PERSIST,
			     on_readable, p);
	if (!p->timer || !readable || event_add(readable, NULL) ||
	    !signals_catch(&signals, p->base, signals_stop, p->base)) {
		status = cli_fail("ping: out of memory");
	} else {
		event_active(p->timer, 0, 0);
		event_base_dispatch(p->base);
		status = report(p);
	}
	if (p->timer)
		event_free(p->timer);
	if (readable)
		event_free(readable);
	signals_free(&signals);
	return status;
}

static void parse(int argc, char **argv, struct pinger *p)
{
	const char *cmd = argv[0];
	char **words;
	int c;

	ping_args_init(&p->args);
	while ((c = cli_getopt(argc, argv, ping_options, help)) != -1)
		ping_args_take(&p->args, cmd, c);
	p->request.op = p->args.op;
	p->request.size = p->args.size;
	p->request.count = 1;
	words = cli_operands(argc, argv, 1, 1);
	if (strlen(words[0]) > RCLINK_NAME_MAX)
		cli_usage(cmd, "a name has at most %d characters",
			  RCLINK_NAME_MAX);
	strcpy(p->request.link, words[0]);
}

int cmd_ping(int argc, char **argv)
{
	struct pinger p = { 0 };
	int status = CLI_FAILED;

	parse(argc, argv, &p);
	p.nl = cli_open();
	p.base = event_base_new();
	p.rtt = calloc(p.args.count, sizeof(*p.rtt));
	if (!p.base || !p.rtt) {
		cli_fail("ping: out of memory");
	} else if (p.nl) {
		rcl_nl_notify(p.nl, on_result, &p);
		status = run(&p);
	}
	free(p.rtt);
	if (p.base)
		event_base_free(p.base);
	rcl_nl_close(p.nl);
	return status;
}
