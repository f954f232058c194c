/* SPDX-License-Identifier: GPL-2.0 */
/* What a command must be told to dial, with the module or with libibverbs. */
#ifndef DIAL_ARGS_H
#define DIAL_ARGS_H

#include <stdint.h>

#include "cli.h"
#include "text.h"
#include "tls.h"

/* For the help of each such command. */
#define DIAL_ARGS_HELP							\
"  --pin PIN         the peer's public key, as `rclink pubkey` prints\n" \
"  --ca FILE         trust what this CA signed ...\n"			\
"  --name DNSNAME    ... for exactly this name\n"			\
"  --crl FILE        with --ca: what the CA revoked\n"			\
"  --key FILE        this host's identity (" CLI_KEY_FILE ")\n"		\
"  --cert FILE       its certificate chain, if that is not in the key file\n" \
"  --peer-link NAME2 name of the link at the peer (NAME)\n"		\
"  --timeout S       seconds for the exchange (20), 10 at most for one step\n"

#define DIAL_ARGS_MAX	24

struct dial_args {
	struct option options[DIAL_ARGS_MAX];	/* the command's, and these */
	struct rcx_tls_config tls;
	const char *link;
	const char *wanted;		/* the link at the peer */
	char host[RCL_HOST_LEN];
	uint16_t port;
	int timeout_ms;
};

/* own: the options of the command that are not these, including --help. */
void dial_args_init(struct dial_args *a, const struct option *own);
/* Like cli_getopt(); returns the options of the command only. */
int dial_args_getopt(struct dial_args *a, int argc, char **argv,
		     const char *help);
/*
 * Takes NAME, HOST, and up to max words in all, and returns them like
 * cli_operands(); ends the process if these or the options are bad.
 */
char **dial_args_operands(struct dial_args *a, int argc, char **argv, int min,
			  int max);

#endif /* DIAL_ARGS_H */
