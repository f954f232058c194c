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

#include <linux/errno.h>
#include <linux/workqueue.h>

struct rcl_deputy {
	struct work_struct work;
	void (*fn)(void *arg);
	void *arg;
};

static struct workqueue_struct *rcl_deputy_wq;

static void rcl_deputy_work(struct work_struct *work)
{
	struct rcl_deputy *deputy = container_of(work, struct rcl_deputy, work);

	deputy->fn(deputy->arg);
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
	queue_work(rcl_deputy_wq, &deputy.work);
	flush_work(&deputy.work);
	destroy_work_on_stack(&deputy.work);
}

/**
 * rcl_deputy_start - prepare for callers
 *
 * Return: 0, or -ENOMEM.
 */
int rcl_deputy_start(void)
{
	/* Who writes memory back may wait for a link. */
	rcl_deputy_wq = alloc_workqueue("rclink-deputies",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return rcl_deputy_wq ? 0 : -ENOMEM;
}

/**
 * rcl_deputy_stop - the mirror of rcl_deputy_start()
 *
 * Context: may sleep; no caller is left.
 */
void rcl_deputy_stop(void)
{
	destroy_workqueue(rcl_deputy_wq);
}
