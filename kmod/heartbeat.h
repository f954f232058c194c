/* SPDX-License-Identifier: GPL-2.0 */
/* Is the peer still there, and does it hear this end? */
#ifndef RCL_HEARTBEAT_H
#define RCL_HEARTBEAT_H

#include <linux/types.h>

struct rcl_epoch;
struct rcl_msg;

/**
 * struct rcl_heartbeat - when the peer was heard
 * @asked: a BEAT is not answered yet
 * @quiet: intervals that have ended since the last sign of the peer
 * @rotate: the next BEAT asks the peer to rotate the link
 * @again: no wish of the peer is reported before this, in jiffies
 * @patient: silence does not end the link before this, in jiffies; 0 after a
 *	sign
 * @due: end of the interval under way, in jiffies
 *
 * All of it belongs to the link's work item.
 */
struct rcl_heartbeat {
	bool asked;
	u32 quiet;
	bool rotate;
	u64 again;
	u64 patient;
	u64 due;
};

unsigned int rcl_heartbeat_limit(const struct rcl_epoch *ep);
void rcl_heartbeat_start(struct rcl_epoch *ep);
void rcl_heartbeat_heard(struct rcl_epoch *ep, const struct rcl_msg *msg);
bool rcl_heartbeat_rotation_asked(struct rcl_epoch *ep,
				  const struct rcl_msg *msg);
int rcl_heartbeat_message(struct rcl_epoch *ep, const struct rcl_msg *msg);
int rcl_heartbeat_ask_rotation(struct rcl_epoch *ep);
int rcl_heartbeat_look(struct rcl_epoch *ep);
bool rcl_heartbeat_is_alone(const struct rcl_epoch *ep);
u64 rcl_heartbeat_due(const struct rcl_epoch *ep);

#endif /* RCL_HEARTBEAT_H */
