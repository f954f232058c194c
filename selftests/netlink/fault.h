/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Make the n-th memory allocation below the module fail, in whatever task.
 *
 * /proc/self/fail-nth reaches only the caller, and most of what a request does
 * is done by the link's work item in a kworker. So the filter is by stack, not
 * by task: require-start and require-end are the module's text, and what runs
 * below it, in ib_core or the device's driver, counts too. With times = 1 and
 * probability = 100 one allocation fails, the first whose running number is a
 * multiple of `interval`. That number is the kernel's, counts only while armed,
 * and cannot be read, but it can be kept track of: after a failure it is the
 * interval. To let the k-th of the next allocations fail, the interval is the
 * number so far plus k, which has no smaller multiple ahead. A run that made
 * fewer than k is followed by others until the failure has happened, so that
 * the number is known again. A file carries it from one program to the next.
 *
 * What vmalloc() allocates is left out: its failure puts a trace into the log.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

struct genl_sock;

struct fault {
	const char *knob;	/* failslab or fail_page_alloc */
	unsigned long count;	/* the kernel's running number */
	unsigned long next;	/* number of the one that is to fail */
};

bool fault_there(void);
int fault_init(struct fault *f, const char *knob);
/* The same, but with nothing left out but one function of the kernel. */
int fault_init_but(struct fault *f, const char *knob, const char *function);
/* The same, but only below one function of the module. */
int fault_init_below(struct fault *f, const char *knob, const char *function);
void fault_arm(struct fault *f, unsigned long k);
bool fault_pending(struct fault *f);
/*
 * Prepare a link again and again until the armed failure has happened; without
 * it, the number of allocations is not known.
 */
void fault_drain(struct genl_sock *s, struct fault *f);
void fault_disarm(struct fault *f);

int fault_percent_setup(const char *knob);
int fault_percent(const char *knob, unsigned int percent);
unsigned long fault_fired(const char *knob);

int fault_nth_setup(void);
unsigned long fault_nth(unsigned int n);

#endif /* FAULT_H */
