/* SPDX-License-Identifier: GPL-2.0 */
/* What links and groups have ends before this host sleeps. */
#ifndef RCL_SLEEP_H
#define RCL_SLEEP_H

int rcl_sleep_init(void);
void rcl_sleep_exit(void);

#endif /* RCL_SLEEP_H */
