// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a job in a kernel thread, on behalf of a caller that may not get a
 * processor for seconds: by his own wish, by the limits of a cgroup, or because
 * others have it. Links, and so their peers, wait for what takes certain locks:
 * that is such a job, for which the caller waits.
 *
 * All callers share the threads, 256 on a node. So whatever a job waits for, no
 * file of a process may have many of them at once.
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
 * rcl_deputy_run - have something done by a kernel thread, and wait for it
 * @fn: what
 * @arg: for @fn
 *
 * Context: may sleep, with no lock that @fn takes; of one file of a process one
 * at a time.
 */
void rcl_deputy_run(void (*fn)(void *arg), void *arg)
{
	struct rcl_deputy deputy = { .fn = fn, .arg = arg };

	INIT_WORK_ONSTACK(&deputy.work, rcl_deputy_work);
	rcl_queue_work(RCL_QUEUE_DEPUTIES, &deputy.work);
	flush_work(&deputy.work);
	destroy_work_on_stack(&deputy.work);
}
