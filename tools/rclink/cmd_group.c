// SPDX-License-Identifier: GPL-2.0
/* group: multicast groups of this host. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "call.h"
#include "group.h"
#include "group_chan.h"
#include "group_setting.h"
#include "group_story.h"
#include "link.h"
#include "nl.h"
#include "out.h"
#include "text.h"

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

static const char help[] =
"usage: rclink group add NAME mgid GID [WORD VALUE]...\n"
"       rclink group set NAME [rekey] [WORD VALUE]...\n"
"       rclink group del NAME\n"
"       rclink group [show [NAME]] [-j]\n"
"       rclink group why NAME [-j]\n"
"       rclink group send NAME[:SERVICE] TEXT\n"
"       rclink group recv NAME[:SERVICE] [-n N] [-j]\n\n"
"Be a member of a multicast group. One that is down is tried again every 2 s.\n"
"show, or no word at all, shows all groups; show NAME one of them and the\n"
"members that it has heard. why tells how one is, what is wrong with it and with\n"
"the links that its key comes by, and what to do. With send a message goes to\n"
"the members, in one packet that may be lost; recv prints what they send, each\n"
"with its sender's number and GID. A message gets to those who joined the group\n"
"with the same service (text).\n\n"
"  mgid GID            multicast address, as 239.1.2.3; on InfiniBand IPv6\n"
"  dev DEV|auto        RDMA device, or one with an active port (auto)\n"
"  port N|auto         port of the device, or any active one (auto)\n"
"  gid-index N|auto    own GID, of the same kind as mgid (auto)\n"
"  mlid N              LID of the group, on InfiniBand, where no subnet manager\n"
"                      can be asked for it\n"
"  qkey N              Q_Key (random); not with from, it comes with the key\n"
"  link LINK           this host makes the key, for the peer of that link, too;\n"
"                      several with commas, 32 in all\n"
"  from LINK           the peer of that link does, and gives it to this host\n"
"  owner USER, group GROUP, mode OCTAL\n"
"                      who may open channels to it, as of a link (root, 0600)\n\n"
"What can be set later: owner, group, mode; and by the host that makes the key:\n"
"  link LINK           the peer of that link may have it, too\n"
"  no-link LINK        the peer of that link may have it no more: a new one is made\n"
"  rekey               a new one is made\n\n"
"  -n, --number N      recv: end after so many messages\n"
"  -j, --json          an array of objects; why: one; recv: one per line\n";

static const struct option options[] = {
	{ "number", required_argument, NULL, 'n' },
	CLI_OPT_JSON, CLI_OPT_HELP, CLI_OPT_END
};

static const char cmd[] = "group";

static void text_device(struct json_object *row, const char *key, char *buf)
{
	const char *device = rcl_out_get_text(row, key);
	uint64_t port = rcl_out_get_u64(row, "port");

	if (port)
		snprintf(buf, RCL_CELL_LEN, "%s/%llu", *device ? device : "any",
			 (unsigned long long)port);
	else
		snprintf(buf, RCL_CELL_LEN, "%s", *device ? device : "any");
}

static void text_key(struct json_object *row, const char *key, char *buf)
{
	const char *from = rcl_out_get_text(row, key);

	snprintf(buf, RCL_CELL_LEN, "%s%s%s",
		 *rcl_out_get_text(row, "key_id") ? "" : "none ",
		 *from ? "from " : "kept", from);
}

static const struct rcl_col peer_cols[] = {
	{ "SENDER", "sender", NULL },
	{ "GID", "gid", NULL },
	{ "MESSAGES", "messages", NULL },
	{ "AGE-MS", "age_ms", NULL },
};

static const struct rcl_col cols[] = {
	{ "NAME", "name", NULL },
	{ "STATE", "state", NULL },
	{ "DEVICE", "device", text_device },
	{ "MGID", "mgid", NULL },
	{ "GID", "gid", NULL },
	{ "KEY", "from", text_key },
	{ "MEMBERS", "members", NULL },
	{ "REASON", "reason_text", NULL },
};

static void print_text(struct json_object *list, bool one)
{
	struct json_object *peers;

	rcl_out_table(stdout, list, cols, NUM(cols), "");
	if (!one)
		return;
	peers = json_object_object_get(json_object_array_get_idx(list, 0),
				       "peers");
	if (json_object_array_length(peers))
		rcl_out_table(stdout, peers, peer_cols, NUM(peer_cols), "  ");
}

static int show_groups(const char *name, bool json)
{
	struct rcl_group_info *infos;
	struct json_object *list;
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	size_t i, num;
	int ret;

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = rcl_call_groups(nl, name, &infos, &num, err);
	rcl_nl_close(nl);
	if (ret)
		return cli_refused_group(cmd, name, ret, err);
	list = json_object_new_array();
	for (i = 0; i < num; i++)
		json_object_array_add(list, rcl_doc_group(&infos[i]));
	free(infos);
	if (json)
		rcl_out_json(stdout, list);
	else
		print_text(list, name);
	json_object_put(list);
	return CLI_OK;
}

static void tell(const struct rcl_group_story *story, bool json)
{
	struct json_object *doc = rcl_group_story_doc(story);

	if (json)
		rcl_out_json(stdout, doc);
	else
		rcl_group_story_print(stdout, doc);
	json_object_put(doc);
}

static int why(struct rcl_nl *nl, const char *name, bool json, char *err)
{
	struct rcl_group_info *info = NULL;
	struct rcl_group_story story = { 0 };
	struct rcl_link_info *links = NULL;
	struct rcl_dev_info *devs = NULL;
	size_t num;
	int ret;

	ret = rcl_call_groups(nl, name, &info, &num, err);
	if (!ret)
		ret = rcl_call_links(nl, NULL, &links, &story.nlinks, err);
	if (!ret)
		ret = rcl_call_devs(nl, NULL, &devs, &story.ndevs, err);
	if (!ret) {
		story.info = info;
		story.links = links;
		story.devs = devs;
		tell(&story, json);
	}
	rcl_call_devs_free(devs, story.ndevs);
	free(links);
	free(info);
	return ret;
}

static int why_group(const char *name, bool json)
{
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	int ret;

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = why(nl, name, json, err);
	rcl_nl_close(nl);
	return ret ? cli_refused_group("group why", name, ret, err) : CLI_OK;
}

/* The link may come later, but more often its name is mistyped. */
static void note_links(struct rcl_nl *nl, const char *action,
		       const char (*link)[RCLINK_NAME_MAX + 1], size_t num)
{
	char err[RCL_ERR_LEN];
	size_t i;

	for (i = 0; i < num && *link[i]; i++) {
		struct rcl_link_info *info = NULL;
		size_t found;

		if (rcl_call_links(nl, link[i], &info, &found, err) == -ENOENT)
			fprintf(stderr,
				"rclink: group %s: done, but there is no link %s here yet\n",
				action, link[i]);
		free(info);
	}
}

static bool is_up(struct rcl_nl *nl, const char *link)
{
	struct rcl_link_info *info = NULL;
	char err[RCL_ERR_LEN];
	size_t num;
	bool up;

	up = !rcl_call_links(nl, link, &info, &num, err) && num &&
	     info->state == RCLINK_LINK_STATE_UP;
	free(info);
	return up;
}

static struct rcl_group_info *find_group(struct rcl_nl *nl, const char *name)
{
	struct rcl_group_info *info = NULL;
	char ignored[RCL_ERR_LEN];
	size_t num;

	return rcl_call_groups(nl, name, &info, &num, ignored) ? NULL : info;
}

/*
 * A peer that does not hear of the new key goes on with the one before, unless
 * its link was not listed then: it never had that one.
 */
static void note_not_up(struct rcl_nl *nl, const char *name,
			const struct rcl_group_info *before)
{
	struct rcl_group_info *info = find_group(nl, name);
	size_t i;

	for (i = 0; before && info && i < info->nlinks; i++)
		if (rcl_group_lists(before, info->link[i]) &&
		    !is_up(nl, info->link[i]))
			fprintf(stderr,
				"rclink: group set: done, but link %s is not up: until it is, its peer goes on with the key before\n",
				info->link[i]);
	free(info);
}

static int add_group(const char *name, char **words)
{
	struct rcl_group_info group = { 0 };
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	int ret;

	if (strlen(name) > RCLINK_NAME_MAX)
		cli_usage(cmd, "name: longer than %d bytes", RCLINK_NAME_MAX);
	strcpy(group.name, name);
	for (; words[0]; words += 2) {
		if (!words[1])
			cli_usage(cmd, "'%s' needs a value", words[0]);
		ret = rcl_group_setting_parse(&group, words[0], words[1], err);
		if (ret)
			cli_bad_value(cmd, ret, err);
	}
	if (rcl_gid_is_unset(group.mgid))
		cli_usage(cmd, "mgid is missing");
	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = rcl_call_group_add(nl, &group, err);
	if (!ret) {
		note_links(nl, "add", group.link, group.nlinks);
		note_links(nl, "add", &group.from, 1);
	}
	rcl_nl_close(nl);
	return ret ? cli_refused_group("group add", name, ret, err) : CLI_OK;
}

static void parse_change(char **words, struct rcl_group_change *change)
{
	char err[RCL_ERR_LEN];
	int ret;

	while (*words) {
		const char *word = *words++;

		if (!strcmp(word, "rekey")) {
			change->rekey = true;
			continue;
		}
		if (!*words)
			cli_usage(cmd, "'%s' needs a value", word);
		ret = rcl_group_change_parse(change, word, *words++, err);
		if (ret)
			cli_bad_value("group set", ret, err);
	}
}

static int set_group(const char *name, char **words)
{
	struct rcl_group_change change = { 0 };
	struct rcl_group_info *before;
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	int ret;

	parse_change(words, &change);
	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	before = find_group(nl, name);
	ret = rcl_call_group_set(nl, name, &change, err);
	if (!ret)
		note_links(nl, "set", change.on, change.non);
	if (!ret && (change.rekey || change.noff))
		note_not_up(nl, name, before);
	free(before);
	rcl_nl_close(nl);
	return ret ? cli_refused_group("group set", name, ret, err) : CLI_OK;
}

static int del_group(const char *name)
{
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	int ret;

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = rcl_call_group_del(nl, name, err);
	rcl_nl_close(nl);
	return ret ? cli_refused_group("group del", name, ret, err) : CLI_OK;
}

static const struct {
	const char *name;
	int least, most;	/* words behind it */
	bool json, number;	/* options that it has */
	const char *wants;
} commands[] = {
	{ "add", 1, INT_MAX, false, false, "the name is missing" },
	{ "set", 2, INT_MAX, false, false, "a name, and what is to change" },
	{ "del", 1, 1, false, false, "one name, please" },
	{ "show", 0, 1, true, false, "one name, or none, please" },
	{ "why", 1, 1, true, false, "one name, please" },
	{ "send", 2, 2, false, false, "a name and a text, please" },
	{ "recv", 1, 1, true, true, "one name, please" },
};

static void check_words(char **words, bool json, bool number)
{
	size_t i = 0;
	int n = 0;

	while (i < NUM(commands) && strcmp(words[0], commands[i].name))
		i++;
	if (i == NUM(commands))
		cli_usage(cmd,
			  "add, set, del, show, why, send or recv, not '%s'",
			  words[0]);
	while (words[1 + n])
		n++;
	if (n < commands[i].least || n > commands[i].most)
		cli_usage(cmd, "%s: %s", words[0], commands[i].wants);
	if (json && !commands[i].json)
		cli_usage(cmd, "%s has no --json", words[0]);
	if (number && !commands[i].number)
		cli_usage(cmd, "%s has no --number", words[0]);
}

int cmd_group(int argc, char **argv)
{
	char show[] = "show", *all[] = { show, NULL };
	bool json = false;
	uint32_t num = 0;
	char **words;
	int c;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		json |= c == 'j';
		if (c == 'n')
			num = cli_number(cmd, "number", optarg, 1, UINT32_MAX);
	}
	words = cli_operands(argc, argv, 0, argc);
	if (!words[0])
		words = all;
	check_words(words, json, num);
	if (!strcmp(words[0], "add"))
		return add_group(words[1], words + 2);
	if (!strcmp(words[0], "set"))
		return set_group(words[1], words + 2);
	if (!strcmp(words[0], "del"))
		return del_group(words[1]);
	if (!strcmp(words[0], "why"))
		return why_group(words[1], json);
	if (!strcmp(words[0], "send"))
		return group_send(words[1], words[2]);
	if (!strcmp(words[0], "recv"))
		return group_recv(words[1], num, json);
	return show_groups(words[1], json);
}
