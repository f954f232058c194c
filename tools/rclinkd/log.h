/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an operator should know, on stderr; for the journal, with the priority
 * in front, as in sd-daemon(3). Never a key, PSN, rkey or memory address.
 */
#ifndef RCD_LOG_H
#define RCD_LOG_H

#include <syslog.h>

/* priority: LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO */
__attribute__((format(printf, 2, 3)))
void rcd_log(int priority, const char *fmt, ...);

/* These are limited in rate, because strangers cause them. */
__attribute__((format(printf, 2, 3)))
void rcd_log_stranger(int priority, const char *fmt, ...);

#endif /* RCD_LOG_H */
