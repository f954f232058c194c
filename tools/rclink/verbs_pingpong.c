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
	bool over;
	bool failed;
	char why[RCL_ERR_LEN];
	uint64_t duration;	/* ns */
};

static void on_done(void *ctx, const char *err, uint64_t duration)
{
	struct pingpong *p = ctx;

	p->over = true;
	p->failed = err;
	p->duration = duration;
	snprintf(p->why, sizeof(p->why), "%s", err ? err : "");
	event_base_loopbreak(p->dial.base);
}

static void poll_until_over(struct pingpong *p)
{
	struct rcv_epoch *ep = verbs_dial_epoch(&p->dial);
	uint32_t turns = 0;

	ep->busy = true;
	while (!p->over && !p->dial.interrupted && !p->dial.down) {
		rcv_epoch_turn(ep);
		if (!(++turns % TURNS) || ep->why[0])
			event_base_loop(p->dial.base, EVLOOP_NONBLOCK);
	}
	ep->busy = false;
}

static int run(struct pingpong *p)
{
	if (rcv_pong_lead(verbs_dial_epoch(&p->dial), &p->args, on_done, p))
		return cli_fail("pingpong %s: no memory; see `ulimit -l`",
				p->dial.args.link);
	if (p->events)
		verbs_dial_run(&p->dial);
	else
		poll_until_over(p);
	if (!p->over)
		return cli_fail("pingpong %s: %s", p->dial.args.link,
				p->dial.down ? p->dial.why : "interrupted");
	if (p->failed)
		return cli_fail("pingpong %s: %s", p->dial.args.link, p->why);
	pingpong_report(p->dial.args.link, RCL_PINGPONG_SERVICE, &p->args,
			p->duration, p->json);
	return CLI_OK;
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
