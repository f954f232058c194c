// SPDX-License-Identifier: GPL-2.0
/*
 * `rclink --verbs COMMAND`: the same links from a process, over libibverbs,
 * where the module is not loaded or cannot be.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "verbs_cmd.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "listen", verbs_listen, "accept exchanges, and answer peers" },
	{ "connect", verbs_connect, "bring a link up, and keep it" },
	{ "ping", verbs_ping, "round trips with checked data" },
	{ "pingpong", verbs_pingpong, "time messages over a channel" },
	{ "echo", verbs_echo, "try each operation over a channel" },
	{ "bench", verbs_bench, "latency and bandwidth, one-sided" },
	{ "window", verbs_window, "do memory windows keep their promise?" },
};

#define NUM_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static int print_help(void)
{
	size_t i;

	puts("usage: rclink --verbs COMMAND [WORDS...]\n\n"
	     "The same exchange and the same links, by libibverbs and without the module,\n"
	     "with a process or a kernel at the other end. A link lives as long as the\n"
	     "process.\n");
	for (i = 0; i < NUM_COMMANDS; i++)
		printf("  %-12s%s\n", commands[i].name, commands[i].help);
	puts("\n`rclink --verbs COMMAND --help` tells more. See also\n"
	     "`rclink dev --verbs` and `rclink pingpong --stock`.");
	return CLI_OK;
}

int cmd_verbs(int argc, char **argv)
{
	char name[32];
	size_t i;

	if (argc < 2)
		cli_usage(argv[0], "there is a word missing");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print_help();
	for (i = 0; i < NUM_COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		/* As users have to write it. */
		snprintf(name, sizeof(name), "--verbs %s", argv[1]);
		argv[1] = name;
		return commands[i].run(argc - 1, argv + 1);
	}
	cli_usage(argv[0], "there is no command '%s'%s", argv[1],
		  strcmp(argv[1], "dev") ? "" : "; it is `rclink dev --verbs`");
}
