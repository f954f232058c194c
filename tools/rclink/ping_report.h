/* SPDX-License-Identifier: GPL-2.0 */
/* What round trips have shown, whoever made them. */
#ifndef PING_REPORT_H
#define PING_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct ping_report {
	const char *link;
	uint32_t op;		/* enum rclink_ping_op */
	uint32_t size;
	uint64_t *rtt;		/* of those that succeeded, ns; gets sorted */
	uint32_t ok;
	uint32_t failed;
	const char *why;	/* the last one failed, or "" */
};

/* One that came back. */
void ping_report_line(const char *link, uint32_t op, uint32_t size,
		      uint32_t seq, uint64_t rtt);

/* All of them, to stdout: one document, or a line for a person. */
void ping_report_print(const struct ping_report *report, bool json);

#endif /* PING_REPORT_H */
