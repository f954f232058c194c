/* SPDX-License-Identifier: GPL-2.0 */
/* What a process asks of its own system. */
#ifndef RCL_PROCESS_H
#define RCL_PROCESS_H

#include <stdint.h>
#include <sys/time.h>

#define NS_PER_US	1000ULL
#define NS_PER_MS	1000000ULL
#define NS_PER_S	1000000000ULL

/*
 * If a standard descriptor is closed, keep files that are opened later from
 * taking its place, and from being read or written instead: such calls still
 * fail, as on a closed one.
 */
void rcl_hold_stdio(void);

/* For processes with a private key: no core dumps, no debugging by others. */
void rcl_hide_memory(void);

/* Nanoseconds on a clock that only goes forward. */
uint64_t rcl_now(void);

/* The same on a clock that runs while the host sleeps, like the module's. */
uint64_t rcl_since_boot(void);

/* Nanoseconds in the form that a timer takes. */
struct timeval rcl_timeval(uint64_t ns);

#endif /* RCL_PROCESS_H */
