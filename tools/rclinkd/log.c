// SPDX-License-Identifier: GPL-2.0
#include "log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "strangers.h"
#include "text.h"

#define LINE_LEN	1024
#define PATIENCE_MS	200	/* with the reader, until a line is left out */

/* In one write, so that lines of several processes stay whole. */
static void put_line(int priority, const char *text)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "rclinkd: %s\n", text);
	else
		fprintf(stderr, "<%d>%s\n", priority, text);
}

/* If nobody reads, the writer would block, and all links with it. */
static bool has_room(int ms)
{
	struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&fd, 1, ms) > 0;
}

static void write_line(int priority, const char *fmt, va_list ap)
{
	static unsigned long lost;
	char text[LINE_LEN];

	if (!has_room(lost ? 0 : PATIENCE_MS)) {
		lost++;
		return;
	}
	if (lost) {
		snprintf(text, sizeof(text),
			 "%lu lines were left out, as nobody read them", lost);
		put_line(LOG_WARNING, text);
	}
	lost = 0;
	vsnprintf(text, sizeof(text), fmt, ap);
	rcl_make_printable(text);
	put_line(priority, text);
}

void rcd_log(int priority, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_line(priority, fmt, ap);
	va_end(ap);
}

void rcd_log_stranger(int priority, const char *fmt, ...)
{
	static struct rch_strangers strangers;
	unsigned long left_out;
	va_list ap;

	if (!rch_strangers_take(&strangers, &left_out))
		return;
	if (left_out)
		rcd_log(LOG_WARNING,
			"%lu lines on callers without a link were left out",
			left_out);
	va_start(ap, fmt);
	write_line(priority, fmt, ap);
	va_end(ap);
}
