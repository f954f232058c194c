// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <stddef.h>

#include "call.h"
#include "nl.h"

static const char help[] =
"usage: rclink disconnect NAME\n\n"
"Say goodbye to the peer and take the link down. The link stays known.\n";

static const struct option options[] = { CLI_OPT_HELP, CLI_OPT_END };

int cmd_disconnect(int argc, char **argv)
{
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	char **words;
	int ret;

	while (cli_getopt(argc, argv, options, help) != -1)
		;
	words = cli_operands(argc, argv, 1, 1);

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = rcl_call_disconnect(nl, words[0], err);
	rcl_nl_close(nl);
	return ret ? cli_refused(argv[0], words[0], ret, err) : CLI_OK;
}
