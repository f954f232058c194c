// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <json-c/json.h>

#include "out.h"
#include "pipe.h"

#define SERVICE	"pipe"

#define OPTIONS_HELP \
"  -q, --quiet  no progress, even on a terminal\n"

static const char send_help[] =
"usage: rclink send LINK[:SERVICE] [OPTIONS] < FILE\n\n"
"Send standard input to `rclink recv` at the peer of the link (service: pipe),\n"
"and end when it has confirmed the checksum of all of it.\n\n"
OPTIONS_HELP
"  -j, --json   a summary as one object, on standard output\n\n"
"Ends with status 1 when the peer did not get everything.\n";

static const char recv_help[] =
"usage: rclink recv LINK[:SERVICE] [OPTIONS] > FILE\n\n"
"Wait for one `rclink send` at the peer of the link (service: pipe), and write\n"
"what it sends to standard output.\n\n"
OPTIONS_HELP
"  -j, --json   a summary as one object, on standard error\n\n"
"Ends with status 1 when that was not everything.\n";

static const struct option options[] = {
	{ "quiet", no_argument, NULL, 'q' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static void print_summary(const struct pipe *p, FILE *to)
{
	struct json_object *doc = json_object_new_object();
	char sha[2 * PIPE_SHA_LEN + 1];
	int i;

	for (i = 0; i < PIPE_SHA_LEN; i++)
		sprintf(sha + 2 * i, "%02x", p->sum.sha[i]);
	rcl_out_text(doc, "name", p->at.target.link);
	rcl_out_text(doc, "service", p->at.target.service);
	rcl_out_u64(doc, "bytes", p->sum.total);
	rcl_out_u64(doc, "duration", p->ended - p->begun);
	rcl_out_text(doc, "sha256", sha);
	rcl_out_json(to, doc);
	json_object_put(doc);
}

static int run(int argc, char **argv, const char *help,
	       int (*open)(struct attach *at, unsigned int flags),
	       int (*move)(struct pipe *p), FILE *to)
{
	int data = move == pipe_send ? STDIN_FILENO : STDOUT_FILENO;
	/* Not across the data, if that is on the same terminal. */
	struct pipe p = { .progress = isatty(STDERR_FILENO) && !isatty(data) };
	bool json = false;
	int c, status;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		p.progress &= c != 'q';
		p.at.quiet |= c == 'q';
		json |= c == 'j';
	}
	attach_parse(&p.at, argv[0], *cli_operands(argc, argv, 1, 1), SERVICE);
	/* Have write() fail instead, so that the peer is told why. */
	signal(SIGPIPE, SIG_IGN);
	status = open(&p.at, 0);
	if (status)
		return status;
	status = pipe_begin(&p);
	if (!status)
		status = move(&p);
	pipe_end(&p);
	if (!status && json)
		print_summary(&p, to);
	return status;
}

int cmd_send(int argc, char **argv)
{
	return run(argc, argv, send_help, attach_connect, pipe_send, stdout);
}

int cmd_recv(int argc, char **argv)
{
	return run(argc, argv, recv_help, attach_accept, pipe_recv, stderr);
}
