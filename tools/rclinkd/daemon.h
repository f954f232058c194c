/* SPDX-License-Identifier: GPL-2.0 */
/* The process: what it listens to, and how it starts, reloads and ends. */
#ifndef RCD_DAEMON_H
#define RCD_DAEMON_H

/*
 * Follow the configuration in file until SIGTERM. 0, or a negative errno after
 * saying why: -EINVAL if the configuration, or a key it names, is refused.
 */
int rcd_daemon_run(const char *file);

#endif /* RCD_DAEMON_H */
