// SPDX-License-Identifier: GPL-2.0
/*
 * Memory may be written back over a link. Its peer must then hear from it, and
 * whoever waits for it, or for it to come up, must go on, even if there is no
 * memory for another worker. So each queue has a worker of its own in reserve,
 * and there are as many queues as may wait for each other: a link waits for
 * errands and offers, an errand for one that waits for the peer, errands for
 * what deputies do, and a deputy for the offer that it ends.
 *
 * For the same reason, work on these queues allocates memory without I/O, which
 * might have to wait for that very link.
 */
#include "queues.h"

#include <linux/errno.h>
#include <linux/workqueue.h>

#include "compat.h"

static const struct {
	const char *name;
	unsigned int flags;
	/* At once; 0: 256, for each NUMA node (6.1), or for all (6.12). */
	int most;
} rcl_queues_of[RCL_QUEUES] = {
	/*
	 * Many may wait for a device that hangs: the more may run at once, the
	 * more links of other devices go on meanwhile.
	 */
	[RCL_QUEUE_LINKS] = { "rclink", WQ_HIGHPRI | RCL_COMPAT_WQ_PERCPU,
			      WQ_MAX_ACTIVE },
	/* Work that takes long must not keep a link from its heartbeat. */
	[RCL_QUEUE_EPOCHS] = { "rclink-epochs", WQ_UNBOUND, 0 },
	[RCL_QUEUE_ERRANDS] = { "rclink-errands", WQ_UNBOUND, 0 },
	/* Errands that end something must not wait for what peers say. */
	[RCL_QUEUE_RESUMES] = { "rclink-resumes", WQ_UNBOUND, 0 },
	/* Errands of a peer wait for the work done here. */
	[RCL_QUEUE_OFFERS] = { "rclink-offers", WQ_UNBOUND, 0 },
	[RCL_QUEUE_DEPUTIES] = { "rclink-deputies", WQ_UNBOUND, 0 },
};

static struct workqueue_struct *rcl_queues[RCL_QUEUES];

/**
 * rcl_queue_work - queue a work item
 * @queue: where
 * @work: what is to be done
 *
 * Context: any.
 * Return: false if it is queued already.
 */
bool rcl_queue_work(enum rcl_queue queue, struct work_struct *work)
{
	return queue_work(rcl_queues[queue], work);
}

/**
 * rcl_queues_start - create all queues
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM.
 */
int rcl_queues_start(void)
{
	int i;

	for (i = 0; i < RCL_QUEUES; i++) {
		rcl_queues[i] = alloc_workqueue("%s", WQ_MEM_RECLAIM |
						rcl_queues_of[i].flags,
						rcl_queues_of[i].most,
						rcl_queues_of[i].name);
		if (!rcl_queues[i])
			goto err_destroy;
	}
	return 0;

err_destroy:
	while (i--)
		destroy_workqueue(rcl_queues[i]);
	return -ENOMEM;
}

/**
 * rcl_queues_stop - the mirror of rcl_queues_start()
 *
 * The last errand of a link may drop its last reference: all errands that are
 * left run before the queue of links is destroyed.
 *
 * Context: may sleep; no epoch is left, and no caller.
 */
void rcl_queues_stop(void)
{
	int i = RCL_QUEUES;

	while (i--)
		destroy_workqueue(rcl_queues[i]);
}
