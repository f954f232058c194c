// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "blame.h"
#include "conf.h"
#include "daemon.h"
#include "process.h"
#include "trust.h"

#define CONF_FILE	"/etc/rclink/rclink.conf"

/* Exit codes. */
enum {
	DONE = 0,
	FAILED = 1,
	USAGE = 2,
	CONF_REFUSED = EX_CONFIG,	/* for systemd: do not try again */
};

enum { CONFIG = 256, CHECK };

static const char help[] =
"usage: rclinkd [--config FILE] [--check]\n\n"
"Keep the links of the configuration up: make them, answer peers, dial them,\n"
"and dial again when a link went down. Links stay up without this process.\n"
"SIGHUP has it read the configuration again, SIGTERM ends it.\n\n"
"  --config FILE   instead of " CONF_FILE "; files in\n"
"                  conf.d beside it are read, too\n"
"  --check         only say what is wrong with the configuration\n"
"  -h, --help      this text\n"
"  -V, --version   the version\n";

static const struct option options[] = {
	{ "config", required_argument, NULL, CONFIG },
	{ "check", no_argument, NULL, CHECK },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

static void print_place(void *ctx, const struct rcd_place *place,
			const char *text)
{
	char where[RCD_PLACE_LEN];

	(void)ctx;
	fprintf(stderr, "%s: %s\n", rcd_place_text(place, where), text);
}

static int check(const char *file)
{
	const struct rcd_report report = { .say = print_place };
	char err[RCL_ERR_LEN];
	struct rcd_trust *trust;
	struct rcd_conf conf;
	int ret;

	rcl_hide_memory();
	ret = rcd_conf_load(&conf, file, &report);
	if (!ret) {
		trust = rcd_trust_new(&conf, NULL, err);
		if (!trust) {
			ret = -EINVAL;
			rcd_blame_trust(&conf, err, &report);
		}
		rcd_trust_free(trust);
		if (rcd_blame_metrics(&conf, &report))
			ret = -EINVAL;
	}
	rcd_conf_free(&conf);
	return ret ? FAILED : DONE;
}

static int print(const char *text)
{
	if (fputs(text, stdout) != EOF && !fflush(stdout))
		return DONE;
	fprintf(stderr, "rclinkd: cannot write the output: %s\n",
		strerror(errno));
	return FAILED;
}

static int usage(const char *what)
{
	fprintf(stderr, "rclinkd: %s; see `rclinkd --help`\n", what);
	return USAGE;
}

static int bad_option(const char *word)
{
	char what[80];

	if (optopt && optopt <= '~')
		snprintf(what, sizeof(what), "bad option -%c", optopt);
	else
		snprintf(what, sizeof(what), "bad option %s", word);
	return usage(what);
}

int main(int argc, char **argv)
{
	const char *file = CONF_FILE;
	bool only_check = false;
	int c, ret;

	rcl_hold_stdio();
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":hV", options, NULL)) != -1) {
		switch (c) {
		case CONFIG:
			file = optarg;
			break;
		case CHECK:
			only_check = true;
			break;
		case 'h':
			return print(help);
		case 'V':
			return print("rclinkd " RCLINK_VERSION "\n");
		case ':':
			return usage("--config needs a FILE");
		default:
			return bad_option(argv[optind - 1]);
		}
	}
	if (optind < argc)
		return usage("there are no words, only options");
	if (strlen(file) >= RCD_PATH_LEN)
		return usage("the name of the file is too long");
	if (only_check)
		return check(file);
	ret = rcd_daemon_run(file);
	if (ret == -EINVAL && getenv("NOTIFY_SOCKET"))
		return CONF_REFUSED;
	return ret ? FAILED : DONE;
}
