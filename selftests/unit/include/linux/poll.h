/* SPDX-License-Identifier: GPL-2.0 */
/* No test sleeps here: see wait.h. */
#ifndef UNIT_LINUX_POLL_H
#define UNIT_LINUX_POLL_H

#include <linux/types.h>
#include <linux/wait.h>
#include <sys/epoll.h>

struct file;
struct poll_table_struct;

#define poll_table	struct poll_table_struct

static inline void poll_wait(struct file *filp, wait_queue_head_t *wait,
			     poll_table *table)
{
}

#endif /* UNIT_LINUX_POLL_H */
