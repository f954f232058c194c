// SPDX-License-Identifier: GPL-2.0
/* Before relying on memory windows: does this device keep their promises? */
#include <stdio.h>

#include "cli.h"
#include "hca.h"
#include "verbs_cmd.h"
#include "window.h"

static const char help[] =
"usage: rclink --verbs window [DEV]\n\n"
"Bind, use and invalidate memory windows of type 2 between QPs of this process,\n"
"and try what they must refuse. Ends with status 1 if a promise is not kept, or\n"
"the device has no such windows.\n";

static const struct option options[] = { CLI_OPT_HELP, CLI_OPT_END };

static void on_told(void *ctx, const char *what, bool kept)
{
	int *broken = ctx;

	*broken += !kept;
	printf("%-8s%s\n", kept ? "ok" : "NOT SO", what);
}

int verbs_window(int argc, char **argv)
{
	char err[RCL_ERR_LEN];
	struct rcv_hca hca;
	int broken = 0;
	char **words;
	int ret;

	while (cli_getopt(argc, argv, options, help) != -1)
		;
	words = cli_operands(argc, argv, 0, 1);
	ret = rcv_hca_open(&hca, words[0] ? words[0] : "", 0,
			   &rcl_gid_any, err);
	if (ret)
		return cli_fail("window: %s", err);
	ret = rcv_window_try(&hca, on_told, &broken, err);
	rcv_hca_close(&hca);
	if (ret)
		return cli_fail("window: %s", err);
	if (broken)
		return cli_fail("window: %d promise%s broken; use none here",
				broken, broken == 1 ? " is" : "s are");
	return CLI_OK;
}
