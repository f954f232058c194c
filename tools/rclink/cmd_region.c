// SPDX-License-Identifier: GPL-2.0
/* region: what the members of a group export. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "group.h"
#include "nl.h"
#include "out.h"

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

static const char help[] =
"usage: rclink region list --group GROUP [-j]\n\n"
"Memory that the other members of a group say they export, over the links that\n"
"they have the group's key by. Who wants to use it opens a channel to that host.\n"
"A member tells of up to 20 each second, or of what fits in a packet, in turns that\n"
"overlap by one, and of 340 at most.\n\n"
"  -g, --group GROUP   name of the group on this host\n"
"  -j, --json          an array of objects\n";

static const struct option options[] = {
	{ "group", required_argument, NULL, 'g' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static const char cmd[] = "region";

static void text_rights(struct json_object *row, const char *key, char *buf)
{
	struct json_object *list = json_object_object_get(row, key), *one;
	size_t i, len = 0;

	buf[0] = 0;
	for (i = 0; i < json_object_array_length(list); i++) {
		one = json_object_array_get_idx(list, i);
		len += snprintf(buf + len, RCL_CELL_LEN - len, "%s%s",
				i ? "," : "", json_object_get_string(one));
	}
}

static const struct rcl_col cols[] = {
	{ "NAME", "name", NULL },
	{ "BYTES", "bytes", NULL },
	{ "RIGHTS", "rights", text_rights },
	{ "MEMBER", "sender", NULL },
	{ "GID", "gid", NULL },
	{ "AGE-MS", "age_ms", NULL },
};

static int add_member(struct rcl_nl *nl, const char *group,
		      const struct rcl_group_peer *peer,
		      struct json_object *list, char *err)
{
	struct rcl_group_regions all;
	struct json_object *one;
	size_t i;
	int ret;

	ret = rcl_call_group_regions(nl, group, peer->sender, &all, err);
	/* There may be another key by now. */
	if (ret == -ENOENT)
		return 0;
	for (i = 0; !ret && i < all.num; i++) {
		one = rcl_doc_region(peer, &all.region[i]);
		json_object_array_add(list, one);
	}
	if (!ret && all.total > all.num)
		fprintf(stderr, "rclink: %s: member %u tells of %zu of %u\n",
			cmd, peer->sender, all.num, all.total);
	return ret;
}

static int collect(const char *group, struct json_object *list)
{
	struct rcl_group_info *info;
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	size_t i, num;
	int ret;

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = rcl_call_groups(nl, group, &info, &num, err);
	if (!ret) {
		for (i = 0; !ret && i < info->npeers; i++)
			ret = add_member(nl, group, &info->peer[i], list, err);
		free(info);
	}
	rcl_nl_close(nl);
	return ret ? cli_refused_group(cmd, group, ret, err) : CLI_OK;
}

int cmd_region(int argc, char **argv)
{
	const char *group = NULL;
	struct json_object *list;
	bool json = false;
	int c, ret;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		json |= c == 'j';
		group = c == 'g' ? optarg : group;
	}
	if (strcmp(cli_operands(argc, argv, 1, 1)[0], "list"))
		cli_usage(cmd, "list is all that there is");
	if (!group)
		cli_usage(cmd, "--group is missing");
	list = json_object_new_array();
	ret = collect(group, list);
	if (!ret && json)
		rcl_out_json(stdout, list);
	else if (!ret)
		rcl_out_table(stdout, list, cols, NUM(cols), "");
	json_object_put(list);
	return ret;
}
