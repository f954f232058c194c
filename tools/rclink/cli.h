/* SPDX-License-Identifier: GPL-2.0 */
/* What the commands share: options, errors, the way to the module. */
#ifndef CLI_H
#define CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "fail.h"

struct rcl_nl;

#define CLI_KEY_FILE	"/etc/rclink/key.pem"

/* Exit codes. */
enum {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
};

/* A command: argv[0] is its name. Returns an exit code. */
int cmd_dev(int argc, char **argv);
int cmd_genkey(int argc, char **argv);
int cmd_pubkey(int argc, char **argv);
int cmd_add(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_del(int argc, char **argv);
int cmd_listen(int argc, char **argv);
int cmd_connect(int argc, char **argv);
int cmd_rotate(int argc, char **argv);
int cmd_disconnect(int argc, char **argv);
int cmd_group(int argc, char **argv);
int cmd_region(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_ping(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_send(int argc, char **argv);
int cmd_recv(int argc, char **argv);
int cmd_pingpong(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_verbs(int argc, char **argv);

#define CLI_OPT_HELP	{ "help", no_argument, NULL, 'h' }
#define CLI_OPT_JSON	{ "json", no_argument, NULL, 'j' }
#define CLI_OPT_END	{ NULL, 0, NULL, 0 }

/*
 * Returns the next option of a command, or -1 after the last; the letter in its
 * val is its short form. Prints help and ends the process on -h, and ends it
 * with CLI_USAGE when an option is wrong.
 */
int cli_getopt(int argc, char **argv, const struct option *options,
	       const char *help);

/*
 * Returns the operands, from argv[optind] on, after cli_getopt() returned -1.
 * There must be min to max of them, else the process ends with CLI_USAGE.
 */
char **cli_operands(int argc, char **argv, int min, int max);

/* "rclink: CMD: what is wrong; see `rclink CMD --help`", then CLI_USAGE. */
__attribute__((format(printf, 2, 3), noreturn))
void cli_usage(const char *cmd, const char *fmt, ...);

/*
 * Ends the process when a parser of settings failed: by cli_usage(), or with
 * CLI_FAILED if a name could not be looked up and what was typed may be right.
 */
__attribute__((noreturn))
void cli_bad_value(const char *cmd, int ret, const char *why);

/* Parse numbers of options; end the process with CLI_USAGE if wrong. */
uint32_t cli_number(const char *cmd, const char *what, const char *text,
		    uint32_t min, uint32_t max);
uint64_t cli_seconds(const char *cmd, const char *what, const char *text);

/*
 * Whether all of stdout could be written; if not, says so once. A command that
 * goes on asks this after it prints; main() asks at the end, and the process
 * fails if not.
 */
bool cli_written(void);

/* "rclink: why" on stderr. Returns CLI_FAILED. */
__attribute__((format(printf, 1, 2)))
int cli_fail(const char *fmt, ...);

/*
 * "rclink: what: why; what to do" for a request that the module refused with
 * ret and the sentence why. Returns CLI_FAILED.
 */
int cli_refused(const char *cmd, const char *name, int ret, const char *why);

/* The same for a request that is about a group. */
int cli_refused_group(const char *cmd, const char *name, int ret,
		      const char *why);

/* Why there is no /dev/rclink, and what to do. */
const char *cli_no_device(void);

/* May this process bring links up? Says so if not; changes nothing. */
bool cli_may_exchange(struct rcl_nl *nl, const char *cmd);

/* A netlink socket; NULL after saying why not. */
struct rcl_nl *cli_open(void);

#endif /* CLI_H */
