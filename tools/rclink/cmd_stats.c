// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "call.h"
#include "doc.h"
#include "link.h"
#include "metrics.h"
#include "nl.h"
#include "out.h"

static const char help[] =
"usage: rclink stats [NAME] [-j | --prometheus]\n\n"
"Counters of one link or of all, since each was created.\n\n"
"  -j, --json         an array of objects\n"
"  -p, --prometheus   metrics, for a textfile collector\n";

static const struct option options[] = {
	{ "prometheus", no_argument, NULL, 'p' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static const struct rcl_col block[] = {
	{ "epochs", "epochs", NULL },
	{ "control messages sent", "tx_messages", NULL },
	{ "  of bytes", "tx_bytes", NULL },
	{ "control messages received", "rx_messages", NULL },
	{ "  of bytes", "rx_bytes", NULL },
	{ "  not authentic", "rx_unauthenticated", NULL },
	{ "  malformed", "rx_malformed", NULL },
	{ "waits for credit", "credit_waits", NULL },
	{ "completion errors", "completion_errors", NULL },
	{ "pings", "pings", NULL },
	{ "pings failed", "ping_errors", NULL },
	{ "times down", "downs", NULL },
	{ "heartbeats sent", "heartbeats", NULL },
	{ "heartbeats missed", "heartbeats_missed", NULL },
	{ "channels open", "channels", NULL },
	{ "  operations", "chan_ops", NULL },
	{ "  of bytes", "chan_bytes", NULL },
	{ "  receives", "chan_recvs", NULL },
	{ "  of bytes", "chan_recv_bytes", NULL },
};

static void print_text(struct json_object *links)
{
	size_t i;

	for (i = 0; i < json_object_array_length(links); i++) {
		struct json_object *link = json_object_array_get_idx(links, i);

		printf("%s\n", rcl_out_get_text(link, "name"));
		rcl_out_block(stdout, link, block,
			      sizeof(block) / sizeof(block[0]), "  ");
	}
}

static void print(const struct rcl_link_info *infos, size_t num, int how)
{
	struct json_object *links;
	size_t i;

	if (how == 'p') {
		rcl_metrics_print(stdout, infos, num);
		return;
	}
	links = json_object_new_array();
	for (i = 0; i < num; i++)
		json_object_array_add(links, rcl_doc_stats(&infos[i]));
	if (how == 'j')
		rcl_out_json(stdout, links);
	else
		print_text(links);
	json_object_put(links);
}

int cmd_stats(int argc, char **argv)
{
	struct rcl_link_info *infos;
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	char **words;
	int c, ret, how = 0;
	size_t num;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		if (how && how != c)
			cli_usage(argv[0], "either --json or --prometheus");
		how = c;
	}
	words = cli_operands(argc, argv, 0, 1);

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = rcl_call_links(nl, words[0], &infos, &num, err);
	rcl_nl_close(nl);
	if (ret)
		return cli_refused(argv[0], words[0], ret, err);
	print(infos, num, how);
	free(infos);
	return CLI_OK;
}
