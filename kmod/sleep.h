/* SPDX-License-Identifier: GPL-2.0 */
/* Ends the epochs of links and the keys of groups before this host sleeps. */
#ifndef RCL_SLEEP_H
#define RCL_SLEEP_H

int rcl_sleep_init(void);
void rcl_sleep_exit(void);

#endif /* RCL_SLEEP_H */
