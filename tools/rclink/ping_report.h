/* SPDX-License-Identifier: GPL-2.0 */
/* Which round trips are wanted, and what they showed, whoever makes them. */
#ifndef PING_REPORT_H
#define PING_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"

/* For the help of each such command. */
#define PING_ARGS_HELP							\
"  -c, --count N     round trips (5)\n"					\
"  -i, --interval S  seconds between them (0.2); 0 is back to back\n" \
"  -s, --size N      bytes (64), up to the peer's buffer; atomics take 8\n" \
"  -o, --op OP       send, write, read, cas or fadd (send)\n"		\
"  -q, --quiet       only the summary\n" \
"  -j, --json        one object with all times, in nanoseconds\n"

struct ping_args {
	uint32_t op;		/* enum rclink_ping_op */
	uint32_t size;
	bool sized;		/* the user gave it */
	uint32_t count;
	uint64_t interval;	/* ns */
	bool quiet, json;
};

/* All options of such a command, with --help. */
extern const struct option ping_options[];

void ping_args_init(struct ping_args *args);
/* Take one option; ends the process if its value is wrong. */
void ping_args_take(struct ping_args *args, const char *cmd, int c);

struct ping_report {
	const char *link;
	uint32_t op;		/* enum rclink_ping_op */
	uint32_t size;
	uint64_t *rtt;		/* of those that succeeded, ns; gets sorted */
	uint32_t ok;
	uint32_t failed;
	const char *why;	/* why the last one failed, or "" */
};

/* Print one that came back. */
void ping_report_line(const char *link, uint32_t op, uint32_t size,
		      uint32_t seq, uint64_t rtt);

/* Print all of them to stdout: one document, or a line for a person. */
void ping_report_print(const struct ping_report *report, bool json);

#endif /* PING_REPORT_H */
