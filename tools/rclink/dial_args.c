// SPDX-License-Identifier: GPL-2.0
#include "dial_args.h"

#include <string.h>

#include "ident.h"
#include "range.h"
#include "session.h"

#define TIMEOUT_S	20	/* of a whole exchange */

enum { PIN = 512, CA, NAME, CRL, KEY, CERT, PEER_LINK, TIMEOUT };

static const struct option common[] = {
	{ "pin", required_argument, NULL, PIN },
	{ "ca", required_argument, NULL, CA },
	{ "name", required_argument, NULL, NAME },
	{ "crl", required_argument, NULL, CRL },
	{ "key", required_argument, NULL, KEY },
	{ "cert", required_argument, NULL, CERT },
	{ "peer-link", required_argument, NULL, PEER_LINK },
	{ "timeout", required_argument, NULL, TIMEOUT },
	CLI_OPT_END
};

/* There is room for more options than any command has. */
void dial_args_init(struct dial_args *a, const struct option *own)
{
	struct option *to = a->options;
	const struct option *from;

	memset(a, 0, sizeof(*a));
	for (from = common; from->name; from++)
		*to++ = *from;
	for (; own->name; own++)
		*to++ = *own;
	*to = *own;
	a->tls.key_file = CLI_KEY_FILE;
	a->port = RCX_DEFAULT_PORT;
	a->timeout_ms = TIMEOUT_S * 1000;
}

static void take(struct dial_args *a, const char *cmd, int c)
{
	if (c == PIN)
		a->tls.pin = optarg;
	else if (c == CA)
		a->tls.ca_file = optarg;
	else if (c == NAME)
		a->tls.name = optarg;
	else if (c == CRL)
		a->tls.crl_file = optarg;
	else if (c == KEY)
		a->tls.key_file = optarg;
	else if (c == CERT)
		a->tls.cert_file = optarg;
	else if (c == PEER_LINK)
		a->wanted = optarg;
	else if (c == TIMEOUT)
		a->timeout_ms = cli_number(cmd, "--timeout", optarg, 1, 3600) *
				1000;
}

int dial_args_getopt(struct dial_args *a, int argc, char **argv,
		     const char *help)
{
	int c;

	while ((c = cli_getopt(argc, argv, a->options, help)) >= PIN)
		take(a, argv[0], c);
	return c;
}

char **dial_args_operands(struct dial_args *a, int argc, char **argv, int min,
			  int max)
{
	char **words = cli_operands(argc, argv, min, max);
	const char *cmd = argv[0], *why;
	char err[RCL_ERR_LEN];

	if (!a->tls.pin == !a->tls.ca_file)
		cli_usage(cmd, "give either --pin or --ca");
	if (!a->tls.ca_file != !a->tls.name)
		cli_usage(cmd, "--ca and --name belong together");
	if (a->tls.crl_file && !a->tls.ca_file)
		cli_usage(cmd, "--crl needs --ca");
	if (a->tls.pin && rcx_pin_check(a->tls.pin, err))
		cli_usage(cmd, "--pin %s: %s", a->tls.pin, err);
	a->link = words[0];
	if (!a->wanted)
		a->wanted = a->link;
	if (rcl_range_name(a->link, &why))
		cli_usage(cmd, "'%s': %s", a->link, why);
	if (rcl_range_name(a->wanted, &why))
		cli_usage(cmd, "--peer-link %s: %s", a->wanted, why);
	if (!rcl_parse_host(words[1], a->host, &a->port))
		cli_usage(cmd, "'%s' is not HOST or HOST:PORT", words[1]);
	return words;
}
