/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an operator should know, on stderr: for the journal with the priority in
 * front, as sd-daemon(3) has it. Never a key, PSN, rkey or address of memory.
 */
#ifndef RCD_LOG_H
#define RCD_LOG_H

#include <syslog.h>

/* priority: LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO */
__attribute__((format(printf, 2, 3)))
void rcd_log(int priority, const char *fmt, ...);

/* As many of these as there may be: strangers make them. */
__attribute__((format(printf, 2, 3)))
void rcd_log_stranger(int priority, const char *fmt, ...);

#endif /* RCD_LOG_H */
