/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs that a kernel thread does for a caller. */
#ifndef RCL_DEPUTY_H
#define RCL_DEPUTY_H

void rcl_deputy_run(void (*fn)(void *arg), void *arg);

#endif /* RCL_DEPUTY_H */
