// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a job in a kernel thread, on behalf of a caller that may not get a
 * processor for seconds: by its own wish, by the limits of a cgroup, or because
 * others have it. Links, and so their peers, wait for whoever holds certain
 * locks, so what takes those locks is such a job, and the caller waits for it.
 *
 * All callers share the threads, 256 of them where there are no NUMA nodes (see
 * queues.c), so whatever a job waits for, no file of a process may have many
 * jobs at once.
 */
#include "deputy.h"

#include <linux/sched/mm.h>
#include <linux/workqueue.h>

#include "queues.h"

struct rcl_deputy {
	struct work_struct work;
	void (*fn)(void *arg);
	void *arg;
};

static void rcl_deputy_work(struct work_struct *work)
{
	struct rcl_deputy *deputy = container_of(work, struct rcl_deputy, work);
	unsigned int noio = memalloc_noio_save();

	deputy->fn(deputy->arg);
	memalloc_noio_restore(noio);
}

/**
 * rcl_deputy_run - have a kernel thread call a function, and wait for it
 * @fn: the function
 * @arg: for @fn
 *
 * Context: may sleep, with no lock held that @fn takes; one call at a time for
 * each file of a process.
 */
void rcl_deputy_run(void (*fn)(void *arg), void *arg)
{
	struct rcl_deputy deputy = { .fn = fn, .arg = arg };

	INIT_WORK_ONSTACK(&deputy.work, rcl_deputy_work);
	rcl_queue_work(RCL_QUEUE_DEPUTIES, &deputy.work);
	flush_work(&deputy.work);
	destroy_work_on_stack(&deputy.work);
}
