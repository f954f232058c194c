// SPDX-License-Identifier: GPL-2.0
#include "replay.h"

#include <linux/bits.h>

/**
 * rcl_replay_take - note that a message came in, unless it did before
 * @replay: of its sender
 * @counter: of an authentic message, not the largest u64
 *
 * Return: false when it came in before, or is too old to tell.
 */
bool rcl_replay_take(struct rcl_replay *replay, u64 counter)
{
	u64 ahead, behind;

	if (counter >= replay->next) {
		ahead = counter - replay->next + 1;
		replay->seen = ahead < RCL_REPLAY_BITS ?
			       replay->seen << ahead : 0;
		replay->seen |= 1;
		replay->next = counter + 1;
		return true;
	}
	behind = replay->next - 1 - counter;
	if (behind >= RCL_REPLAY_BITS || replay->seen & BIT_ULL(behind))
		return false;
	replay->seen |= BIT_ULL(behind);
	return true;
}

/**
 * rcl_replay_close - accept no more messages
 * @replay: of a sender that no longer is one
 */
void rcl_replay_close(struct rcl_replay *replay)
{
	replay->next = ~0ULL;
}
