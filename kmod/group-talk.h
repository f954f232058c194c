/* SPDX-License-Identifier: GPL-2.0 */
/* What a member of a group says to the others, and hears from them. */
#ifndef RCL_GROUP_TALK_H
#define RCL_GROUP_TALK_H

#include <linux/spinlock.h>

#include "announce.h"
#include "group-hear.h"
#include "group-msg.h"
#include "group-seal.h"

/* Room besides a consumer's data and the name of its service. */
#define RCL_TALK_ROOM	(RCL_GROUP_ROOM + RCL_GROUP_MSG_HEAD)

/**
 * struct rcl_talk_peer - another member
 * @gid: GID that its last message claims to come from
 * @messages: how many have come in under the newest key
 * @last: when the last one did, in jiffies
 */
struct rcl_talk_peer {
	u8 gid[RCLINK_GID_LEN];
	u64 messages;
	u64 last;
};

/**
 * struct rcl_talk_stats - counters
 * @keys: keys that were installed
 * @tx_messages: messages that were sent
 * @rx_messages: messages that were opened
 * @rx_short: packets that are too short for a message
 * @rx_unknown_key: packets under a key that this host does not have
 * @rx_forged: packets whose seal does not open
 * @rx_again: messages that came before, or are too old to tell
 * @rx_own: messages of this host that the device handed back
 * @rx_malformed: messages from a member that make no sense
 */
struct rcl_talk_stats {
	u64 keys;
	u64 tx_messages;
	u64 rx_messages;
	u64 rx_short;
	u64 rx_unknown_key;
	u64 rx_forged;
	u64 rx_again;
	u64 rx_own;
	u64 rx_malformed;
};

/**
 * struct rcl_talk_info - a snapshot of struct rcl_talk
 * @id: identifier of the newest key, 0 without one
 * @sender: sender number of this host under it
 * @stats: counters
 * @peer: others, by number under that key; not there if they have no messages
 */
struct rcl_talk_info {
	u64 id;
	u32 sender;
	struct rcl_talk_stats stats;
	struct rcl_talk_peer peer[RCLINK_GROUP_MEMBERS_MAX];
};

/**
 * struct rcl_talk - the keys of a group and the members that use them
 * @lock: protects the rest
 * @seal: the keys
 * @unknown: a message under an unknown key came in since this was last asked
 * @stats: counters
 * @peer: others, by number under the newest key
 * @said: what they export; NULL for those that have not said so lately
 * @announce: buffer for what the next one says
 * @spare: to be put in @said for a new member
 */
struct rcl_talk {
	spinlock_t lock;	/* protects the rest */
	struct rcl_group_seal seal;
	bool unknown;
	struct rcl_talk_stats stats;
	struct rcl_talk_peer peer[RCLINK_GROUP_MEMBERS_MAX];
	struct rcl_announce_list *said[RCLINK_GROUP_MEMBERS_MAX];
	struct rcl_announce *announce;
	struct rcl_announce_list *spare;
};

void rcl_talk_init(struct rcl_talk *talk);
void rcl_talk_wipe(struct rcl_talk *talk);
void rcl_talk_lose_key(struct rcl_talk *talk);
void rcl_talk_install(struct rcl_talk *talk,
		      const struct rcl_group_grant *grant, bool now);
void rcl_talk_expire(struct rcl_talk *talk);
u64 rcl_talk_key(struct rcl_talk *talk, bool *unknown);
int rcl_talk_make(struct rcl_talk *talk, u8 *buf,
		  const struct rcl_announce *announce);
int rcl_talk_make_data(struct rcl_talk *talk, u8 *buf, const char *service,
		       const u8 *data, u32 len);
bool rcl_talk_hear(struct rcl_talk *talk, u8 *buf, u32 len,
		   struct rcl_heard *heard);
int rcl_talk_said(struct rcl_talk *talk, u32 sender,
		  struct rcl_announce_list *list);
void rcl_talk_read(struct rcl_talk *talk, struct rcl_talk_info *info);

#endif /* RCL_GROUP_TALK_H */
