// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <string.h>

#include "bench.h"
#include "bench_hello.h"

#define SERVICE	"bench"

static const char help[] =
"usage: rclink bench LINK[:SERVICE] lat|bw|rate|attach [OPTIONS]\n"
"       rclink bench LINK[:SERVICE] --listen\n\n"
"Measure a channel to `rclink bench --listen` at the peer of the link (service:\n"
"bench), which serves one after the other until it is interrupted.\n\n"
"  lat      one operation after the other: SEND and WRITE half a round trip,\n"
"           READ, CAS and FADD until the answer is here\n"
"  bw       as many operations in flight as a channel has, large ones\n"
"  rate     the same, small ones\n"
"  attach   a new channel until its first WRITE has completed\n\n"
"  -o, --op OP    send, write or read; with lat also cas or fadd, with attach\n"
"                 write alone (write)\n"
"  -s, --size N   bytes (lat and rate 64, bw 65536, up to 1048576; attach and\n"
"                 atomics 8)\n"
"  -n, --iters N  operations (lat and bw 1000, rate 10000, attach 100)\n"
"  -l, --listen   be the other end\n"
"  -j, --json     one object, with times in nanoseconds\n";

static const struct option options[] = {
	{ "op", required_argument, NULL, 'o' },
	{ "size", required_argument, NULL, 's' },
	{ "iters", required_argument, NULL, 'n' },
	{ "listen", no_argument, NULL, 'l' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static const struct {
	const char *name;
	uint32_t size, iters;
} tests[] = {
	[BENCH_LAT] = { "lat", 64, 1000 },
	[BENCH_BW] = { "bw", 65536, 1000 },
	[BENCH_RATE] = { "rate", 64, 10000 },
	[BENCH_ATTACH] = { "attach", 8, 100 },
};

static enum bench_test find_test(const char *cmd, const char *text)
{
	size_t i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (!strcmp(text, tests[i].name))
			return i;
	cli_usage(cmd, "'%s' is not lat, bw, rate or attach", text);
}

static unsigned int find_op(const char *cmd, const char *text)
{
	static const unsigned int ops[] = {
		RCLINK_OP_SEND, RCLINK_OP_WRITE, RCLINK_OP_READ, RCLINK_OP_CAS,
		RCLINK_OP_FADD,
	};
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(text, rclink_op_name(ops[i])))
			return ops[i];
	cli_usage(cmd, "--op '%s' is not send, write, read, cas or fadd", text);
}

/* What was not given gets the default of the test. */
static void complete(const char *cmd, struct bench *b, const char *test)
{
	b->test = find_test(cmd, test);
	if (!bench_is_test(b->test, b->op))
		cli_usage(cmd, "there is no %s of %s", test,
			  rclink_op_name(b->op));
	if (bench_is_word(b->test, b->op)) {
		if (b->size && b->size != 8)
			cli_usage(cmd, "--size is 8 there");
		b->size = 8;
	}
	if (!b->size)
		b->size = tests[b->test].size;
	if (!b->iters)
		b->iters = tests[b->test].iters;
}

static bool parse(int argc, char **argv, struct bench *b)
{
	const char *cmd = argv[0];
	bool listen = false;
	char **operands;
	int c;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		if (c == 'o')
			b->op = find_op(cmd, optarg);
		else if (c == 's')
			b->size = cli_number(cmd, "-s", optarg, 1,
					     BENCH_LARGEST);
		else if (c == 'n')
			b->iters = cli_number(cmd, "-n", optarg, 1,
					      BENCH_ITERS_MAX);
		listen |= c == 'l';
		b->json |= c == 'j';
	}
	operands = cli_operands(argc, argv, 1, listen ? 1 : 2);
	attach_parse(&b->at, cmd, operands[0], SERVICE);
	if (!listen && !operands[1])
		cli_usage(cmd, "say lat, bw, rate or attach, or --listen");
	if (!listen)
		complete(cmd, b, operands[1]);
	return listen;
}

int cmd_bench(int argc, char **argv)
{
	struct bench b = { .op = RCLINK_OP_WRITE };

	return parse(argc, argv, &b) ? bench_serve(&b) : bench_lead(&b);
}
