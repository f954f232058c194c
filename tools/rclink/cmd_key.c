// SPDX-License-Identifier: GPL-2.0
/* genkey, pubkey: this host's identity. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ident.h"
#include "process.h"

#define KEY_DIR		"/etc/rclink"

static const struct option options[] = { CLI_OPT_HELP, CLI_OPT_END };

static int print_pin(const char *cmd, const char *file)
{
	char pin[RCX_PIN_LEN];
	char err[RCL_ERR_LEN];

	rcl_hide_memory();
	if (rcx_ident_pin(file, pin, err))
		return cli_fail("%s: %s", cmd, err);
	puts(pin);
	return CLI_OK;
}

int cmd_genkey(int argc, char **argv)
{
	static const char help[] =
"usage: rclink genkey [FILE]\n\n"
"Make an identity (a key and a self-signed certificate) in FILE, which must\n"
"not exist yet, and print its pin for the peers. FILE is " CLI_KEY_FILE "\n"
"if not given, whose directory " KEY_DIR " is made, too; that of another one\n"
"must be there.\n";
	char err[RCL_ERR_LEN];
	const char *file;
	char **words;

	while (cli_getopt(argc, argv, options, help) != -1)
		;
	words = cli_operands(argc, argv, 0, 1);
	file = words[0] ? words[0] : CLI_KEY_FILE;
	if (!strcmp(file, CLI_KEY_FILE) && mkdir(KEY_DIR, 0700) &&
	    errno != EEXIST)
		return cli_fail("%s: cannot make %s: %s; give another FILE",
				argv[0], KEY_DIR, strerror(errno));
	rcl_hide_memory();
	if (rcx_ident_generate(file, err))
		return cli_fail("%s: %s", argv[0], err);
	return print_pin(argv[0], file);
}

int cmd_pubkey(int argc, char **argv)
{
	static const char help[] =
"usage: rclink pubkey [FILE]\n\n"
"Print the pin of the identity or certificate in FILE, " CLI_KEY_FILE "\n"
"if not given.\n";
	char **words;

	while (cli_getopt(argc, argv, options, help) != -1)
		;
	words = cli_operands(argc, argv, 0, 1);
	return print_pin(argv[0], words[0] ? words[0] : CLI_KEY_FILE);
}
