/* SPDX-License-Identifier: GPL-2.0 */
/* Print what a ping-pong showed, whoever played it, to stdout. */
#ifndef PINGPONG_REPORT_H
#define PINGPONG_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct rcl_pingpong;

/* The lines of ibv_rc_pingpong; duration is in ns. */
void pingpong_report_lines(uint32_t size, uint32_t iters, uint64_t duration);

/* For a channel to service: one document, or these lines. */
void pingpong_report(const char *link, const char *service,
		     const struct rcl_pingpong *args, uint64_t duration,
		     bool json);

#endif /* PINGPONG_REPORT_H */
