// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "process.h"

#define LOADED		"/sys/module/rclink"
#define VERSION_LEN	32

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "dev", cmd_dev, "devices, ports, GIDs, and which GID is chosen" },
	{ "genkey", cmd_genkey, "make this host's identity" },
	{ "pubkey", cmd_pubkey, "print the pin of an identity" },
	{ "add", cmd_add, "create a link" },
	{ "set", cmd_set, "change what a link uses from its next epoch on" },
	{ "del", cmd_del, "tear a link down and forget it" },
	{ "listen", cmd_listen, "accept exchanges from peers" },
	{ "connect", cmd_connect, "do one exchange and bring a link up" },
	{ "rotate", cmd_rotate, "give a link another epoch, without a break" },
	{ "disconnect", cmd_disconnect, "take a link down; it stays known" },
	{ "group", cmd_group, "be in a multicast group, leave it, list all" },
	{ "region", cmd_region, "memory that members of a group export" },
	{ "show", cmd_show, "links and their state" },
	{ "ping", cmd_ping, "round trips over a link, with checked data" },
	{ "stats", cmd_stats, "counters of links" },
	{ "top", cmd_top, "all links and groups on a full screen" },
	{ "why", cmd_why, "what happened to a link, why, and what to do" },
	{ "monitor", cmd_monitor, "what happens to links, as it happens" },
	{ "send", cmd_send, "standard input to the peer" },
	{ "recv", cmd_recv, "what the peer sends to standard output" },
	{ "pingpong", cmd_pingpong, "time messages between processes" },
	{ "bench", cmd_bench, "latency, bandwidth, rate of operations" },
};

#define NUM_COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static int print_help(void)
{
	size_t i;

	puts("usage: rclink [COMMAND [WORDS...]]\n\n"
	     "Authenticated RC links between hosts, without the RDMA CM.\n");
	for (i = 0; i < NUM_COMMANDS; i++)
		printf("  %-12s%s\n", commands[i].name, commands[i].help);
	puts("\nWithout a command: show. `rclink COMMAND --help` tells more,\n"
	     "rclink(8) all of it, and `rclink --version` the version. Without the\n"
	     "module: `rclink --verbs --help`.");
	return CLI_OK;
}

/* The versions of this tool and of the loaded module. */
static int print_version(void)
{
	char loaded[VERSION_LEN] = "";
	FILE *file;

	puts("rclink " RCLINK_VERSION);
	if (access(LOADED, F_OK))
		return CLI_OK;
	file = fopen(LOADED "/version", "re");
	if (file) {
		if (fgets(loaded, sizeof(loaded), file))
			loaded[strcspn(loaded, "\n")] = '\0';
		fclose(file);
	}
	printf("module %s", *loaded ? loaded : "of an unknown version");
	if (strcmp(loaded, RCLINK_VERSION))
		printf(", another one; %s loads what is installed",
		       "`rmmod rclink; modprobe rclink`");
	puts("");
	return CLI_OK;
}

static bool is_command(const char *word)
{
	size_t i;

	for (i = 0; i < NUM_COMMANDS; i++)
		if (!strcmp(word, commands[i].name))
			return true;
	return false;
}

static int run(int argc, char **argv)
{
	char name[] = "show";
	char *show[2] = { name };
	char *json;
	size_t i;

	if (argc < 2)
		return cmd_show(1, show);
	if (!strcmp(argv[1], "--json") || !strcmp(argv[1], "-j")) {
		if (argc < 3 || !is_command(argv[2])) {
			argv[0] = name;
			return cmd_show(argc, argv);
		}
		json = argv[1];
		argv[1] = argv[2];
		argv[2] = json;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help"))
		return print_help();
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version();
	if (!strcmp(argv[1], "--verbs"))
		return cmd_verbs(argc - 1, argv + 1);
	for (i = 0; i < NUM_COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr,
		"rclink: there is no command '%s'; `rclink --help` lists them\n",
		argv[1]);
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	int status;

	rcl_hold_stdio();
	/* Somebody may read each line as it comes, also through a pipe. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	status = run(argc, argv);
	if (!status && !cli_written())
		status = CLI_FAILED;
	return status;
}
