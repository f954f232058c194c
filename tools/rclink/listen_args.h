/* SPDX-License-Identifier: GPL-2.0 */
/* What a command must be told to listen, with the module or with libibverbs. */
#ifndef LISTEN_ARGS_H
#define LISTEN_ARGS_H

#include <stdint.h>

#include "cli.h"
#include "tls.h"

/* For the help of each such command, which adds what --once means. */
#define LISTEN_ARGS_HELP						\
"  --peer NAME=PIN   admit the peer with this public key to link NAME\n" \
"  --port P          TCP port (7185)\n"					\
"  --bind ADDR       local address (all of them)\n"			\
"  --key FILE        this host's identity (" CLI_KEY_FILE ")\n"		\
"  --cert FILE       its certificate chain, if that is not in the key file\n" \
"  --ca FILE         trust what this CA signed, for the names in --peer\n" \
"  --crl FILE        with --ca: what the CA revoked\n"

struct rch_peers;

/* A link has one exchange at a time: what the next caller hears. */
#define LISTEN_BUSY	\
	"too many exchanges for link %s; try again in a second"

struct listen_args {
	struct rcx_tls_config tls;
	struct rch_peers *peers;
	const char *bind;
	uint16_t port;
	uint32_t once;			/* links; 0: no end */
};

/* 0, or CLI_FAILED after saying why. */
int listen_args_init(struct listen_args *a);
void listen_args_free(struct listen_args *a);
/* Take all options; ends the process if one is wrong. */
void listen_args_parse(struct listen_args *a, int argc, char **argv,
		       const char *help);
/* Ends the process if the options do not go together. */
void listen_args_check(const struct listen_args *a, const char *cmd);

#endif /* LISTEN_ARGS_H */
