/* SPDX-License-Identifier: GPL-2.0 */
/* What a command that listens says of its callers. */
#ifndef LISTEN_REPORT_H
#define LISTEN_REPORT_H

#include <stdbool.h>
#include <stdint.h>

void listen_report_up(const char *link, uint64_t epoch, const char *peer,
		      uint64_t ns);

/*
 * @link: "" if it got none; of such callers only so many have a line as anybody
 *        may cause
 */
void listen_report_not_up(const char *link, const char *from, bool given_up,
			  const char *err);

#endif /* LISTEN_REPORT_H */
