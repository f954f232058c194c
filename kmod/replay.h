/* SPDX-License-Identifier: GPL-2.0 */
/* Which of a sender's messages have come in: a pure window of counters. */
#ifndef RCL_REPLAY_H
#define RCL_REPLAY_H

#include <linux/types.h>

#define RCL_REPLAY_BITS	64	/* the newest and those before it */

/**
 * struct rcl_replay - what came in from one sender; zeroed: nothing yet
 * @next: the highest counter that came in, plus one
 * @seen: bit i: the counter that is i below the highest came in
 */
struct rcl_replay {
	u64 next;
	u64 seen;
};

bool rcl_replay_take(struct rcl_replay *replay, u64 counter);
void rcl_replay_close(struct rcl_replay *replay);

#endif /* RCL_REPLAY_H */
