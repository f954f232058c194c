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
 * Where a standard descriptor is closed, no file that is opened later may take
 * its place, and be read or written for it: such calls fail, as with none.
 */
void rcl_hold_stdio(void);

/* For processes that hold a private key: no core dump, no other's debugger. */
void rcl_hide_memory(void);

/* Nanoseconds on a clock that only goes forward. */
uint64_t rcl_now(void);

/* On one that goes on while the host sleeps, as that of the module does. */
uint64_t rcl_since_boot(void);

/* So many of them, as a timer takes it. */
struct timeval rcl_timeval(uint64_t ns);

#endif /* RCL_PROCESS_H */
