// SPDX-License-Identifier: GPL-2.0
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "link.h"
#include "nl.h"
#include "text.h"

#define SHORT_LEN	64
#define SAY_LEN		1024

/* Of the command being parsed; a process runs only one. */
static const char *help_text;

static void short_options(const struct option *options, char *text)
{
	*text++ = ':';
	for (; options->name; options++) {
		if (options->val > '~')
			continue;
		*text++ = options->val;
		if (options->has_arg == required_argument)
			*text++ = ':';
	}
	*text = '\0';
}

bool cli_written(void)
{
	static bool failed;

	if (!failed && (fflush(stdout) || ferror(stdout))) {
		failed = true;
		cli_fail("cannot write the output: %s", strerror(errno));
	}
	return !failed;
}

int cli_getopt(int argc, char **argv, const struct option *options,
	       const char *help)
{
	char letters[SHORT_LEN];
	int c;

	short_options(options, letters);
	help_text = help;
	opterr = 0;
	c = getopt_long(argc, argv, letters, options, NULL);
	if (c == 'h') {
		fputs(help, stdout);
		exit(cli_written() ? CLI_OK : CLI_FAILED);
	}
	if (c == ':')
		cli_usage(argv[0], "%s needs a value", argv[optind - 1]);
	while (c == '?' && options->name && options->val != optopt)
		options++;
	if (c == '?' && options->name)
		cli_usage(argv[0], "--%s takes no value", options->name);
	if (c == '?' && optopt && optopt <= '~')
		cli_usage(argv[0], "bad option -%c", optopt);
	if (c == '?')
		cli_usage(argv[0], "bad option %s", argv[optind - 1]);
	return c;
}

/* The help begins with "usage: " and a line of the command's words. */
static void missing_word(const char *cmd)
{
	const char *line = help_text + strlen("usage: ");

	cli_usage(cmd, "there is a word missing of `%.*s`",
		  (int)strcspn(line, "\n"), line);
}

char **cli_operands(int argc, char **argv, int min, int max)
{
	int num = argc - optind;

	if (num < min)
		missing_word(argv[0]);
	if (num > max)
		cli_usage(argv[0], "too many words, from '%s' on",
			  argv[optind + max]);
	return argv + optind;
}

void cli_bad_value(const char *cmd, int ret, const char *why)
{
	if (ret == -EAGAIN)
		exit(cli_fail("%s: %s", cmd, why));
	cli_usage(cmd, "%s", why);
}

/* Prints in one write, so that lines of several processes stay whole. */
static void say(const char *before, const char *fmt, va_list ap,
		const char *after)
{
	char text[SAY_LEN];

	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "rclink: %s%s%s\n", before, text, after);
}

void cli_usage(const char *cmd, const char *fmt, ...)
{
	char before[SHORT_LEN], after[SHORT_LEN];
	va_list ap;

	snprintf(before, sizeof(before), "%s: ", cmd);
	snprintf(after, sizeof(after), "; see `rclink %s --help`", cmd);
	va_start(ap, fmt);
	say(before, fmt, ap, after);
	va_end(ap);
	exit(CLI_USAGE);
}

uint32_t cli_number(const char *cmd, const char *what, const char *text,
		    uint32_t min, uint32_t max)
{
	uint32_t value;

	if (!rcl_parse_u32(text, &value) || value < min || value > max)
		cli_usage(cmd, "%s must be a number from %u to %u, not '%s'",
			  what, min, max, text);
	return value;
}

uint64_t cli_seconds(const char *cmd, const char *what, const char *text)
{
	uint64_t ns;

	if (!rcl_parse_seconds(text, &ns))
		cli_usage(cmd, "%s must be seconds up to a day, not '%s'", what,
			  text);
	return ns;
}

int cli_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", fmt, ap, "");
	va_end(ap);
	return CLI_FAILED;
}

struct advice {
	int code;
	const char *text;
};

/* What to do about an errno of the module, where that is known. */
static const struct advice advices[] = {
	{ EPERM, "; run it as root, or with CAP_NET_ADMIN" },
	{ ENOENT, "; see `rclink show` for the links, `rclink add` makes one" },
	{ EEXIST, "; change it with `rclink set`" },
	{ ENODEV, "; see `rclink dev` for the devices" },
	{ EBUSY, "; see `rclink show`, or end it with `rclink disconnect`" },
	{ EISCONN, "; end it with `rclink disconnect`" },
	{ ENOTCONN, "; see `rclink show` for its state" },
	{ ENOMEM, "; free some memory and try again" },
	{ 0, "" },
};

static const struct advice group_advices[] = {
	{ EPERM, "; run it as root, or with CAP_NET_ADMIN" },
	{ ENOENT, "; see `rclink group`; `rclink group add` makes one" },
	{ EEXIST, "; change it with `rclink group set`" },
	{ ENODEV, "; see `rclink dev` for the devices" },
	{ ENOMEM, "; free some memory and try again" },
	{ 0, "" },
};

static int refused(const struct advice *advice, const char *cmd,
		   const char *name, int ret, const char *why)
{
	bool said = strstr(why, "`rclink ");	/* the advice, too */

	while (advice->code && advice->code != -ret)
		advice++;
	return cli_fail("%s%s%s: %s%s", cmd, name ? " " : "", name ? name : "",
			why, said ? "" : advice->text);
}

int cli_refused(const char *cmd, const char *name, int ret, const char *why)
{
	return refused(advices, cmd, name, ret, why);
}

int cli_refused_group(const char *cmd, const char *name, int ret,
		      const char *why)
{
	return refused(group_advices, cmd, name, ret, why);
}

const char *cli_no_device(void)
{
	if (access("/sys/module/rclink", F_OK))
		return "the rclink module is not loaded; run `modprobe rclink`";
	return "there is no /dev/rclink here; have it made, as udev does";
}

bool cli_may_exchange(struct rcl_nl *nl, const char *cmd)
{
	const struct rcl_policy nothing = { .given = 0 };
	char err[RCL_ERR_LEN];

	/* No link has this name, but without the right nobody learns that. */
	if (rcl_call_set(nl, "", &nothing, err) != -EPERM)
		return true;
	cli_refused(cmd, NULL, -EPERM, err);
	return false;
}

struct rcl_nl *cli_open(void)
{
	char err[RCL_ERR_LEN];
	struct rcl_nl *nl;

	nl = rcl_nl_open(err);
	if (!nl)
		cli_fail("%s", err);
	return nl;
}
