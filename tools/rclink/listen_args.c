// SPDX-License-Identifier: GPL-2.0
#include "listen_args.h"

#include <string.h>

#include "peers.h"
#include "session.h"

enum { PEER = 256, PORT, BIND, KEY, CERT, CA, CRL, ONCE };

static const struct option options[] = {
	{ "peer", required_argument, NULL, PEER },
	{ "port", required_argument, NULL, PORT },
	{ "bind", required_argument, NULL, BIND },
	{ "key", required_argument, NULL, KEY },
	{ "cert", required_argument, NULL, CERT },
	{ "ca", required_argument, NULL, CA },
	{ "crl", required_argument, NULL, CRL },
	{ "once", required_argument, NULL, ONCE },
	CLI_OPT_HELP, CLI_OPT_END
};

int listen_args_init(struct listen_args *a)
{
	memset(a, 0, sizeof(*a));
	a->tls.key_file = CLI_KEY_FILE;
	a->port = RCX_DEFAULT_PORT;
	a->peers = rch_peers_new();
	return a->peers ? CLI_OK : cli_fail("listen: out of memory");
}

void listen_args_free(struct listen_args *a)
{
	rch_peers_free(a->peers);
}

void listen_args_parse(struct listen_args *a, int argc, char **argv,
		       const char *help)
{
	const char *cmd = argv[0];
	char err[RCL_ERR_LEN];
	int c;

	while ((c = cli_getopt(argc, argv, options, help)) != -1) {
		if (c == PEER && rch_peers_add(a->peers, optarg, err))
			cli_usage(cmd, "--peer %s: %s", optarg, err);
		else if (c == PORT)
			a->port = cli_number(cmd, "--port", optarg, 1,
					     UINT16_MAX);
		else if (c == BIND)
			a->bind = optarg;
		else if (c == KEY)
			a->tls.key_file = optarg;
		else if (c == CERT)
			a->tls.cert_file = optarg;
		else if (c == CA)
			a->tls.ca_file = optarg;
		else if (c == CRL)
			a->tls.crl_file = optarg;
		else if (c == ONCE)
			a->once = cli_number(cmd, "--once", optarg, 1,
					     UINT32_MAX);
	}
}

void listen_args_check(const struct listen_args *a, const char *cmd)
{
	char err[RCL_ERR_LEN];

	if (a->tls.crl_file && !a->tls.ca_file)
		cli_usage(cmd, "--crl needs --ca");
	if (rch_peers_check(a->peers, a->tls.ca_file, err))
		cli_usage(cmd, "%s", err);
}
