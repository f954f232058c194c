/* SPDX-License-Identifier: GPL-2.0 */
/* Messages of a group: sealed by many under one key, opened once each. */
#ifndef RCL_GROUP_SEAL_H
#define RCL_GROUP_SEAL_H

#include <linux/types.h>

#include <uapi/linux/rclink.h>

#include "msg.h"
#include "replay.h"

#define RCL_GROUP_ROOM	(RCL_MSG_AAD + RCL_MSG_TAG)	/* beside the text */

/**
 * struct rcl_group_grant - what a member gets from the keeper
 * @id: of the key, never 0
 * @qkey: of the group
 * @sender: number that no other has under this key
 * @key: secret
 */
struct rcl_group_grant {
	u64 id;
	u32 qkey;
	u32 sender;
	u8 key[RCLINK_KEY_LEN];
};

/**
 * struct rcl_group_key - a key in use
 * @grant: of this host; all zero, there is none
 * @from: what came in, by sender
 */
struct rcl_group_key {
	struct rcl_group_grant grant;
	struct rcl_replay from[RCLINK_GROUP_MEMBERS_MAX];
};

/**
 * struct rcl_group_seal - the newest key, and the one before
 * @key: both
 * @lost: the newest is to be had again, or another one: its bytes are gone
 * @until: the one before opens messages until then, in jiffies
 * @counter: of the next message out
 */
struct rcl_group_seal {
	struct rcl_group_key key[2];
	bool lost;
	unsigned long until;
	u64 counter;
};

void rcl_group_seal_install(struct rcl_group_seal *seal,
			    const struct rcl_group_grant *grant);
void rcl_group_seal_forget(struct rcl_group_seal *seal);
void rcl_group_seal_lose(struct rcl_group_seal *seal);
u64 rcl_group_seal_id(const struct rcl_group_seal *seal);
void rcl_group_seal_expire(struct rcl_group_seal *seal);
int rcl_group_seal_close(struct rcl_group_seal *seal, u8 *buf, u32 len);
int rcl_group_seal_open(struct rcl_group_seal *seal, u8 *buf, u32 len,
			u32 *sender);

#endif /* RCL_GROUP_SEAL_H */
