// SPDX-License-Identifier: GPL-2.0
/* Channel operations over libibverbs, one after the other. */
#include <stdio.h>
#include <string.h>

#include <event2/event.h>
#include <json-c/json.h>

#include "cli.h"
#include "echo.h"
#include "echo_op.h"
#include "epoch.h"
#include "out.h"
#include "signals.h"
#include "verbs_cmd.h"
#include "verbs_dial.h"

#define SIZE	4096
#define LATE_S	20	/* for one operation */

static const char help[] =
"usage: rclink --verbs echo NAME HOST[:PORT] --pin PIN [OPTIONS] [WORD VALUE]...\n\n"
"Do one exchange, then each operation once, over a channel to the service `echo`\n"
"of the peer: its `rclink --verbs listen`, or a program that has this service.\n"
"Looks at the data, and says goodbye.\n\n"
"  -o, --op OP       only send, send-imm, write, write-imm, read, cas, fadd or\n"
"                    send-inv\n"
"  -s, --size N      bytes (4096, up to 65536; atomics take 8)\n"
"  -j, --json        an array, with what went wrong as error\n"
VERBS_DIAL_HELP;

static const struct option options[] = {
	{ "op", required_argument, NULL, 'o' },
	{ "size", required_argument, NULL, 's' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

struct echo {
	struct verbs_dial dial;
	const struct rcv_echo_op *only;		/* NULL: all of them */
	uint32_t size;
	struct json_object *doc;		/* NULL: text */
	struct event *timer;
	bool over, failed;
	char why[RCL_ERR_LEN];
};

static void on_done(void *ctx, const char *err)
{
	struct echo *e = ctx;

	e->over = true;
	e->failed = err;
	snprintf(e->why, sizeof(e->why), "%s", err ? err : "");
	event_base_loopbreak(e->dial.base);
}

static uint32_t size_of(const struct echo *e, const struct rcv_echo_op *op)
{
	return rcv_echo_is_atomic(op) ? RCV_ECHO_WORD : e->size;
}

static void add_row(const struct echo *e, const struct rcv_echo_op *op)
{
	struct json_object *row = json_object_new_object();

	rcl_out_text(row, "name", e->dial.args.link);
	rcl_out_text(row, "service", RCV_ECHO_SERVICE);
	rcl_out_text(row, "op", op->name);
	rcl_out_u64(row, "size", size_of(e, op));
	rcl_out_text(row, "error", e->failed ? e->why : NULL);
	json_object_array_add(e->doc, row);
}

static int report(const struct echo *e, const struct rcv_echo_op *op)
{
	const char *link = e->dial.args.link;

	if (e->doc)
		add_row(e, op);
	if (e->failed)
		return cli_fail("echo %s: %s: %s", link, op->name, e->why);
	if (!e->doc)
		printf("%s: %s of %u bytes: as it must be\n", link, op->name,
		       size_of(e, op));
	return CLI_OK;
}

static int try_one(struct echo *e, const struct rcv_echo_op *op)
{
	const struct timeval late = { .tv_sec = LATE_S };
	struct verbs_dial *d = &e->dial;

	e->over = false;
	e->failed = true;
	if (rcv_echo_try(verbs_dial_epoch(d), op, size_of(e, op), on_done, e)) {
		snprintf(e->why, sizeof(e->why), "no memory; see `ulimit -l`");
		return report(e, op);
	}
	event_add(e->timer, &late);
	verbs_dial_run(d);
	event_del(e->timer);
	if (e->over)
		return report(e, op);
	if (d->down || d->interrupted)
		snprintf(e->why, sizeof(e->why), "%s",
			 d->down ? d->why : "interrupted");
	else
		snprintf(e->why, sizeof(e->why),
			 "no answer for %d s; look at the peer", LATE_S);
	return report(e, op);
}

/* An operation that did not end keeps its channel until the link ends. */
static int run(struct echo *e)
{
	const struct rcv_echo_op *op;
	int status = CLI_OK;

	e->timer = evtimer_new(e->dial.base, signals_stop, e->dial.base);
	if (!e->timer)
		return cli_fail("echo: out of memory");
	for (op = rcv_echo_ops; op->name; op++) {
		if (e->only && op != e->only)
			continue;
		if (try_one(e, op))
			status = CLI_FAILED;
		if (!e->over || e->dial.down)
			break;
	}
	event_free(e->timer);
	if (e->doc)
		rcl_out_json(stdout, e->doc);
	return status;
}

static const struct rcv_echo_op *find_op(const char *cmd, const char *name)
{
	const struct rcv_echo_op *op = rcv_echo_op(name);

	if (!op && (!strcmp(name, "mcas") || !strcmp(name, "mfadd")))
		cli_usage(cmd,
			  "libibverbs has no masked atomics; programs with librclink have them");
	if (!op)
		cli_usage(cmd, "there is no op '%s'", name);
	return op;
}

static void parse(int argc, char **argv, struct echo *e)
{
	const char *cmd = e->dial.cmd;
	int c;

	while ((c = dial_args_getopt(&e->dial.args, argc, argv,
				     help)) != -1) {
		if (c == 'o')
			e->only = find_op(cmd, optarg);
		else if (c == 's')
			e->size = cli_number(cmd, "-s", optarg, 1,
					     RCV_ECHO_SIZE);
		else if (c == 'j' && !e->doc)
			e->doc = json_object_new_array();
	}
	verbs_dial_words(&e->dial, argc, argv, false);
}

int verbs_echo(int argc, char **argv)
{
	struct echo e = { .size = SIZE };
	int status;

	verbs_dial_init(&e.dial, argv[0], options);
	parse(argc, argv, &e);
	status = verbs_dial_up(&e.dial);
	if (!status)
		status = run(&e);
	verbs_dial_end(&e.dial);
	json_object_put(e.doc);
	return status;
}
