/* SPDX-License-Identifier: GPL-2.0 */
/* The module's workqueues. */
#ifndef RCL_QUEUES_H
#define RCL_QUEUES_H

#include <linux/types.h>

struct work_struct;

/* For which may wait for which, see queues.c. */
enum rcl_queue {
	RCL_QUEUE_LINKS,	/* work items of links */
	RCL_QUEUE_EPOCHS,	/* their chores */
	RCL_QUEUE_ERRANDS,	/* errands of lessees */
	RCL_QUEUE_RESUMES,	/* errands that wait for a peer */
	RCL_QUEUE_OFFERS,	/* regions for all links, in one epoch each */
	RCL_QUEUE_DEPUTIES,	/* on behalf of callers */
	RCL_QUEUES
};

int rcl_queues_start(void);
void rcl_queues_stop(void);
bool rcl_queue_work(enum rcl_queue queue, struct work_struct *work);

#endif /* RCL_QUEUES_H */
