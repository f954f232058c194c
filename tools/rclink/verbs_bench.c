// SPDX-License-Identifier: GPL-2.0
/* bench over libibverbs: one-sided operations on the peer's link buffer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <json-c/json.h>

#include "cli.h"
#include "epoch.h"
#include "flow.h"
#include "out.h"
#include "ping_report.h"
#include "verbs_cmd.h"
#include "verbs_dial.h"

#define LAT_SIZE	8
#define LAT_ITERS	1000
#define BW_SIZE		65536
#define BW_ITERS	1000
#define BW_DEPTH	16

static const char help[] =
"usage: rclink --verbs bench NAME HOST[:PORT] lat|bw --pin PIN [OPTIONS] [WORD VALUE]...\n\n"
"Do one exchange, then many operations on the peer's link buffer, polling, and\n"
"say goodbye: lat one after the other, each until it has completed, which is a\n"
"whole round trip, bw several at a time.\n\n"
"  -o, --op OP       write, read, cas or fadd (write)\n"
"  -s, --size N      bytes (lat 8, bw 65536; atomics take 8)\n"
"  -n, --iters N     operations (1000)\n"
"  -r, --depth N     bw: in flight (16, up to 64)\n"
"  -j, --json        one object, with times in nanoseconds\n"
VERBS_DIAL_HELP;

static const struct option options[] = {
	{ "op", required_argument, NULL, 'o' },
	{ "size", required_argument, NULL, 's' },
	{ "iters", required_argument, NULL, 'n' },
	{ "depth", required_argument, NULL, 'r' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

struct bench {
	struct verbs_dial dial;
	struct rcv_flow flow;
	bool lat, json;
};

static bool on_go(void *ctx)
{
	struct bench *b = ctx;

	event_base_loop(b->dial.base, EVLOOP_NONBLOCK);
	return !b->dial.interrupted && !b->dial.down;
}

static void report_bw(const struct bench *b)
{
	const struct rcv_flow *f = &b->flow;
	uint64_t bytes = (uint64_t)f->size * f->iters;
	char text[RCL_RATE_TEXT_LEN];
	struct json_object *doc;

	if (!b->json) {
		printf("%s: %u x %u bytes %s, %u at once: %s, %.0f a second\n",
		       b->dial.args.link, f->iters, f->size,
		       rcl_word(RCL_WORDS_PING_OP, f->op), f->depth,
		       rcl_rate_text(bytes, f->duration, text),
		       f->iters * 1e9 / f->duration);
		return;
	}
	doc = json_object_new_object();
	rcl_out_text(doc, "name", b->dial.args.link);
	rcl_out_text(doc, "op", rcl_word(RCL_WORDS_PING_OP, f->op));
	rcl_out_u64(doc, "size", f->size);
	rcl_out_u64(doc, "iters", f->iters);
	rcl_out_u64(doc, "depth", f->depth);
	rcl_out_u64(doc, "bytes", bytes);
	rcl_out_u64(doc, "duration", f->duration);
	rcl_out_u64(doc, "bytes_per_second", bytes * 1e9 / f->duration);
	rcl_out_u64(doc, "messages_per_second", f->iters * 1e9 / f->duration);
	rcl_out_json(stdout, doc);
	json_object_put(doc);
}

static void report_lat(const struct bench *b)
{
	const struct ping_report report = {
		.link = b->dial.args.link,
		.op = b->flow.op,
		.size = b->flow.size,
		.rtt = b->flow.times,
		.ok = b->flow.iters,
		.why = "",
	};

	ping_report_print(&report, b->json);
}

static void parse(int argc, char **argv, struct bench *b)
{
	struct rcv_flow *f = &b->flow;
	const char *cmd = b->dial.cmd;
	const char *kind;
	int c;

	while ((c = dial_args_getopt(&b->dial.args, argc, argv,
				     help)) != -1) {
		if (c == 's')
			f->size = cli_number(cmd, "-s", optarg, 1, UINT32_MAX);
		else if (c == 'n')
			f->iters = cli_number(cmd, "-n", optarg, 1, 10000000);
		else if (c == 'r')
			f->depth = cli_number(cmd, "-r", optarg, 1,
					      RCV_BENCH_DEPTH);
		else if (c == 'o' && (!rcl_word_value(RCL_WORDS_PING_OP, optarg,
						      &f->op) ||
				      f->op == RCLINK_PING_OP_SEND))
			cli_usage(cmd, "there is no one-sided op '%s'", optarg);
		b->json |= c == 'j';
	}
	kind = verbs_dial_words(&b->dial, argc, argv, true);
	b->lat = !strcmp(kind, "lat");
	if (!b->lat && strcmp(kind, "bw"))
		cli_usage(cmd, "say lat or bw, not '%s'", kind);
	if (b->lat && f->depth)
		cli_usage(cmd, "lat has one operation in flight; leave -r out");
}

static void set_defaults(struct bench *b)
{
	struct rcv_flow *f = &b->flow;

	if (!f->iters)
		f->iters = b->lat ? LAT_ITERS : BW_ITERS;
	if (!f->size)
		f->size = b->lat || f->op >= RCLINK_PING_OP_CAS ? LAT_SIZE :
								  BW_SIZE;
	if (!f->depth)
		f->depth = BW_DEPTH;
	if (b->lat)
		f->depth = 1;
}

static int run(struct bench *b)
{
	char err[RCL_ERR_LEN];

	if (rcv_flow_run(verbs_dial_epoch(&b->dial), &b->flow, err))
		return cli_fail("bench %s: %s", b->dial.args.link, err);
	if (b->lat)
		report_lat(b);
	else
		report_bw(b);
	return CLI_OK;
}

int verbs_bench(int argc, char **argv)
{
	struct bench b = {
		.flow.op = RCLINK_PING_OP_WRITE,
		.flow.go_on = on_go,
	};
	int status;

	b.flow.ctx = &b;
	verbs_dial_init(&b.dial, argv[0], options);
	parse(argc, argv, &b);
	set_defaults(&b);
	if (b.lat) {
		b.flow.times = calloc(b.flow.iters, sizeof(*b.flow.times));
		if (!b.flow.times)
			return cli_fail("bench: out of memory");
	}
	status = verbs_dial_up(&b.dial);
	if (!status)
		status = run(&b);
	verbs_dial_end(&b.dial);
	free(b.flow.times);
	return status;
}
