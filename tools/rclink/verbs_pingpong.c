// SPDX-License-Identifier: GPL-2.0
/* pingpong over libibverbs, with a peer over the module or libibverbs. */
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "cli.h"
#include "epoch.h"
#include "pingpong.h"
#include "pingpong_report.h"
#include "pong.h"
#include "verbs_cmd.h"
#include "verbs_dial.h"

#define SIZE		4096
#define ITERS		1000
#define TURNS		256	/* of the poller between event loop passes */
#define LATE_S		20	/* without a message from the peer */

static const char help[] =
"usage: rclink --verbs pingpong NAME HOST[:PORT] --pin PIN [OPTIONS] [WORD VALUE]...\n\n"
"Do one exchange, then send a message over a channel to `rclink pingpong NAME\n"
"--listen` at the peer, or to its `rclink --verbs listen`, which sends it back,\n"
"many times, and say goodbye.\n\n"
"  -s, --size N      bytes (4096, up to 1048576)\n"
"  -n, --iters N     messages in each direction (1000)\n"
"  -e, --events      sleep until there is a completion, instead of polling\n"
"  -c, --check       compare the last message with what it must be\n"
"  -j, --json        one object, with the time in nanoseconds\n"
VERBS_DIAL_HELP;

static const struct option options[] = {
	{ "size", required_argument, NULL, 's' },
	{ "iters", required_argument, NULL, 'n' },
	{ "events", no_argument, NULL, 'e' },
	{ "check", no_argument, NULL, 'c' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

struct pingpong {
	struct verbs_dial dial;
	struct rcl_pingpong args;
	bool events, json;
	struct event *timer;
	bool moved;		/* since the timer looked */
	bool late;
	bool over;
	bool failed;
	char why[RCL_ERR_LEN];
	uint64_t duration;	/* ns */
};

static void on_moved(void *ctx)
{
	struct pingpong *p = ctx;

	p->moved = true;
}

static void on_done(void *ctx, const char *err, uint64_t duration)
{
	struct pingpong *p = ctx;

	p->over = true;
	p->failed = err;
	p->duration = duration;
	snprintf(p->why, sizeof(p->why), "%s", err ? err : "");
	event_base_loopbreak(p->dial.base);
}

static const struct rcv_pong_user user = {
	.moved = on_moved,
	.done = on_done,
};

static void wait_more(struct pingpong *p)
{
	const struct timeval late = { .tv_sec = LATE_S };

	p->moved = false;
	event_add(p->timer, &late);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct pingpong *p = arg;

	(void)fd;
	(void)what;
	if (p->moved) {
		wait_more(p);
		return;
	}
	p->late = true;
	event_base_loopbreak(p->dial.base);
}

static void poll_until_over(struct pingpong *p)
{
	struct rcv_epoch *ep = verbs_dial_epoch(&p->dial);
	uint32_t turns = 0;

	ep->busy = true;
	while (!p->over && !p->late && !p->dial.interrupted && !p->dial.down) {
		rcv_epoch_turn(ep);
		if (!(++turns % TURNS) || ep->why[0])
			event_base_loop(p->dial.base, EVLOOP_NONBLOCK);
	}
	ep->busy = false;
}

static void play(struct pingpong *p)
{
	wait_more(p);
	if (p->events)
		verbs_dial_run(&p->dial);
	else
		poll_until_over(p);
}

static int report(const struct pingpong *p)
{
	const char *link = p->dial.args.link;

	if (p->over && p->failed)
		return cli_fail("pingpong %s: %s", link, p->why);
	if (p->over) {
		pingpong_report(link, RCL_PINGPONG_SERVICE, &p->args,
				p->duration, p->json);
		return CLI_OK;
	}
	if (p->dial.down)
		return cli_fail("pingpong %s: %s", link, p->dial.why);
	if (p->dial.interrupted)
		return cli_fail("pingpong %s: interrupted", link);
	return cli_fail("pingpong %s: no answer for %d s; look at the peer",
			link, LATE_S);
}

/* A channel that is not over ends with the link. */
static int run(struct pingpong *p)
{
	int status;

	p->timer = evtimer_new(p->dial.base, on_look, p);
	if (!p->timer)
		return cli_fail("pingpong: out of memory");
	if (rcv_pong_lead(verbs_dial_epoch(&p->dial), &p->args, &user, p)) {
		status = cli_fail("pingpong %s: no memory; see `ulimit -l`",
				  p->dial.args.link);
	} else {
		play(p);
		status = report(p);
	}
	event_free(p->timer);
	return status;
}

static void parse(int argc, char **argv, struct pingpong *p)
{
	const char *cmd = p->dial.cmd;
	int c;

	while ((c = dial_args_getopt(&p->dial.args, argc, argv,
				     help)) != -1) {
		if (c == 's')
			p->args.size = cli_number(cmd, "-s", optarg, 0,
						  RCL_PINGPONG_LARGEST);
		else if (c == 'n')
			p->args.iters = cli_number(cmd, "-n", optarg, 1,
						   RCL_PINGPONG_ITERS_MAX);
		p->events |= c == 'e';
		p->args.check |= c == 'c';
		p->json |= c == 'j';
	}
	verbs_dial_words(&p->dial, argc, argv, false);
}

int verbs_pingpong(int argc, char **argv)
{
	struct pingpong p = {
		.args.size = SIZE,
		.args.iters = ITERS,
	};
	int status;

	verbs_dial_init(&p.dial, argv[0], options);
	parse(argc, argv, &p);
	status = verbs_dial_up(&p.dial);
	if (!status)
		status = run(&p);
	verbs_dial_end(&p.dial);
	return status;
}
