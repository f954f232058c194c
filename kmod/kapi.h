/* SPDX-License-Identifier: GPL-2.0 */
/* A channel as a kernel module uses it. */
#ifndef RCL_KAPI_H
#define RCL_KAPI_H

#include <linux/completion.h>
#include <linux/string.h>

#include <rclink.h>

#include "chan.h"

#define RCL_KAPI_CQ_DEPTH	64	/* more than can be in flight */

/**
 * struct rclink_chan - a channel of a module
 * @chan: the channel
 * @ops: of the consumer; NULL until it owns the channel
 * @ctx: for @ops
 * @gone: nothing comes in any more; under @chan.lock
 * @back: @ops->resumed is to be called; under @chan.lock
 * @full: there was no room for an operation; under @chan.lock
 * @told: @ops->ended was called; belongs to the softirq side
 * @over: completed when nothing is called any more
 * @head: number of completions delivered
 * @tail: number of completions filled in
 * @cqe: the ring of completions
 */
struct rclink_chan {
	struct rcl_chan chan;
	const struct rclink_chan_ops *ops;
	void *ctx;
	bool gone;
	bool back;
	bool full;
	bool told;
	struct completion over;
	u32 head;
	u32 tail;
	struct rclink_dev_cqe cqe[RCL_KAPI_CQ_DEPTH];
};

static inline bool rcl_kapi_is_name(const char *name, size_t size)
{
	return name[0] && strnlen(name, size) < size;
}

#endif /* RCL_KAPI_H */
