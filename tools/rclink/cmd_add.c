// SPDX-License-Identifier: GPL-2.0
/* add, set, del, disconnect: links and their policy. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "call.h"
#include "group.h"
#include "group_setting.h"
#include "link.h"
#include "nl.h"
#include "setting.h"

#define WORDS_HELP							\
"  dev DEV|auto        RDMA device, or one with an active port (auto)\n" \
"  port N|auto         port of the device, or any active one (auto)\n"	\
"  netdev NAME|auto    network device that has the GID, for example a VLAN;\n" \
"                      auto: let the exchange choose\n"		\
"  gid-index N|auto    GID, or let the exchange choose (auto)\n"	\
"  mtu N|auto          path MTU in bytes, or the smaller of both ports'\n" \
"  qps N               pooled QPs beside the control QP (4)\n"		\
"  timeout N           local ACK timeout, 4.096 us * 2^N (14)\n"	\
"  retry N             transport retries, 7 for ever (6)\n"		\
"  rnr-retry N         receiver-not-ready retries, 7 for ever (6)\n"	\
"  min-rnr-timer N     IBA code of the RNR NAK timer (12)\n"		\
"  rd-atomic N         READs and atomics in flight (4)\n"		\
"  sl N                service level; with RoCE on mlx5 the priority (0)\n" \
"  traffic-class N     traffic class; on RoCE 4 * DSCP + ECN (0)\n"	\
"  hop-limit N         0 takes the hop limit of the route (0)\n"	\
"  flow-label N        flow label (0); on InfiniBand, these three matter\n" \
"                      only to another subnet, or on a virtual port\n"	\
"  pkey-index N        entry in the partition key table (0)\n"		\
"  buffer-size N       bytes of the link buffer (65536)\n"		\
"  loopback 0|1        1 allows a peer on the same port, for tests (0)\n" \
"  mode OCTAL          who may open channels, as who may read and write a\n" \
"                      file (0600)\n"					\
"  owner USER          whom the first digit of mode is for (root)\n"	\
"  group GROUP         whom the second digit is for (root)\n"		\
"  heartbeat MS        without a sign of the peer, ask for one, 0 for never\n" \
"                      (200)\n"					\
"  misses N            intervals without a sign that end the epoch (3)\n" \
"  recover HOW         reset or resume channels when the epoch fails (reset)\n"

static const struct option options[] = { CLI_OPT_HELP, CLI_OPT_END };

/* "dev rxe0 mtu 1024 ...": pairs of a word and its value. */
static void parse_words(const char *cmd, char **words,
			struct rcl_policy *policy)
{
	char err[RCL_ERR_LEN];
	int ret;

	for (; words[0]; words += 2) {
		ret = rcl_setting_parse(policy, words[0],
					words[1] ? words[1] : "", err);
		if (!words[1] && ret != -ENOENT)
			cli_usage(cmd, "'%s' needs a value", words[0]);
		if (ret)
			cli_bad_value(cmd, ret, err);
	}
}

/* A command with at least min operands: a link's name, and its policy. */
static int say_policy(int argc, char **argv, const char *help, int min,
		      int (*call)(struct rcl_nl *nl, const char *name,
				  const struct rcl_policy *policy, char *err))
{
	struct rcl_policy policy = { 0 };
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;
	char **words;
	int ret;

	while (cli_getopt(argc, argv, options, help) != -1)
		;
	words = cli_operands(argc, argv, min, argc);
	parse_words(argv[0], words + 1, &policy);

	nl = cli_open();
	if (!nl)
		return CLI_FAILED;
	ret = call(nl, words[0], &policy, err);
	rcl_nl_close(nl);
	return ret ? cli_refused(argv[0], words[0], ret, err) : CLI_OK;
}

/* A command with a link's name, and nothing else. */
static int say_name(int argc, char **argv, const char *help,
		    int (*call)(struct rcl_nl *nl, const char *name, char *err))
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
	ret = call(nl, words[0], err);
	rcl_nl_close(nl);
	return ret ? cli_refused(argv[0], words[0], ret, err) : CLI_OK;
}

int cmd_add(int argc, char **argv)
{
	static const char help[] =
"usage: rclink add NAME [WORD VALUE]...\n\n"
"Create a link. It is idle until `rclink connect` or `rclink listen`.\n\n"
WORDS_HELP;

	return say_policy(argc, argv, help, 1, rcl_call_new);
}

int cmd_set(int argc, char **argv)
{
	static const char help[] =
"usage: rclink set NAME WORD VALUE [WORD VALUE]...\n\n"
"Change the policy of a link. owner, group and mode are for who opens a\n"
"channel next. All else is used from the next epoch on: disconnect and connect\n"
"the link for that.\n\n"
WORDS_HELP;

	return say_policy(argc, argv, help, 3, rcl_call_set);
}

/*
 * Groups that list the link: its peer keeps their key, and the peer of the next
 * link of this name gets it.
 */
static void note_groups(struct rcl_nl *nl, const char *link)
{
	struct rcl_group_info *infos = NULL;
	char err[RCL_ERR_LEN];
	size_t i, num;

	if (rcl_call_groups(nl, NULL, &infos, &num, err))
		return;
	for (i = 0; i < num; i++)
		if (rcl_group_lists(&infos[i], link))
			fprintf(stderr,
				"rclink: del: done, but its peer still has the key of group %s: see `rclink group set %s no-link %s`\n",
				infos[i].name, infos[i].name, link);
	free(infos);
}

static int delete(struct rcl_nl *nl, const char *name, char *err)
{
	int ret = rcl_call_delete(nl, name, err);

	if (!ret)
		note_groups(nl, name);
	return ret;
}

int cmd_del(int argc, char **argv)
{
	static const char help[] =
"usage: rclink del NAME\n\n"
"Tear a link down, tell the peer, and forget the link.\n";

	return say_name(argc, argv, help, delete);
}

int cmd_disconnect(int argc, char **argv)
{
	static const char help[] =
"usage: rclink disconnect NAME\n\n"
"Say goodbye to the peer and take the link down. The link stays known.\n";

	return say_name(argc, argv, help, rcl_call_disconnect);
}
